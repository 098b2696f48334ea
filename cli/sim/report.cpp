// The figures, and the table they make.
#include "cli/sim/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spur::cli::sim {

namespace {

constexpr std::size_t most_users_shown = 10;

std::string padded(std::string_view text, std::size_t width) { return fmt::format("{:<{}}", text, width); }

// Whole columns, the first to the left and the others to the right.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i == widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = "  ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += i == 0 ? padded(row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string users_table(const Metrics& metrics) {
    std::vector<std::vector<std::string>> rows{{"USER", "JOBS", "CPU HOURS", "MEAN WAIT", "MAX WAIT", "MEAN SLOWDOWN"}};
    const auto count = std::min(metrics.users.size(), most_users_shown);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& user = metrics.users[i];
        rows.push_back({user.name, fmt::format("{}", user.jobs), fmt::format("{:.1f}", user.cpu_hours),
                        duration(user.mean_wait_s), duration(user.max_wait_s),
                        fmt::format("{:.2f}", user.mean_slowdown)});
    }
    auto text = columns(rows);
    if (metrics.users.size() > count) text += fmt::format("  and {} more\n", metrics.users.size() - count);
    return text;
}

void add_spread(std::vector<Figure>& all, const char* group, const Spread& spread, std::string (*text)(double),
                bool timed = false) {
    const std::pair<const char*, double> parts[] = {
        {"mean", spread.mean}, {"p50", spread.p50}, {"p90", spread.p90}, {"p99", spread.p99}, {"max", spread.max}};
    for (const auto& [name, value] : parts) all.push_back({group, name, value, text(value), -1, timed, true});
}

std::string milliseconds(double ms) { return fmt::format("{:.3f} ms", ms); }
std::string ratio(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

std::string percent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string duration(double seconds) {
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    const auto clock = fmt::format("{:02}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60);
    return whole >= 86'400 ? fmt::format("{}-{}", whole / 86'400, clock) : clock;
}

std::string job_name(const Report& report, const Trace& trace, std::uint32_t job) {
    if (job >= report.outcome.jobs.size()) return "-";
    const auto& outcome = report.outcome.jobs[job];
    const auto& id = trace.jobs[outcome.trace_job].id;
    return outcome.task ? fmt::format("{}_{}", id, *outcome.task) : id;
}

std::vector<Figure> figures_of(const Report& report, const Trace& trace) {
    const auto& metrics = report.metrics;
    const auto& outcome = report.outcome;
    std::vector<Figure> all;
    const auto count = [&](const char* group, const char* name, std::uint64_t value, int better) {
        all.push_back({group, name, static_cast<double>(value), fmt::format("{}", value), better});
    };
    const auto share = [&](const char* group, const char* name, double value, int better) {
        all.push_back({group, name, value, percent(value), better});
    };
    count("jobs", "submitted", metrics.submitted, 0);
    count("jobs", "completed", metrics.completed, 1);
    count("jobs", "failed", metrics.failed, 0);
    count("jobs", "killed at their limit", metrics.timed_out, 0);
    if (metrics.preempted != 0) count("jobs", "preempted", metrics.preempted, -1);
    if (metrics.other != 0) count("jobs", "ended otherwise", metrics.other, -1);
    count("jobs", "never started", metrics.never_started, -1);
    count("jobs", "refused", metrics.refused, -1);
    all.push_back({"time", "makespan", static_cast<double>(metrics.makespan_s),
                   duration(static_cast<double>(metrics.makespan_s)), -1});

    const char* busy = "use while jobs arrive";
    share(busy, "cores given out", metrics.cpu_utilisation, 1);
    share(busy, "cores asked for", metrics.useful_cpu_utilisation, 1);
    if (outcome.gpus != 0) share(busy, "gpus", metrics.gpu_utilisation, 1);
    const char* whole = "use until the last end";
    share(whole, "cores given out", metrics.whole_cpu_utilisation, 1);
    share(whole, "cores asked for", metrics.whole_useful_cpu_utilisation, 1);
    if (outcome.gpus != 0) share(whole, "gpus", metrics.whole_gpu_utilisation, 1);
    if (outcome.gpus != 0) share("gpu fragmentation", "free gpus stranded", metrics.gpu_fragmentation, -1);
    if (metrics.lost_cpu_hours > 0)
        all.push_back({"preemption", "cpu hours lost", metrics.lost_cpu_hours,
                       fmt::format("{:.1f}", metrics.lost_cpu_hours), -1});

    add_spread(all, "wait", metrics.wait_s, duration);
    add_spread(all, "bounded slowdown", metrics.slowdown, ratio);
    all.push_back({"queue", "mean length", metrics.mean_queue, ratio(metrics.mean_queue), -1});
    count("queue", "longest", metrics.longest_queue, -1);
    all.push_back({"starvation", "longest wait", static_cast<double>(metrics.longest_wait_s),
                   fmt::format("{} (job {})", duration(static_cast<double>(metrics.longest_wait_s)),
                               metrics.longest_wait_s > 0 ? job_name(report, trace, metrics.longest_waiter) : "-"),
                   -1});
    count("starvation", "jobs passed over", metrics.passed_over, -1);
    count("starvation", "most times passed over", metrics.most_overtakings, -1);
    all.push_back({"fairness", "Jain index of users' slowdowns", metrics.jain_slowdown,
                   fmt::format("{:.3f}", metrics.jain_slowdown), 1});

    count("plugins", "cycles", outcome.cycles, 0);
    count("plugins", "starts refused", outcome.refused_starts, -1);
    all.push_back({"plugins", "plans over the budget", static_cast<double>(outcome.costs.over_budget),
                   fmt::format("{}", outcome.costs.over_budget), -1, true});
    add_spread(all, "plan and select, per cycle", metrics.plan.ms, milliseconds, true);
    add_spread(all, "priority, per cycle", metrics.score.ms, milliseconds, true);
    return all;
}

std::string moment(UnixSeconds time) { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(time)); }

std::string heading(const Report& report, const Trace& trace) {
    const auto& outcome = report.outcome;
    std::string plugins;
    for (const char* axis : {"sched", "select", "priority"})
        plugins += (plugins.empty() ? "" : ", ") + outcome.plugins.at(axis);
    return fmt::format("{}: {} job{}, {} to {} UTC\n{}: {} nodes, {} cores{}; {}\n", trace.source, trace.jobs.size(),
                       trace.jobs.size() == 1 ? "" : "s", moment(outcome.begins), moment(outcome.ends), report.name,
                       outcome.nodes, outcome.cpus, outcome.gpus == 0 ? "" : fmt::format(", {} gpus", outcome.gpus),
                       plugins);
}

std::string remarks(const Report& report, const Trace& trace) {
    std::string text;
    for (const auto& remark : trace.remarks) text += fmt::format("note: {}\n", remark);
    for (const auto& [why, count] : report.outcome.refusals)
        text += fmt::format("note: {} job{} refused at submission: {}\n", count, count == 1 ? "" : "s", why);
    if (report.metrics.never_started != 0)
        text += fmt::format("note: {} job{} could never start\n", report.metrics.never_started,
                            report.metrics.never_started == 1 ? "" : "s");
    for (const auto& problem : report.outcome.problems) text += fmt::format("problem: {}\n", problem);
    return text;
}

std::string print_table(const Report& report, const Trace& trace) {
    std::vector<std::vector<std::string>> singles, spreads{{"", "mean", "p50", "p90", "p99", "max"}};
    std::string group;
    for (const auto& figure : figures_of(report, trace)) {
        const bool is_first = figure.group != group;
        group = figure.group;
        if (!figure.spread) {
            singles.push_back({is_first ? group : "", figure.name, figure.text});
        } else {
            if (is_first) spreads.push_back({group});
            spreads.back().push_back(figure.text);
        }
    }
    std::size_t widest_group = 0, widest_name = 0;
    for (const auto& row : singles) {
        widest_group = std::max(widest_group, row[0].size());
        widest_name = std::max(widest_name, row[1].size());
    }
    auto text = heading(report, trace) + remarks(report, trace) + '\n';
    for (const auto& row : singles)
        text += fmt::format("  {}  {}  {}\n", padded(row[0], widest_group), padded(row[1], widest_name), row[2]);
    return text + '\n' + columns(spreads) + '\n' + users_table(report.metrics);
}

}  // namespace spur::cli::sim
