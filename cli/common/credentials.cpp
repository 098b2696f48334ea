// Opening the auth plugin that the cluster's configuration names, and asking it for credentials.
#include "cli/common/credentials.hpp"

#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/host/host.hpp"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace spur::cli {

namespace {

// Whoever owns the configuration decides where the cluster is, so we believe answers made by that user.
std::uint32_t owner_of(const std::string& path) {
    struct stat info {};
    return !path.empty() && ::stat(path.c_str(), &info) == 0 ? info.st_uid : 0;
}

ConfigValue typed(const std::vector<std::string>& values) {
    if (values.size() != 1) return values;
    const auto& text = values.front();
    std::int64_t number{};
    const auto* end = text.data() + text.size();
    if (const auto [rest, error] = std::from_chars(text.data(), end, number); error == std::errc{} && rest == end)
        return number;
    if (text == "true" || text == "false") return text == "true";
    return text;
}

// The plugin lives as long as the command.
struct Opened {
    explicit Opened(host::HostOptions options) : host{std::move(options)} {}
    host::PluginHost host;
    std::optional<auth::PluginCredentials> source;
};

std::string brought_token() {
    for (const char* name : {"SPUR_JWT", "SLURM_JWT"})
        if (const char* token = std::getenv(name); token != nullptr && *token != '\0') return token;
    return {};
}

}  // namespace

Result<std::shared_ptr<wire::CredentialSource>> open_credentials(const Cluster& cluster) {
    host::HostOptions options;
    options.program = "spur";
    options.executor_threads = 0;
    if (!cluster.state_dir.empty()) options.facts["controller.state_dir"] = cluster.state_dir;
    const auto opened = std::make_shared<Opened>(std::move(options));
    opened->host.set_dirs(cluster.plugin_dirs);
    std::vector<ConfigOption> given;
    for (const auto& [key, values] : cluster.auth_options)
        if (key != "isolate") given.push_back({key, typed(values), 0});  // that is for daemons
    SPUR_TRY(const auto auth, opened->host.open<host::AuthAxis>(cluster.auth, std::move(given)));
    opened->source.emplace(auth, owner_of(cluster.config_path), brought_token());
    return std::shared_ptr<wire::CredentialSource>{opened, &*opened->source};
}

}  // namespace spur::cli
