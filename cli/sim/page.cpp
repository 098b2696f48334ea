// The page: page.html with the figures of one simulation in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "cli/sim/report.hpp"

namespace spur::cli::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view page =
#include "sim_page.inc"
    ;
constexpr std::size_t most_points = 900, most_bars = 4000, most_users = 12, coloured_users = 8;

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

// The load as means over equal stretches of time: a plot has no more room than that.
Json series_of(const Outcome& outcome) {
    const auto length = std::max<std::int64_t>(outcome.ends - outcome.begins, 1);
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(length, most_points));
    struct Sum {
        double cpus{}, useful{}, gpus{}, waiting{}, running{};
    };
    std::vector<Sum> sums(count);
    const auto width = static_cast<double>(length) / static_cast<double>(count);
    for (std::size_t i = 0; i < outcome.load.size(); ++i) {
        const auto& point = outcome.load[i];
        const auto end =
            static_cast<double>((i + 1 < outcome.load.size() ? outcome.load[i + 1].at : outcome.ends) - outcome.begins);
        for (auto from = static_cast<double>(point.at - outcome.begins); from < end;) {
            const auto bin = std::min(static_cast<std::size_t>(from / width), count - 1);
            const auto to = bin + 1 == count ? end : std::min(end, static_cast<double>(bin + 1) * width);
            const auto seconds = std::max(to - from, 1e-6);
            sums[bin].cpus += seconds * point.cpus;
            sums[bin].useful += seconds * point.useful_cpus;
            sums[bin].gpus += seconds * point.gpus;
            sums[bin].waiting += seconds * point.waiting;
            sums[bin].running += seconds * point.running;
            from += seconds;
        }
    }
    Json t = Json::array(), cpus = t, useful = t, gpus = t, waiting = t, running = t;
    for (std::size_t bin = 0; bin <= count; ++bin) {  // the last one once more, to close the last step
        const auto& sum = sums[std::min(bin, count - 1)];
        t.push_back(rounded(static_cast<double>(bin) * width, 10));
        cpus.push_back(rounded(sum.cpus / width / std::max(outcome.cpus, 1U), 1e4));
        useful.push_back(rounded(sum.useful / width / std::max(outcome.cpus, 1U), 1e4));
        gpus.push_back(rounded(sum.gpus / width / std::max(outcome.gpus, 1U), 1e4));
        waiting.push_back(rounded(sum.waiting / width, 10));
        running.push_back(rounded(sum.running / width, 10));
    }
    return {{"t", t}, {"cpus", cpus}, {"useful", useful}, {"gpus", gpus}, {"waiting", waiting}, {"running", running}};
}

// The bars with the most core time, in the order of their starts, and the jobs they belong to.
void add_bars(const Report& report, const Trace& trace, Json& data) {
    const auto& outcome = report.outcome;
    auto bars = outcome.bars;
    const auto area = [](const Bar& bar) { return static_cast<double>(bar.end - bar.start) * bar.cpus; };
    const auto all = bars.size();
    if (bars.size() > most_bars) {
        std::ranges::stable_sort(bars, std::greater{}, area);
        bars.resize(most_bars);
    }
    std::ranges::stable_sort(bars, {}, &Bar::start);
    std::unordered_map<std::uint32_t, std::size_t> places;
    auto jobs = Json::array();
    auto list = Json::array();
    for (const auto& bar : bars) {
        const auto [found, is_new] = places.try_emplace(bar.job, places.size());
        const auto& job = outcome.jobs[bar.job];
        if (is_new)
            jobs.push_back({job_name(report, trace, bar.job), outcome.users[job.user], job.cpus, job.gpus,
                            std::string{to_string(job.state)}, job.start - job.submit});
        list.push_back({bar.node, found->second, bar.cpus, bar.start - outcome.begins, bar.end - outcome.begins});
    }
    auto nodes = Json::array();
    for (std::size_t i = 0; i < outcome.shown_nodes.size(); ++i)
        nodes.push_back({outcome.shown_nodes[i], outcome.shown_node_cpus[i]});
    data["jobs"] = std::move(jobs);
    data["bars"] = std::move(list);
    data["nodes"] = std::move(nodes);
    data["gantt_note"] = fmt::format(
        "{} of {} nodes{}.", outcome.shown_nodes.size(), outcome.nodes,
        all > most_bars ? fmt::format("; of {} bars the {} with the most core time", all, most_bars) : std::string{});
}

void add_figures(const Report& report, const Trace& trace, Json& data) {
    auto figures = Json::array();
    auto spreads = Json::array();
    std::string group;
    for (const auto& figure : figures_of(report, trace)) {
        const bool is_first = figure.group != group;
        group = figure.group;
        if (!figure.spread) {
            figures.push_back({is_first ? group : "", figure.name, figure.text});
        } else {
            if (is_first) spreads.push_back(Json::array({group}));
            spreads.back().push_back(figure.text);
        }
    }
    const auto& metrics = report.metrics;
    auto tiles = Json::array();
    tiles.push_back({"makespan", duration(static_cast<double>(metrics.makespan_s))});
    tiles.push_back({"cores in use", percent(metrics.cpu_utilisation)});
    if (report.outcome.gpus != 0) {
        tiles.push_back({"gpus in use", percent(metrics.gpu_utilisation)});
        tiles.push_back({"free gpus stranded", percent(metrics.gpu_fragmentation)});
    }
    tiles.push_back({"mean wait", duration(metrics.wait_s.mean)});
    tiles.push_back({"longest wait", duration(static_cast<double>(metrics.longest_wait_s))});
    tiles.push_back({"mean bounded slowdown", fmt::format("{:.2f}", metrics.slowdown.mean)});
    tiles.push_back({"fairness (Jain)", fmt::format("{:.3f}", metrics.jain_slowdown)});
    tiles.push_back({"plan per cycle, p99", fmt::format("{:.2f} ms", metrics.plan.ms.p99)});
    data["figures"] = std::move(figures);
    data["spreads"] = std::move(spreads);
    data["tiles"] = std::move(tiles);
}

void add_users(const Metrics& metrics, Json& data) {
    auto users = Json::array();
    auto top = Json::array();
    for (const auto& user : metrics.users) {
        if (users.size() == most_users) break;
        if (top.size() < coloured_users) top.push_back(user.name);
        users.push_back({user.name, fmt::format("{}", user.jobs), fmt::format("{:.1f}", user.cpu_hours),
                         duration(user.mean_wait_s), duration(user.max_wait_s),
                         fmt::format("{:.2f}", user.mean_slowdown)});
    }
    data["more_users"] = metrics.users.size() - users.size();
    data["users"] = std::move(users);
    data["top_users"] = std::move(top);
}

}  // namespace

std::string print_page(const Report& report, const Trace& trace) {
    Json data;
    data["trace"] = trace.source;
    const auto head = heading(report, trace);
    const auto cut = head.find('\n');
    data["about"] = head.substr(trace.source.size() + 2, cut - trace.source.size() - 2);
    data["plugins"] = head.substr(cut + 1, head.size() - cut - 2);
    auto said = Json::array();
    const auto all = remarks(report, trace);
    for (std::size_t from = 0; from < all.size(); from = all.find('\n', from) + 1)
        said.push_back(all.substr(from, all.find('\n', from) - from));
    data["remarks"] = std::move(said);
    data["begins"] = report.outcome.begins;
    data["gpus"] = report.outcome.gpus;
    data["series"] = series_of(report.outcome);
    add_figures(report, trace, data);
    add_users(report.metrics, data);
    add_bars(report, trace, data);

    // Inside a script element nothing may look like a tag.
    std::string text;
    for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    constexpr std::string_view mark = "@@DATA@@";
    std::string out{page};
    return out.replace(out.find(mark), mark.size(), text);
}

}  // namespace spur::cli::sim
