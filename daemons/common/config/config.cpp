// The whole file: read each section, then judge what only the whole can show.
#include "daemons/common/config/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/text/lexical.hpp"
#include "daemons/common/config/sections.hpp"

namespace spur::config {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr double seconds_per_day = 86'400;

// [scheduler] plugin and [plugins] sched mean the same, so they must not differ.
void complete_scheduler(Config& config, const Drafts& drafts, Problems& problems) {
    const auto chosen = config.plugins.find("sched");
    if (drafts.scheduler_line == 0) {
        if (chosen != config.plugins.end()) config.scheduler.plugin = chosen->second.front();
        return;
    }
    if (chosen != config.plugins.end() && chosen->second.front() != config.scheduler.plugin)
        problems.add(drafts.scheduler_line,
                     "[scheduler] plugin is {} and [plugins] sched is {} (line {}); they mean the same, remove one",
                     config.scheduler.plugin, chosen->second.front(), drafts.plugins_sched_line);
    if (chosen == config.plugins.end()) config.plugins["sched"] = {config.scheduler.plugin};
}

// [auth] key_file belongs to the plugin that was chosen.
void complete_auth(Config& config, Problems& problems) {
    const auto kept = config.plugin_options.find("auth/");
    if (kept == config.plugin_options.end()) return;
    auto& options = config.plugin_options[config.auth.plugin];
    for (auto& option : kept->second) {
        for (const auto& other : options)
            if (other.key == option.key)
                problems.add(option.line, "[auth] {} is given again in [plugin.\"{}\"] (line {}); remove one",
                             option.key, config.auth.plugin, other.line);
        options.push_back(std::move(option));
    }
    config.plugin_options.erase("auth/");
}

// [scheduler] fairshare_halflife_days is the half-life of priority/fairshare too, unless its own section says
// otherwise.
void complete_half_life(Config& config) {
    auto& half_life_s = config.cluster.policies.usage_half_life_s;
    const auto by_default = half_life_s;
    half_life_s = static_cast<std::uint64_t>(std::llround(config.scheduler.fairshare_halflife_days * seconds_per_day));
    const auto chosen = config.plugins.find("priority");
    const std::string fairshare = "priority/fairshare";
    if (half_life_s == by_default) return;
    if (chosen != config.plugins.end() && std::ranges::find(chosen->second, fairshare) == chosen->second.end()) return;
    auto& options = config.plugin_options[fairshare];
    if (std::ranges::find(options, "half_life", &ConfigOption::key) == options.end())
        options.push_back({"half_life", std::to_string(half_life_s) + "s", 0});
}

void complete(Config& config, const Drafts& drafts, Problems& problems) {
    complete_scheduler(config, drafts, problems);
    complete_auth(config, problems);
    check_partitions(config, drafts, problems);
    check_switches(config, drafts, problems);
    const auto line_of = [&](const char* section) {
        const auto found = drafts.section_lines.find(section);
        return found == drafts.section_lines.end() ? 0 : found->second;
    };
    auto& policies = config.cluster.policies;
    complete_half_life(config);
    const auto accounting = config.plugins.find("accounting");
    const bool discards = accounting != config.plugins.end() && accounting->second.front() == "accounting/none";
    policies.keep_outbox = !config.accounting.host.empty() && !discards;
    if (policies.first_job_id >= policies.max_job_id)
        problems.add(line_of("jobs"), "[jobs] first_job_id {} must be below max_job_id {}", policies.first_job_id,
                     policies.max_job_id);
    if (policies.preempt_type == PreemptType::none && policies.preempt_mode > PreemptMode::off)
        problems.add(line_of("scheduler"),
                     "[scheduler] preempt_type none lets nobody be preempted, and preempt_mode says how; set "
                     "preempt_type to partition_prio or qos, or preempt_mode to OFF");
    const auto& tls = config.tls;
    const bool has_all = !tls.certificate.empty() && !tls.key.empty() && !tls.ca.empty();
    const bool has_none = tls.certificate.empty() && tls.key.empty() && tls.ca.empty();
    if (!has_all && !has_none) problems.add(line_of("tls"), "[tls] needs certificate, key and ca, all three or none");
    if (config.update.check_on_startup && config.update.feed.empty())
        problems.add(line_of("update"),
                     "[update] check_on_startup needs feed: the file that tells which release is the latest");
}

Result<std::string> read_file(const ConfigSource& source) {
    const auto& name = source.path.native();
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::denied, "configuration {} cannot be opened: {}",
                    name, std::strerror(errno));
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } const closer{fd};
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail(ErrorCode::invalid, "configuration {} is not a regular file", name);
    const auto user = ::geteuid();
    const mode_t forbidden = user == 0 ? S_IWGRP | S_IWOTH : S_IWOTH;
    if (source.check_owner && (status.st_mode & forbidden) != 0)
        return fail(ErrorCode::denied,
                    "configuration {} refused: it is writable by {} (mode {:04o}); run chmod go-w {}", name,
                    (status.st_mode & S_IWOTH) != 0 ? "everyone" : "its group", status.st_mode & 07777U, name);
    if (source.check_owner && user == 0 && status.st_uid != 0)
        return fail(ErrorCode::denied,
                    "configuration {} refused: it belongs to uid {} and this daemon runs as root; run chown root {}",
                    name, status.st_uid, name);
    if (static_cast<std::size_t>(status.st_size) > most_bytes)
        return fail(ErrorCode::invalid, "configuration {} is {} bytes long; the most is {}", name, status.st_size,
                    most_bytes);
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const auto part = ::read(fd, text.data() + got, text.size() - got);
        if (part < 0)
            return fail(ErrorCode::internal, "configuration {} cannot be read: {}", name, std::strerror(errno));
        if (part == 0) break;
        got += static_cast<std::size_t>(part);
    }
    text.resize(got);
    return text;
}

}  // namespace

std::expected<Config, std::vector<ConfigProblem>> parse_config(std::string_view text, const std::string& source) {
    const auto tree = parse_toml(text);
    if (!tree) return std::unexpected(std::vector{tree.error()});
    Config config;
    config.path = source;
    config.cluster.cluster_name = "spur";
    // Not the defaults of Policies itself, which are those of configurations that older logs hold.
    config.cluster.policies.disable_root_jobs = true;
    config.cluster.policies.max_stored_per_user_mib = 256;
    Drafts drafts;
    Problems problems;
    for (const auto& entry : *tree) {
        drafts.section_lines.emplace(entry.key, entry.line);
        if (entry.key == "nodes")
            read_nodes(entry, config, drafts, problems);
        else if (entry.key == "partitions")
            read_partitions(entry, config, drafts, problems);
        else if (entry.key == "switches")
            read_switches(entry, config, drafts, problems);
        else
            read_section(entry, config, drafts, problems);
    }
    complete(config, drafts, problems);
    if (!problems.empty()) return std::unexpected(problems.take());
    return config;
}

std::string to_string(const std::vector<ConfigProblem>& problems, const std::string& source) {
    std::string text;
    for (const auto& [line, sentence] : problems) {
        if (!text.empty()) text += '\n';
        text +=
            line == 0 ? fmt::format("{} ({})", sentence, source) : fmt::format("{} ({}:{})", sentence, source, line);
    }
    return text;
}

Result<Config> load_config(const ConfigSource& source) {
    SPUR_TRY(const auto text, read_file(source));
    auto config = parse_config(text, source.path.native());
    if (!config) return fail(ErrorCode::invalid, "{}", to_string(config.error(), source.path.native()));
    return *std::move(config);
}

std::vector<std::string> config_warnings(const Config& config) {
    std::vector<std::string> warnings;
    if (config.cluster.nodes.empty())
        warnings.push_back(
            fmt::format("no [[nodes]] are described in {}: no agent can join and no job can run", config.path));
    if (config.cluster.partitions.empty())
        warnings.push_back(fmt::format("no [[partitions]] are described in {}: no job can be submitted", config.path));
    else if (std::ranges::none_of(config.cluster.partitions, &Partition::is_default))
        warnings.push_back(fmt::format(
            "no partition in {} is the default: a job that does not name one is refused; add default = true to one",
            config.path));
    return warnings;
}

std::filesystem::path default_config_path() {
    const char* const named = std::getenv("SPUR_CONF");
    return named != nullptr && *named != '\0' ? named : "/etc/spur/spur.conf";
}

const std::vector<ConfigKey>& config_keys() {
    static const auto all = [] {
        std::vector<ConfigKey> keys;
        list_section_keys(keys);
        list_partition_keys(keys);
        list_node_keys(keys);
        list_switch_keys(keys);
        return keys;
    }();
    return all;
}

}  // namespace spur::config
