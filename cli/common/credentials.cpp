// Opening the auth plugin that the cluster's configuration names, and asking it for credentials.
#include "cli/common/credentials.hpp"

#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/host/host.hpp"

#include <sys/stat.h>

#include <charconv>

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
struct Credentials : wire::CredentialSource {
    explicit Credentials(host::HostOptions options) : host{std::move(options)} {}
    Result<std::string> make(const wire::CredentialRequest& request) override { return source->make(request); }
    [[nodiscard]] bool demands_proof() const override { return source->demands_proof(); }
    Result<void> verify_reply(std::string_view method, std::string_view credential, const Digest& reply,
                              std::string_view proof) override {
        return source->verify_reply(method, credential, reply, proof);
    }
    host::PluginHost host;
    std::unique_ptr<auth::PluginCredentials> source;
};

}  // namespace

Result<std::shared_ptr<wire::CredentialSource>> open_credentials(const Cluster& cluster) {
    host::HostOptions options;
    options.program = "spur";
    options.executor_threads = 0;
    if (!cluster.state_dir.empty()) options.facts["controller.state_dir"] = cluster.state_dir;
    auto credentials = std::make_shared<Credentials>(std::move(options));
    credentials->host.set_dirs(cluster.plugin_dirs);
    std::vector<ConfigOption> given;
    for (const auto& [key, values] : cluster.auth_options) given.push_back({key, typed(values), 0});
    SPUR_TRY(const auto auth, credentials->host.open<host::AuthAxis>(cluster.auth, std::move(given)));
    credentials->source = std::make_unique<auth::PluginCredentials>(auth, owner_of(cluster.config_path));
    return credentials;
}

}  // namespace spur::cli
