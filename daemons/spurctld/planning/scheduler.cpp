// The scheduler's thread: when it wakes, one cycle, and sending the plan's commands to the engine.
#include "daemons/spurctld/planning/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>

#include "daemons/common/log/log.hpp"

namespace spur::ctld {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Scheduler::Scheduler(Engine& engine, planning::PolicyPlugins plugins, SchedulerOptions options,
                     std::function<void(std::string)> log)
    : engine_{engine},
      priority_{plugins.priority},
      log_{std::move(log)},
      options_{options},
      planning_{std::move(plugins)} {
    changes_.everything = true;
    model_ = engine_.model();
    thread_ = std::jthread{[this](const std::stop_token& stop) { loop(stop); }};
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    bell_.ring();
    thread_.join();
}

void Scheduler::pause() {
    const std::lock_guard lock{mutex_};
    paused_ = true;
}

void Scheduler::wake() {
    {
        const std::lock_guard lock{mutex_};
        dirty_ = true;
        rescored_ = {};
    }
    bell_.ring();
}

void Scheduler::reconfigure(SchedulerOptions options) {
    {
        const std::lock_guard lock{mutex_};
        options_ = options;
    }
    wake();
}

Scheduler::Stats Scheduler::stats() const {
    const std::lock_guard lock{mutex_};
    return stats_;
}

void Scheduler::on_applied(const Cluster&, const Events& events, const planning::Changes& changes,
                           const std::shared_ptr<const planning::ReadModel>& model, bool leads) {
    const bool wanted = changes.everything || std::ranges::any_of(events, planning::wants_scheduling);
    {
        const std::lock_guard lock{mutex_};
        planning::merge(changes_, changes);
        model_ = model;
        dirty_ = dirty_ || wanted;
        leads_ = leads;
    }
    if (wanted && leads) bell_.ring();
}

void Scheduler::on_leadership(const Cluster&, const Leadership& now) {
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        dirty_ = true;
    }
    bell_.ring();
}

void Scheduler::loop(const std::stop_token& stop) {
    while (wait_for_work(stop)) cycle(stop);
}

bool Scheduler::wait_for_work(const std::stop_token& stop) {
    const auto ready = [&] {
        const std::lock_guard lock{mutex_};
        return dirty_ && leads_ && !paused_;
    };
    const auto deadline = Clock::now() + longest_pause();
    while (!stop.stop_requested() && !ready() && Clock::now() < deadline) bell_.wait(deadline);
    return !stop.stop_requested();
}

std::chrono::seconds Scheduler::longest_pause() const {
    const std::lock_guard lock{mutex_};
    const auto longest = std::min(options_.interval, options_.usage_interval);
    if (alarm_ == 0 || !leads_ || paused_) return longest;  // nobody would answer the alarm
    return std::clamp(std::chrono::seconds{alarm_ - engine_.now()}, std::chrono::seconds{0}, longest);
}

void Scheduler::cycle(const std::stop_token& stop) {
    const auto begun = Clock::now();
    planning::CycleInput input;
    bool fades = false;
    {
        const std::lock_guard lock{mutex_};
        if (!leads_ || paused_) return;
        input.changes = std::exchange(changes_, {});
        input.model = model_;
        input.budget = options_.budget;
        dirty_ = false;
        fades = begun - faded_ >= options_.usage_interval;
        if (begun - rescored_ > options_.rescore_interval) {
            rescored_ = begun;
            input.rescore = true;
        }
    }
    if (fades) {
        faded_ = begun;
        fade_usage();
    }
    std::atomic<bool> stopping{false};
    const std::stop_callback on_stop{stop, [&] { stopping = true; }};
    input.now = engine_.now();
    input.stopping = &stopping;
    const auto budget = input.budget;
    auto outcome = planning_.run(std::move(input));

    {
        const std::lock_guard lock{mutex_};
        alarm_ = outcome.alarm;
        if (paused_) return;
    }
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    if (outcome.pending > 0) {
        const std::lock_guard lock{mutex_};
        ++stats_.cycles;
        stats_.started += outcome.plan.starts.size();
        stats_.last_us = static_cast<std::uint64_t>(took.count());
        stats_.total_us += stats_.last_us;
        stats_.max_us = std::max(stats_.max_us, stats_.last_us);
        stats_.last_pending = outcome.pending;
        if (took > budget) ++stats_.overruns;
    }
    carry_out(std::move(outcome), stop);
}

// The factor goes into the command, so that every controller and every replay lets usage fade alike.
void Scheduler::fade_usage() {
    engine_.post([this] {
        const auto& cluster = engine_.cluster();
        const auto used = [](const auto& entry) { return entry.second.usage.raw > 0; };
        if (cluster.active_jobs().empty() && std::ranges::none_of(cluster.associations(), used) &&
            std::ranges::none_of(cluster.qos(), used))
            return;
        const auto since = cluster.usage_time(), now = engine_.now();
        DecayUsage command;
        if (since != 0 && now > since) {
            const auto left = priority_.call(&spur_priority_ops::decay, since, now);
            if (!left) return log_(fmt::format("usage could not fade: {}", left.error().text));
            command.factor = std::clamp(*left, 0.0, 1.0);
        }
        engine_.propose(command, [this](const Result<Events>& result) {
            if (!result && result.error().code != ErrorCode::unavailable)
                log_(fmt::format("usage could not fade: {}", result.error().text));
        });
    });
}

// Waits until every start has been decided: the next cycle then sees it as running, or as still waiting.
void Scheduler::carry_out(planning::CycleOutcome outcome, const std::stop_token& stop) {
    auto& plan = outcome.plan;
    for (auto& problem : outcome.problems) log_(std::move(problem));
    if (!outcome.scores.notes.empty()) engine_.propose(std::move(outcome.scores), {});
    for (const auto& preemption : plan.preemptions)
        engine_.propose(PreemptJob{preemption.victim, preemption.attempt, preemption.mode, preemption.preemptor}, {});
    if (!plan.notes.empty()) engine_.propose(SetPending{std::move(plan.notes)}, {});
    auto starts = planning::start_commands(std::move(plan.starts), planning_.mirror().model());
    if (starts.empty()) return;

    struct Progress {
        std::atomic<std::size_t> left;
        work::Doorbell done;
    };
    auto progress = std::make_shared<Progress>();
    progress->left = starts.size();
    for (auto& start : starts)
        engine_.propose(std::move(start), [this, progress](const Result<Events>& result) {
            // Ordinary: the cluster moved on while the plan was made, or the plan's own starts used up a limit.
            const bool ordinary =
                !result && (result.error().code == ErrorCode::conflict || result.error().code == ErrorCode::limit);
            if (ordinary)
                log::debug("a planned start was refused: {}", result.error().text);
            else if (!result)
                log_(fmt::format("a planned start was refused: {}", result.error().text));
            if (--progress->left == 0) progress->done.ring();
        });
    const std::stop_callback on_stop{stop, [&] { progress->done.ring(); }};
    while (progress->left != 0 && !stop.stop_requested()) progress->done.wait();
}

}  // namespace spur::ctld
