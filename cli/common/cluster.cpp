// Finding the cluster.
#include "cli/common/cluster.hpp"

#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/wire/members.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace spur::cli {
namespace {

constexpr const char* system_config = "/etc/spur/spur.conf";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Reads one basic ("...") or literal ('...') string at the start of `text` and removes it.
std::optional<std::string> take_string(std::string_view& text) {
    if (text.empty() || (text.front() != '"' && text.front() != '\'')) return std::nullopt;
    const char quote = text.front();
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == quote) {
            text.remove_prefix(i + 1);
            return value;
        }
        if (quote == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
        value += text[i];
    }
    return std::nullopt;
}

// Blanks and comments off the front, across lines.
std::string_view skip_space(std::string_view text) {
    for (;;) {
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
        if (!text.starts_with('#')) return text;
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
}

// `[a."b/c"]` is the section a.b/c.
std::string section_name(std::string_view line) {
    std::string name;
    for (const char c : line)
        if (c != '"' && c != '\'' && c != ' ') name += c;
    return name;
}

}  // namespace

Result<ConfigLines> ConfigLines::load(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return fail(ErrorCode::unavailable, "cannot read {}: {}", path, std::strerror(errno));
    std::string text;
    char buffer[8192];
    for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, count);
    std::fclose(file);
    return parse(text, path);
}

Result<ConfigLines> ConfigLines::parse(std::string_view text, const std::string& path) {
    ConfigLines lines;
    lines.path_ = path;
    std::string section;
    while (!(text = skip_space(text)).empty()) {
        const auto line_end = std::min(text.find('\n'), text.size());
        if (text.front() == '[') {
            const bool table_array = text.starts_with("[[");
            const auto start = std::size_t{table_array ? 2U : 1U};
            const auto close = text.substr(0, line_end).find(']', start);
            section = close == std::string_view::npos ? "" : section_name(text.substr(start, close - start));
            if (table_array) section = "[]" + section;
            text.remove_prefix(line_end);
            continue;
        }
        const auto equals = text.find('=');
        if (equals == std::string_view::npos || equals > line_end) {
            text.remove_prefix(line_end);
            continue;
        }
        const auto key = (section.empty() ? "" : section + ".") + section_name(trim(text.substr(0, equals)));
        auto rest = skip_space(text.substr(equals + 1));
        std::vector<std::string> values;
        if (rest.starts_with('[')) {
            rest.remove_prefix(1);
            for (;;) {
                rest = skip_space(rest);
                auto value = take_string(rest);
                if (!value) break;
                values.push_back(std::move(*value));
                rest = skip_space(rest);
                if (!rest.starts_with(',')) break;
                rest.remove_prefix(1);
            }
        } else if (auto value = take_string(rest)) {
            values.push_back(std::move(*value));
        } else {
            const auto word = trim(rest.substr(0, std::min(rest.find_first_of("#\n"), rest.size())));
            values.emplace_back(word);
        }
        if (!values.empty()) lines.values_[key] = std::move(values);
        rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
        text = rest;
    }
    return lines;
}

const std::vector<std::string>* ConfigLines::find(const std::string& key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : &at->second;
}

std::string ConfigLines::value(const std::string& key, std::string fallback) const {
    const auto* values = find(key);
    return values ? values->front() : std::move(fallback);
}

std::map<std::string, std::vector<std::string>> ConfigLines::with_prefix(const std::string& prefix) const {
    std::map<std::string, std::vector<std::string>> result;
    for (auto at = values_.lower_bound(prefix); at != values_.end() && at->first.starts_with(prefix); ++at)
        result.emplace(at->first.substr(prefix.size()), at->second);
    return result;
}

std::string client_state_path() {
    if (const auto dir = environment("SPUR_STATE_DIR"); !dir.empty()) return dir + "/client.conf";
    if (const auto dir = environment("XDG_STATE_HOME"); !dir.empty()) return dir + "/spur/client.conf";
    if (const auto home = environment("HOME"); !home.empty()) return home + "/.local/state/spur/client.conf";
    return {};
}

namespace {

// The configuration file this command should follow; empty: none. SPUR_CONF must exist if it is set.
std::string config_path() {
    if (auto path = environment("SPUR_CONF"); !path.empty()) return path;
    if (auto path = client_state_path(); !path.empty() && exists(path)) return path;
    return exists(system_config) ? system_config : "";
}

Result<std::vector<Endpoint>> configured_controllers(const ConfigLines& config) {
    std::vector<std::string> controllers;
    const auto* const hosts = config.find("controller.hosts");
    for (const auto& entry : hosts != nullptr ? *hosts : std::vector<std::string>{}) {
        // "ctrl[1-3]" is three; "[::1]:6817" and "http://ctrl1" are one.
        const bool is_list = entry.find('[') != std::string::npos && entry.find(':') == std::string::npos;
        SPUR_TRY(const auto names, is_list ? expand_hosts(entry) : Result<std::vector<std::string>>{{entry}});
        controllers.insert(controllers.end(), names.begin(), names.end());
    }
    return wire::resolve_controllers(config.value("controller.listen_addr"), controllers);
}

void take_security(const ConfigLines& config, Cluster& cluster) {
    cluster.auth = config.value("auth.plugin", config.value("plugins.auth", cluster.auth));
    if (!cluster.auth.empty() && cluster.auth.find('/') == std::string::npos) cluster.auth = "auth/" + cluster.auth;
    cluster.auth_options = config.with_prefix("plugin." + cluster.auth + ".");
    if (const auto* key_file = config.find("auth.key_file")) cluster.auth_options.emplace("key_file", *key_file);
    cluster.state_dir = config.value("controller.state_dir");
    if (const auto* dirs = config.find("plugins.dirs")) cluster.plugin_dirs = *dirs;
    const auto ca = config.value("tls.ca");
    if (ca.empty()) return;
    // The daemons' own certificate is theirs; whoever may read its key shows it too, others are known by their
    // credential.
    const auto key = config.value("tls.key");
    const bool has_key = !key.empty() && ::access(key.c_str(), R_OK) == 0;
    const auto certificate = config.value("tls.certificate", config.value("tls.cert"));
    cluster.tls =
        wire::TlsOptions{ca, has_key ? certificate : "", has_key ? key : "", config.value("tls.server_name"), false};
}

}  // namespace

Result<Cluster> find_cluster(const std::string& given) {
    Cluster cluster;
    cluster.auth = "auth/local";
    cluster.config_path = config_path();
    std::optional<ConfigLines> config;
    if (!cluster.config_path.empty()) {
        SPUR_TRY(config, ConfigLines::load(cluster.config_path));
        take_security(*config, cluster);
    }

    auto address = given;
    cluster.source = "--controller";
    if (address.empty()) {
        address = environment("SPUR_CONTROLLER_ADDR");
        cluster.source = "SPUR_CONTROLLER_ADDR";
    }
    if (!address.empty()) {
        auto parsed = Endpoint::parse_list(address);
        if (!parsed) return fail(parsed.error().code, "{}: {}", cluster.source, parsed.error().text);
        cluster.controllers = std::move(*parsed);
    } else if (config) {
        cluster.source = cluster.config_path;
        cluster.name = config->value("cluster_name", "spur");
        auto parsed = configured_controllers(*config);
        if (!parsed) return fail(parsed.error().code, "{}: {}", cluster.source, parsed.error().text);
        cluster.controllers = std::move(*parsed);
    } else {
        cluster.source.clear();
    }
    auto accounting = environment("SPUR_ACCOUNTING_ADDR");
    if (accounting.empty() && config) accounting = config->value("accounting.host");
    if (!accounting.empty()) {
        SPUR_TRY(cluster.accounting, Endpoint::parse_list(accounting, accounting_port));
    }
    return cluster;
}

}  // namespace spur::cli
