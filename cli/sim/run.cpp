// spur sim TRACE and spur sim compare: load, simulate, tell.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/common/cluster.hpp"
#include "cli/common/output.hpp"
#include "cli/sim/commands.hpp"
#include "cli/sim/report.hpp"
#include "daemons/common/config/config.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/search.hpp"

namespace spur::cli::sim {
namespace {

constexpr std::uint32_t nodes_on_page = 64;

// As in spur.conf, but that a text needs quotes only where it would be something else without: "1".
ConfigValue value_of(const std::string& text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
    if (text == "true" || text == "false") return text == "true";
    std::int64_t whole = 0;
    const auto* const end = text.data() + text.size();
    if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc{} && at == end)
        return whole;
    double real = 0;
    if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc{} && at == end)
        return real;
    return text;
}

Result<void> choose_plugin(Config& config, const std::string& axis, std::string type) {
    if (axis != "sched" && axis != "select" && axis != "priority")
        return fail(ErrorCode::invalid, "--plugin {}={}: the simulator uses sched, select and priority", axis, type);
    if (type.find('/') == std::string::npos) type = axis + '/' + type;
    config.plugins[axis] = {type};
    if (axis == "sched") config.scheduler.plugin = type;
    return {};
}

Result<void> change_setting(Config& config, const std::string& name, const std::string& value) {
    const auto dot = name.find('.');
    if (dot == std::string::npos || !host::is_plugin_type(name.substr(0, dot)))
        return fail(ErrorCode::invalid, "--set {}={}: it must be PLUGIN.OPTION=VALUE, as in sched/backfill.window=2-0",
                    name, value);
    auto& options = config.plugin_options[name.substr(0, dot)];
    const auto key = name.substr(dot + 1);
    std::erase_if(options, [&](const ConfigOption& option) { return option.key == key; });
    options.push_back({key, value_of(value), 0});
    return {};
}

Result<Report> simulate_one(const std::string& path, const Trace& trace, const RunOptions& options) {
    SPUR_TRY(const auto config, load_simulated(path, options));
    Report report;
    report.name = config.path;
    SPUR_TRY(report.outcome, simulate(trace, config, options.simulation));
    report.metrics = measure(report.outcome);
    return report;
}

// One line a job, for spreadsheets and scripts.
std::string print_schedule(const Report& report, const Trace& trace) {
    std::string text = "job,user,state,submit,start,end,nodes,cpus,gpus\n";
    for (std::uint32_t i = 0; i < report.outcome.jobs.size(); ++i) {
        const auto& job = report.outcome.jobs[i];
        const auto second = [&](UnixSeconds time) {
            return job.has_started() ? fmt::format("{}", time - trace.begins) : std::string{};
        };
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", job_name(report, trace, i), report.outcome.users[job.user],
                            to_string(job.state), job.submit - trace.begins, second(job.start), second(job.end),
                            job.nodes, job.cpus, job.gpus);
    }
    return text;
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view text) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "w"), std::fclose};
    if (!file) return fail(ErrorCode::denied, "{} cannot be written: {}", path, std::strerror(errno));
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
        return fail(ErrorCode::unavailable, "{} cannot be written: {}", path, std::strerror(errno));
    return {};
}

Result<Config> load_simulated(const std::string& path, const RunOptions& options) {
    auto file = path;
    if (file.empty()) {
        SPUR_TRY(const auto cluster, find_cluster());
        file = cluster.config_path.empty() ? config::default_config_path().string() : cluster.config_path;
    }
    SPUR_TRY(auto config, config::load_config({file, false}));
    config.plugin_dirs.insert(config.plugin_dirs.begin(), options.dirs.begin(), options.dirs.end());
    for (const auto& [axis, type] : options.plugins) SPUR_CHECK(choose_plugin(config, axis, type));
    for (const auto& [name, value] : options.settings) SPUR_CHECK(change_setting(config, name, value));
    return config;
}

Result<int> run(const RunOptions& options, const std::vector<std::string>& words) {
    SPUR_TRY(const auto trace, load_trace(words.front()));
    auto wanted = options;
    if (!options.page.empty()) wanted.simulation.shown_nodes = nodes_on_page;
    std::vector<Report> reports(1);
    SPUR_TRY(reports[0], simulate_one(options.config, trace, wanted));
    if (!options.page.empty()) SPUR_CHECK(write_file(options.page, print_page(reports[0], trace)));
    if (!options.schedule.empty()) SPUR_CHECK(write_file(options.schedule, print_schedule(reports[0], trace)));
    print_out(options.json ? print_json(reports, trace) : print_table(reports[0], trace));
    return 0;
}

Result<int> compare(const RunOptions& options, const std::vector<std::string>& words) {
    SPUR_TRY(const auto trace, load_trace(words.back()));
    std::vector<Report> reports;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        SPUR_TRY(auto report, simulate_one(words[i], trace, options));
        reports.push_back(std::move(report));
    }
    print_out(options.json ? print_json(reports, trace) : print_comparison(reports, trace));
    return 0;
}

}  // namespace spur::cli::sim
