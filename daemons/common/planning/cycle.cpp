// The steps of a cycle: update the mirror, score, plan, and turn the plan into commands.
#include "daemons/common/planning/cycle.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <unordered_map>

#include "daemons/common/host/process_state.hpp"
#include "daemons/common/planning/wishes.hpp"

namespace spur::planning {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

bool wants_scheduling(const Event& event) {
    return std::visit(
        []<class T>(const T&) {
            return std::is_same_v<T, ConfigChanged> || std::is_same_v<T, JobQueued> || std::is_same_v<T, JobEnded> ||
                   std::is_same_v<T, JobRequeued> || std::is_same_v<T, JobSuspended> || std::is_same_v<T, NodeFreed> ||
                   std::is_same_v<T, NodeChanged> || std::is_same_v<T, PartitionChanged> ||
                   std::is_same_v<T, ReservationChanged> || std::is_same_v<T, AssociationsChanged> ||
                   std::is_same_v<T, JobShrunk> || std::is_same_v<T, JobChanged>;
        },
        event);
}

PlanningCycle::PlanningCycle(PolicyPlugins plugins)
    : plugins_{std::move(plugins)}, planner_{plugins_.sched, plugins_.select} {}

CycleOutcome PlanningCycle::run(CycleInput input) {
    CycleOutcome outcome;
    if (mirror_.set_understood(understood())) input.changes.everything = true;
    mirror_.update(input.model, input.changes);
    limits_.update(input.model, input.changes);
    if (input.rescore || input.changes.directory || input.changes.everything) {
        mirror_.rescore_all();
        report_.clear();
        publish_shares(input.now, outcome);
    }
    limits_.set_shares(report_.shares());
    score(input.now, outcome);
    const auto& view = mirror_.view(input.now);
    outcome.pending = view.pending_order.count;
    if (input.notes) note_array_limits(outcome);
    if (input.notes) note_missing_nodes(outcome);
    if (input.notes) note_unknown_wishes(outcome);
    if (outcome.pending == 0) {
        mirror_.end_cycle();
        return outcome;
    }
    outcome.alarm = mirror_.next_alarm(input.now);
    promises_.update(*input.model, input.now);
    static const std::atomic<bool> never{false};
    const auto& stopping = input.stopping != nullptr ? *input.stopping : never;
    PlanCollector collector{mirror_, view,      Clock::time_point::max(),  stopping,
                            limits_, promises_, std::move(input.may_start)};
    collector.keep_notes(input.notes);
    // The planner keeps to the budget, says so when it does not, and lets no other thread into the collector.
    const auto planned = planner_.run(view, *collector.sink(), {input.budget, &stopping});
    if (planned)
        outcome.planning = planned->took;
    else
        outcome.problems.push_back(fmt::format("scheduling cycle failed: {}", planned.error().text));
    mirror_.end_cycle();
    auto noted = std::move(outcome.plan.notes);
    outcome.plan = collector.take();
    std::ranges::move(noted, std::back_inserter(outcome.plan.notes));
    for (const auto& complaint : outcome.plan.complaints)
        outcome.problems.push_back(fmt::format("plugin {}: {}", plugins_.sched.type(), complaint));
    return outcome;
}

void PlanningCycle::note_array_limits(CycleOutcome& outcome) {
    for (const auto slot : mirror_.at_array_limit()) {
        const auto& job = *mirror_.pending().backing(slot).job;
        if (job.reason == Reason::job_array_task_limit) continue;
        outcome.plan.notes.push_back({.job = job.id, .reason = Reason::job_array_task_limit, .reason_text = Text{}});
    }
}

// In the form in which Slurm names required nodes that are down: "ReqNodeNotAvail, UnavailableNodes:n3".
void PlanningCycle::note_missing_nodes(CycleOutcome& outcome) {
    for (const auto slot : mirror_.without_node()) {
        const auto& backing = mirror_.pending().backing(slot);
        const Text text{fmt::format("BadConstraints, MissingNodes:{}", backing.filter->missing)};
        if (backing.job->reason == Reason::bad_constraints && backing.job->reason_text == text) continue;
        outcome.plan.notes.push_back({.job = backing.job->id, .reason = Reason::bad_constraints, .reason_text = text});
    }
}

std::uint64_t PlanningCycle::understood() const {
    const auto select = plugins_.select.pin();
    const auto sched = plugins_.sched.pin();
    return (select ? select.ops().understands : 0) | (sched ? sched.ops().understands : 0);
}

void PlanningCycle::note_unknown_wishes(CycleOutcome& outcome) {
    for (const auto slot : mirror_.misunderstood()) {
        const auto& job = *mirror_.pending().backing(slot).job;
        const auto unknown = mirror_.pending().view(slot).wishes & ~mirror_.understood();
        const Text text{say_unknown(unknown, plugins_.select.type(), plugins_.sched.type())};
        if (job.reason == Reason::bad_constraints && job.reason_text == text) continue;
        outcome.plan.notes.push_back({.job = job.id, .reason = Reason::bad_constraints, .reason_text = text});
    }
}

// A job that names several partitions is asked about once for each, and waits with the best of the answers.
void PlanningCycle::score(UnixSeconds now, CycleOutcome& outcome) {
    auto& slots = mirror_.unscored();
    if (slots.empty()) return;
    std::vector<spur_priority_query> queries;
    std::vector<std::uint32_t> asked;
    for (const auto slot : slots) {
        const auto& view = mirror_.pending().view(slot);
        if (view.id == 0) continue;
        const auto& job = *mirror_.pending().backing(slot).job;
        if (job.priority_set) {
            mirror_.place(slot, job.priority);
            PriorityReport::Line line{job.spec->partitions.empty() ? Text{} : job.spec->partitions.front(), {}, {}, {}};
            line.answer = {.total = job.priority, .exact = static_cast<double>(job.priority)};
            report_.put(job.id, {line});
            continue;
        }
        const spur_priority_query query{
            .job = slot, .partition = SPUR_NONE, .nice = job.spec->nice.value_or(0), .site_factor = 0};
        for (std::uint32_t i = 0; i < std::max(view.partitions.count, 1U); ++i) {
            queries.push_back(query);
            if (i < view.partitions.count) queries.back().partition = *SPUR_AT(std::uint32_t, view.partitions, i);
        }
        asked.push_back(slot);
    }
    slots.clear();
    if (queries.empty()) return;
    const auto begun = Clock::now();
    auto scored = ask_for_scores(queries, now);
    outcome.scoring = Clock::now() - begun;
    if (!scored) outcome.problems.push_back(fmt::format("priorities could not be worked out: {}", scored.error().text));
    std::size_t at = 0;
    for (const auto slot : asked) {
        std::uint64_t total = 1;
        std::vector<PriorityReport::Line> lines;
        for (; at < queries.size() && queries[at].job == slot; ++at) {
            if (!scored) continue;
            auto& line = lines.emplace_back(std::move((*scored)[at]));
            total = std::max(total, std::min<std::uint64_t>(line.answer.total, UINT32_MAX));
            if (queries[at].partition != SPUR_NONE) line.partition = mirror_.partition(queries[at].partition).name;
        }
        mirror_.place(slot, total);
        const auto& job = *mirror_.pending().backing(slot).job;
        report_.put(job.id, std::move(lines));
        if (job.priority != total)
            outcome.scores.notes.push_back({.job = job.id, .priority = static_cast<std::uint32_t>(total)});
    }
}

// One instance answers what its factors are and what they come to: another may have others.
Result<std::vector<PriorityReport::Line>> PlanningCycle::ask_for_scores(const std::vector<spur_priority_query>& queries,
                                                                        UnixSeconds now) {
    const auto plugin = plugins_.priority.pin();
    if (!plugin) return fail(ErrorCode::unavailable, "no priority plugin is in force");
    SPUR_TRY(auto factors, ask_for_factors(plugin));
    const auto count = static_cast<std::uint32_t>(factors.size());
    std::vector<spur_priority> totals(queries.size());
    std::vector<double> raw(queries.size() * count), weighted(queries.size() * count);
    const spur_scores out{.size = sizeof(spur_scores),
                          .factor_count = count,
                          .totals = totals.data(),
                          .total_stride = sizeof(spur_priority),
                          .reserved = 0,
                          .raw = raw.data(),
                          .weighted = weighted.data()};
    const host::ProcessState before{host::ProcessState::Reading::cheap};
    const auto scored = plugin.call(&spur_priority_ops::score, &mirror_.view(now), plugin::span_of(queries), &out);
    plugin.instance().check_left("score", before);
    SPUR_CHECK(scored);
    if (*report_.factors() != factors) report_.put(std::move(factors));
    std::vector<PriorityReport::Line> lines(queries.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto from = static_cast<std::ptrdiff_t>(i * count), to = from + count;
        lines[i] = {.partition = {},
                    .answer = totals[i],
                    .raw = {raw.begin() + from, raw.begin() + to},
                    .weighted = {weighted.begin() + from, weighted.begin() + to}};
    }
    return lines;
}

Result<std::vector<PriorityReport::Factor>> PlanningCycle::ask_for_factors(
    const host::Pin<host::PriorityAxis>& plugin) {
    using Factors = std::vector<PriorityReport::Factor>;
    Factors factors;
    if (!plugin.can(&spur_priority_ops::factors)) return factors;
    constexpr std::size_t most = 256;
    const spur_factor_sink sink{sizeof(spur_factor_sink), 0, &factors,
                                [](const spur_factor_sink* self, const spur_factor* factor) -> spur_status {
                                    auto& list = *static_cast<Factors*>(self->context);
                                    if (list.size() == most) return SPUR_E_BUSY;
                                    list.push_back({std::string{plugin::view(factor->name).substr(0, 63)},
                                                    std::string{plugin::view(factor->help)}, factor->weight});
                                    return SPUR_OK;
                                }};
    SPUR_CHECK(plugin.call(&spur_priority_ops::factors, &sink));
    return factors;
}

void PlanningCycle::publish_shares(UnixSeconds now, CycleOutcome& outcome) {
    if (const auto plugin = plugins_.priority.pin()) {
        if (auto factors = ask_for_factors(plugin))
            report_.put(std::move(*factors));
        else
            outcome.problems.push_back(fmt::format("priorities have no names: {}", factors.error().text));
    }
    if (!plugins_.priority.can(&spur_priority_ops::shares)) return report_.put(PriorityReport::Shares{});
    const auto& view = mirror_.view(now);
    std::vector<spur_share> answers(view.associations.count);
    const auto told = plugins_.priority.call(&spur_priority_ops::shares, &view, answers.data(),
                                             static_cast<std::uint32_t>(sizeof(spur_share)));
    if (!told) {
        outcome.problems.push_back(fmt::format("shares could not be worked out: {}", told.error().text));
        return;
    }
    PriorityReport::Shares shares;
    for (const auto& [id, index] : mirror_.associations()) shares.emplace(id, answers[index]);
    report_.put(std::move(shares));
}

std::vector<StartJob> start_commands(std::vector<Placement> placements, const ReadModel& model) {
    std::vector<StartJob> starts;
    std::unordered_map<std::uint32_t, std::size_t> groups;
    for (auto& placement : placements) {
        const auto& job = model.jobs.get(placement.job.value);
        const auto group = job ? job->het_job.value : 0;
        if (group != 0) {
            const auto [found, is_new] = groups.try_emplace(group, starts.size());
            if (is_new) starts.emplace_back();
            starts[found->second].parts.push_back(std::move(placement));
        } else {
            starts.push_back({{std::move(placement)}});
        }
    }
    return starts;
}

}  // namespace spur::planning
