// What agents report: turned into commands, and acknowledged once it is known what became of them.
#include <algorithm>

#include "daemons/spurctld/agents/agents.hpp"

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

constexpr std::size_t longest_detail = 4096;  // of what an agent says about an end

}  // namespace

void Agents::take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report) {
    const JobId job{report.job_id()};
    const auto acknowledge = [this, link, id = report.report_id()] {
        v1::ControllerMessage message;
        message.mutable_ack()->set_report_id(id);
        link->session.send(pack(std::move(message)));
    };
    // A refusal by the state is final too: the report was about something that is over. One that has not come so far,
    // or of which nobody knows what became, the agent keeps and says again, to this leader or the next.
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
                finish_step(node, report, acknowledge);
            } else {
                engine_.propose(FinishJob{.job = job,
                                          .attempt = report.attempt(),
                                          .cause = cause_of(report),
                                          .exit_status = report.exit_status(),
                                          .node = node,
                                          .node_done = report.node_done(),
                                          .detail = report.error().substr(0, longest_detail),
                                          .must_hold = true},
                                decided);
            }
            break;
        default:
            acknowledge();
            break;
    }
}

// Something on the node cannot be set right without an administrator. One that is out of service keeps its reason.
void Agents::drain(NodeId node, const std::string& why) {
    engine_.post([this, node, why] {
        const auto* known = engine_.cluster().find_node(node);
        if (known == nullptr || known->flags & node_flag::drain) return;
        log_(fmt::format("{}: draining it: {}", known->name.str(), why));
        engine_.propose(
            UpdateNode{.nodes = {node}, .action = NodeAction::drain, .reason = Text{why}, .actor = Actor::root()}, {});
    });
}

// Back into service, if its reason still begins like this: whoever drained it for another wants to see it first.
void Agents::undrain(NodeId node, std::string_view why) {
    engine_.post([this, node, why] {
        const auto* known = engine_.cluster().find_node(node);
        if (known == nullptr || !known->reason.view().starts_with(why)) return;
        log_(fmt::format("{}: takes jobs again", known->name.str()));
        engine_.propose(
            UpdateNode{.nodes = {node}, .action = NodeAction::undrain, .reason = Text{}, .actor = Actor::root()}, {});
    });
}

// A step ends when its last node has said so; its status is the highest. Until its end is in the log no node's report
// is acknowledged: a leader that comes in between hears them all again.
void Agents::finish_step(NodeId node, const v1::StepReport& report, std::function<void()> acknowledge) {
    engine_.post([this, node, report, acknowledge = std::move(acknowledge)] {
        const StepKey key{JobId{report.job_id()}, StepId{report.step_id()}};
        const auto* step = engine_.cluster().find_step(key);
        if (step == nullptr || step->is_over() || step->attempt != report.attempt()) {
            step_is_over(key);
            return acknowledge();
        }
        if (std::ranges::find(step->shares, node, &NodeShare::node) == step->shares.end()) return acknowledge();
        const auto [place, is_first] = unfinished_.try_emplace(key);
        auto& left = place->second;
        if (is_first)
            for (const auto& share : step->shares) left.nodes.insert(share.node);
        left.acknowledge[node] = acknowledge;
        left.worst_status = std::max(left.worst_status, report.exit_status());
        left.nodes.erase(node);
        if (!left.nodes.empty() || std::exchange(left.proposed, true)) return;
        FinishStep command{
            .key = key, .attempt = report.attempt(), .cause = cause_of(report), .exit_status = left.worst_status};
        const auto& usage = report.usage();
        command.usage = {usage.user_us(), usage.system_us(), usage.max_rss_kib(), usage.read_bytes(),
                         usage.write_bytes()};
        command.node = node;
        engine_.propose(std::move(command), [this, key](const Answer& answer) {
            if (answer.is_final()) return step_is_over(key);
            if (const auto found = unfinished_.find(key); found != unfinished_.end()) found->second.proposed = false;
        });
    });
}

// [engine thread]
void Agents::step_is_over(const StepKey& key) {
    const auto over = unfinished_.extract(key);
    if (over.empty()) return;
    for (const auto& [node, acknowledge] : over.mapped().acknowledge) acknowledge();
}

}  // namespace spur::ctld
