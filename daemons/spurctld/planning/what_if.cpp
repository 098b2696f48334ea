// The thread that plans for questions, within a time limit.
#include "daemons/spurctld/planning/what_if.hpp"

#include <algorithm>

#include "core/text/hostlist.hpp"

namespace spur::ctld {

namespace {

constexpr std::chrono::seconds budget{2};

Forecast started(const planning::ReadModel& model, const Placement& placement, UnixSeconds now) {
    Forecast forecast{.starts_now = true, .start = now, .nodes = {}, .partition = placement.partition.str()};
    std::vector<std::string> names;
    for (const auto& share : placement.shares) {
        forecast.cpus += share.cpus;
        if (const auto& node = model.nodes.get(share.node.value)) names.push_back(node->name.str());
    }
    forecast.nodes = compress_hosts(names);
    return forecast;
}

}  // namespace

WhatIf::WhatIf(OpenPlugins open, std::chrono::milliseconds limit)
    : open_{std::move(open)}, limit_{limit}, watcher_{[this](const std::stop_token& stop) { watch(stop); }} {}

void WhatIf::stop() {
    worker_.stop();
    watcher_.request_stop();
    if (watcher_.joinable()) watcher_.join();
}

void WhatIf::ask(std::function<void()> question, std::function<void(const std::string&)> late) {
    auto asked = std::make_shared<Asked>(Clock::now() + limit_, std::move(late));
    {
        const std::lock_guard lock{mutex_};
        asked_.push_back(asked);
        if (overdue_ && !overdue_->is_done) {  // nobody would come to this one
            asked->until = Clock::now();
            asked->reaches_plugins = false;
            question = {};
        }
    }
    changed_.notify_one();
    if (!question) return;
    worker_.post([this, asked, question = std::move(question)] {
        bool is_answered = false;
        {
            const std::lock_guard lock{mutex_};
            is_answered = !asked->late;
        }
        if (!is_answered) question();
        const std::lock_guard lock{mutex_};
        asked->is_done = true;
    });
}

// [watcher's thread]
void WhatIf::watch(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        std::erase_if(asked_, [](const auto& asked) { return asked->is_done; });
        if (asked_.empty()) {
            changed_.wait(lock, stop, [this] { return !asked_.empty(); });
            continue;
        }
        // All have the same limit, but one that comes while the plugins hang is due at once.
        const auto due = *std::ranges::min_element(asked_, {}, [](const auto& asked) { return asked->until; });
        if (Clock::now() < due->until) {
            changed_.wait_until(lock, stop, due->until, [&] { return asked_.back()->until < due->until; });
            continue;
        }
        std::erase(asked_, due);
        if (due->reaches_plugins && (!overdue_ || overdue_->is_done)) overdue_ = due;
        const auto late = std::exchange(due->late, {});
        lock.unlock();
        late(fmt::format("the policy plugins have not answered within {:.3g} s; `spur plugin stats` shows what they do",
                         std::chrono::duration<double>(limit_).count()));
        lock.lock();
    }
}

Result<Forecast> WhatIf::forecast(const planning::ReadModel& model, Job job, UnixSeconds now) {
    if (!planning_) {
        SPUR_TRY(auto plugins, open_());
        planning_ = std::make_unique<planning::PlanningCycle>(std::move(plugins));
    }
    // Nothing of an earlier plan is left in the record: what it says afterwards is from this plan.
    job.eligible = true;
    job.hold = Hold::none;
    job.reason = Reason::none;
    job.reason_text = job.scheduled_nodes = {};
    job.start_time = 0;
    const auto id = job.id;
    auto changed = std::make_shared<planning::ReadModel>(model);
    changed->jobs.freeze();
    changed->jobs.set(id.value, std::make_shared<const Job>(std::move(job)));

    planning::CycleInput input;
    input.model = changed;
    input.changes.everything = true;
    input.now = now;
    input.budget = budget;
    const auto outcome = planning_->run(std::move(input));
    for (const auto& placement : outcome.plan.starts)
        if (placement.job == id) return started(model, placement, now);
    Forecast forecast;
    for (const auto& note : outcome.plan.notes) {
        if (note.job != id) continue;
        if (note.expected_start) forecast.start = *note.expected_start;
        if (note.expected_nodes) forecast.nodes = note.expected_nodes->str();
        if (note.reason) forecast.reason = *note.reason;
        if (note.reason_text) forecast.text = note.reason_text->str();
    }
    if (!outcome.problems.empty() && forecast.reason == Reason::none && forecast.start == 0)
        return fail(ErrorCode::unavailable, "{}", outcome.problems.front());
    return forecast;
}

}  // namespace spur::ctld
