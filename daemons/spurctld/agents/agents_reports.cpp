// What agents report: turned into commands, and acknowledged once it is known what became of them.
#include "daemons/spurctld/agents/agents.hpp"

#include <algorithm>

namespace spur::ctld {

namespace {

EndCause cause_of(const v1::StepReport& report) {
    if (report.kind() == v1::StepReport::LAUNCH_FAILED) return EndCause::launch_failed;
    if (report.kind() == v1::StepReport::PROLOG_FAILED) return EndCause::prolog_failed;
    if (report.lost()) return EndCause::node_failed;
    if (report.oom()) return EndCause::out_of_memory;
    if (report.timed_out()) return EndCause::timed_out;
    return EndCause::exited;
}

// Whatever an agent says, sums over many nodes stay what accounting can hold.
constexpr std::uint64_t most_used = std::uint64_t{1} << 48;

StepUsage usage_of(const v1::StepReport& report, NodeId node) {
    const auto& said = report.usage();
    StepUsage usage{.user_us = std::min(said.user_us(), most_used),
                    .system_us = std::min(said.system_us(), most_used),
                    .max_rss_kib = std::min(said.max_rss_kib(), most_used),
                    .read_bytes = std::min(said.read_bytes(), most_used),
                    .write_bytes = std::min(said.write_bytes(), most_used)};
    std::vector<std::uint64_t> values;
    for (const auto& task : report.tasks()) {
        values.clear();
        for (const auto value : task.values()) values.push_back(std::min(value, most_used));
        usage.add_task(node, task.task(), values);
    }
    return usage;
}

constexpr std::size_t longest_detail = 4096;  // of what an agent says about an end

}  // namespace

void Agents::take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report) {
    const JobId job{report.job_id()};
    const auto acknowledge = [this, link, id = report.report_id()] {
        v1::ControllerMessage message;
        message.mutable_ack()->set_report_id(id);
        link->session.send(dispatch_.pack(std::move(message)));
    };
    // A refusal by the state is final too: the report was about something that is over. A report that
    // was not decided, or whose outcome is unknown, stays with the agent, which sends it again to this leader or the
    // next.
    const auto decided = [acknowledge](const Answer& answer) {
        if (answer.is_final()) acknowledge();
    };
    if (!report.drain().empty()) drain(node, report.drain());  // before the job's resources are free for others
    switch (report.kind()) {
        case v1::StepReport::STARTED:
            if (report.step_id() == step_batch)
                engine_.propose(JobLaunched{job, report.attempt()}, decided);
            else
                acknowledge();
            break;
        case v1::StepReport::EPILOG_DONE:
            engine_.propose(NodeJobDone{job, report.attempt(), {node}, !report.error().empty()}, decided);
            break;
        case v1::StepReport::FINISHED:
        case v1::StepReport::LAUNCH_FAILED:
        case v1::StepReport::PROLOG_FAILED:
            if (report.step_id() != step_batch && report.kind() == v1::StepReport::FINISHED) {
                finish_step(node, report, decided);
            } else {
                const bool counts_usage = engine_.model()->directory->state_version >= version_with_step_ends;
                engine_.propose(FinishJob{.job = job,
                                          .attempt = report.attempt(),
                                          .cause = cause_of(report),
                                          .exit_status = report.exit_status(),
                                          .node = node,
                                          .node_done = report.node_done(),
                                          .detail = report.error().substr(0, longest_detail),
                                          .must_hold = true,
                                          .usage = counts_usage ? usage_of(report, node) : StepUsage{}},
                                decided);
            }
            break;
        default:
            acknowledge();
            break;
    }
}

// Something on the node needs an administrator. A node that is drained already keeps its reason.
void Agents::drain(NodeId node, const std::string& why) {
    engine_.post([this, node, why] {
        const auto* known = engine_.cluster().find_node(node);
        if (known == nullptr || known->flags & node_flag::drain) return;
        log_(fmt::format("{}: draining it: {}", known->name.str(), why));
        engine_.propose(
            UpdateNode{.nodes = {node}, .action = NodeAction::drain, .reason = Text{why}, .actor = Actor::root()}, {});
    });
}

// Back into service if its reason still begins with `why`. A node that was drained for another reason stays drained.
void Agents::undrain(NodeId node, std::string_view why) {
    engine_.post([this, node, why] {
        const auto* known = engine_.cluster().find_node(node);
        if (known == nullptr || !known->reason.view().starts_with(why)) return;
        log_(fmt::format("{}: takes jobs again", known->name.str()));
        engine_.propose(
            UpdateNode{.nodes = {node}, .action = NodeAction::undrain, .reason = Text{}, .actor = Actor::root()}, {});
    });
}

void Agents::reboot_failed(NodeId node, const std::string& why) {
    engine_.propose(UpdateNode{.nodes = {node},
                               .action = NodeAction::down,
                               .reason = Text{"reboot failed: " + why},
                               .actor = Actor::root()},
                    {});
}

// A step ends when its last node has said so: the state counts them.
void Agents::finish_step(NodeId node, const v1::StepReport& report, const Engine::Done& decided) {
    const StepKey key{JobId{report.job_id()}, StepId{report.step_id()}};
    if (engine_.model()->directory->state_version >= version_with_step_ends)
        return engine_.propose(StepNodeDone{.key = key,
                                            .attempt = report.attempt(),
                                            .nodes = {node},
                                            .cause = cause_of(report),
                                            .exit_status = report.exit_status(),
                                            .usage = usage_of(report, node)},
                               decided);
    // While not every controller can count them, srun ends the step. Until then the agent keeps its report.
    engine_.post([this, key, attempt = report.attempt(), decided] {
        const auto* step = engine_.cluster().find_step(key);
        if (step == nullptr || step->is_over() || step->attempt != attempt) decided({Events{}});
    });
}

}  // namespace spur::ctld
