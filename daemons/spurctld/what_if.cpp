#include "daemons/spurctld/what_if.hpp"

#include <algorithm>

#include "core/hostlist.hpp"

namespace spur::ctld {

namespace {

constexpr std::chrono::seconds budget{2};

Forecast started(const ReadModel& model, const Placement& placement, UnixSeconds now) {
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

Result<Forecast> WhatIf::forecast(const ReadModel& model, Job job, UnixSeconds now) {
    if (!planning_) {
        SPUR_TRY(auto plugins, open_());
        planning_ = std::make_unique<PlanningCycle>(std::move(plugins));
    }
    // Nothing of an earlier plan is in the record, so whatever this plan says of it is said.
    job.eligible = true;
    job.hold = Hold::none;
    job.reason = Reason::none;
    job.reason_text = job.scheduled_nodes = {};
    job.start_time = 0;
    const auto id = job.id;
    auto changed = std::make_shared<ReadModel>(model);
    changed->jobs.freeze();
    changed->jobs.set(id.value, std::make_shared<const Job>(std::move(job)));

    CycleInput input;
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
