// The arithmetic: waits, slowdowns, utilisation, fairness, and who was overtaken.
#include "cli/sim/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spur::cli::sim {
namespace {

constexpr double shortest_run_s = 10;
constexpr double seconds_per_hour = 3600;

double nearest_rank(const std::vector<double>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

// A count of things at places, with sums over ranges in logarithmic time (Fenwick's tree).
class Counts {
public:
    explicit Counts(std::size_t size) : tree_(size + 1) {}
    void add(std::size_t place) {
        for (auto at = place + 1; at < tree_.size(); at += at & (~at + 1)) ++tree_[at];
        ++total_;
    }
    std::uint32_t after(std::size_t place) const {
        std::uint32_t before = 0;
        for (auto at = place + 1; at > 0; at -= at & (~at + 1)) before += tree_[at];
        return total_ - before;
    }

private:
    std::vector<std::uint32_t> tree_;
    std::uint32_t total_{};
};

// Jobs of one second are in no order, so none of them overtakes another: they share a place.
void count_overtakings(const Outcome& outcome, Metrics& metrics) {
    std::vector<std::size_t> places(outcome.jobs.size());
    std::vector<std::uint32_t> by_start;
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        places[i] = i == 0                                                 ? 0
                    : outcome.jobs[i].submit == outcome.jobs[i - 1].submit ? places[i - 1]
                                                                           : places[i - 1] + 1;
        if (outcome.jobs[i].has_started()) by_start.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::sort(by_start, {}, [&](std::uint32_t i) { return outcome.jobs[i].start_order; });
    Counts started{outcome.jobs.empty() ? 0 : places.back() + 1};
    // Those that start in one second start together.
    for (std::size_t first = 0; first < by_start.size();) {
        auto last = first;
        while (last < by_start.size() && outcome.jobs[by_start[last]].start == outcome.jobs[by_start[first]].start)
            ++last;
        for (auto i = first; i < last; ++i) {
            const auto times = started.after(places[by_start[i]]);
            if (times > 0) ++metrics.passed_over;
            metrics.most_overtakings = std::max(metrics.most_overtakings, times);
        }
        for (auto i = first; i < last; ++i) started.add(places[by_start[i]]);
        first = last;
    }
}

void count_states(const Outcome& outcome, Metrics& metrics) {
    metrics.submitted = outcome.jobs.size();
    for (const auto& [why, count] : outcome.refusals) metrics.refused += count;
    for (const auto& job : outcome.jobs) {
        if (!job.has_started())
            ++metrics.never_started;
        else if (job.state == JobState::completed)
            ++metrics.completed;
        else if (job.state == JobState::failed)
            ++metrics.failed;
        else if (job.state == JobState::timeout)
            ++metrics.timed_out;
        else if (job.state == JobState::preempted)
            ++metrics.preempted;
        else
            ++metrics.other;
        metrics.lost_cpu_hours += static_cast<double>(job.lost_s) * job.cpus / seconds_per_hour;
    }
}

struct Integral {
    double cpus{}, useful{}, gpus{}, waiting{};
};

Integral integrate(const Outcome& outcome, UnixSeconds until) {
    Integral sum;
    for (std::size_t i = 0; i < outcome.load.size(); ++i) {
        const auto& point = outcome.load[i];
        const auto next = i + 1 < outcome.load.size() ? outcome.load[i + 1].at : outcome.ends;
        const auto seconds = static_cast<double>(std::min(next, until) - std::min(point.at, until));
        sum.cpus += seconds * point.cpus;
        sum.useful += seconds * point.useful_cpus;
        sum.gpus += seconds * point.gpus;
        sum.waiting += seconds * point.waiting;
    }
    return sum;
}

void measure_load(const Outcome& outcome, Metrics& metrics) {
    const auto share = [](double used, double seconds, double of) {
        return seconds * of > 0 ? used / (seconds * of) : 0;
    };
    const auto busy = integrate(outcome, outcome.last_submit);
    const auto busy_s = static_cast<double>(outcome.last_submit - outcome.begins);
    metrics.cpu_utilisation = share(busy.cpus, busy_s, outcome.cpus);
    metrics.useful_cpu_utilisation = share(busy.useful, busy_s, outcome.cpus);
    metrics.gpu_utilisation = share(busy.gpus, busy_s, outcome.gpus);
    metrics.mean_queue = share(busy.waiting, busy_s, 1);
    const auto whole = integrate(outcome, outcome.ends);
    const auto whole_s = static_cast<double>(outcome.ends - outcome.begins);
    metrics.whole_cpu_utilisation = share(whole.cpus, whole_s, outcome.cpus);
    metrics.whole_useful_cpu_utilisation = share(whole.useful, whole_s, outcome.cpus);
    metrics.whole_gpu_utilisation = share(whole.gpus, whole_s, outcome.gpus);
    for (const auto& point : outcome.load) metrics.longest_queue = std::max(metrics.longest_queue, point.waiting);
    metrics.makespan_s = outcome.ends - outcome.begins;
    metrics.gpu_fragmentation = share(outcome.stranded_gpu_s, outcome.free_gpu_s, 1);
}

void measure_jobs(const Outcome& outcome, Metrics& metrics) {
    std::vector<double> waits, slowdowns;
    std::vector<UserMetrics> users(outcome.users.size());
    for (std::size_t i = 0; i < outcome.users.size(); ++i) users[i].name = outcome.users[i];
    for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
        const auto& job = outcome.jobs[i];
        if (!job.has_started()) continue;
        const auto wait = static_cast<double>(job.start - job.submit);
        const auto slowdown = bounded_slowdown(wait, static_cast<double>(job.end - job.start));
        waits.push_back(wait);
        slowdowns.push_back(slowdown);
        if (job.start - job.submit > metrics.longest_wait_s) {
            metrics.longest_wait_s = job.start - job.submit;
            metrics.longest_waiter = static_cast<std::uint32_t>(i);
        }
        auto& user = users[job.user];
        ++user.jobs;
        user.cpu_hours += static_cast<double>(job.end - job.start) * job.cpus / seconds_per_hour;
        user.mean_wait_s += wait;
        user.max_wait_s = std::max(user.max_wait_s, wait);
        user.mean_slowdown += slowdown;
    }
    std::erase_if(users, [](const UserMetrics& user) { return user.jobs == 0; });
    std::vector<double> by_user;
    for (auto& user : users) {
        user.mean_wait_s /= static_cast<double>(user.jobs);
        user.mean_slowdown /= static_cast<double>(user.jobs);
        by_user.push_back(user.mean_slowdown);
    }
    metrics.jain_slowdown = jain_index(by_user);
    std::ranges::stable_sort(users, std::greater{}, &UserMetrics::cpu_hours);
    metrics.users = std::move(users);
    metrics.wait_s = spread_of(std::move(waits));
    metrics.slowdown = spread_of(std::move(slowdowns));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
            nearest_rank(values, 0.50), nearest_rank(values, 0.90), nearest_rank(values, 0.99), values.back()};
}

double bounded_slowdown(double wait_s, double run_s) {
    return std::max(1.0, (wait_s + run_s) / std::max(run_s, shortest_run_s));
}

double jain_index(const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (const auto value : values) {
        sum += value;
        squares += value * value;
    }
    return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

Metrics measure(const Outcome& outcome) {
    Metrics metrics;
    count_states(outcome, metrics);
    measure_load(outcome, metrics);
    measure_jobs(outcome, metrics);
    count_overtakings(outcome, metrics);
    const auto cost = [](const std::vector<float>& ms) {
        return CostMetrics{ms.size(), spread_of({ms.begin(), ms.end()})};
    };
    metrics.plan = cost(outcome.costs.plan_ms);
    metrics.score = cost(outcome.costs.score_ms);
    return metrics;
}

}  // namespace spur::cli::sim
