// What agents report: turned into commands, and acknowledged once it is known what became of them.
#include <algorithm>

#include "daemons/spurctld/agents.hpp"

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

}  // namespace

void Agents::take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report) {
    const JobId job{report.job_id()};
    const auto acknowledge = [link, id = report.report_id()](const Result<Events>& result) {
        // A refusal is final too: the report was about something that is over. Where nobody knows what became of it,
        // the agent says it again, to this leader or the next.
        if (!result && (result.error().code == ErrorCode::unavailable || result.error().code == ErrorCode::internal))
            return;
        v1::ControllerMessage message;
        message.mutable_ack()->set_report_id(id);
        link->session.send_message(message);
    };
    switch (report.kind()) {
        case v1::StepReport::STARTED:
            if (report.step_id() == step_batch)
                engine_.propose(JobLaunched{job, report.attempt()}, acknowledge);
            else
                acknowledge(Events{});
            break;
        case v1::StepReport::EPILOG_DONE:
            engine_.propose(NodeJobDone{job, report.attempt(), {node}, !report.error().empty()}, acknowledge);
            break;
        case v1::StepReport::FINISHED:
        case v1::StepReport::LAUNCH_FAILED:
        case v1::StepReport::PROLOG_FAILED:
            if (report.step_id() != step_batch && report.kind() == v1::StepReport::FINISHED) {
                finish_step(node, report);
                acknowledge(Events{});
            } else {
                engine_.propose(FinishJob{.job = job,
                                          .attempt = report.attempt(),
                                          .cause = cause_of(report),
                                          .exit_status = report.exit_status(),
                                          .node = node,
                                          .node_done = report.node_done(),
                                          .detail = report.error(),
                                          .must_hold = true},
                                acknowledge);
            }
            break;
        default:
            acknowledge(Events{});
            break;
    }
}

// A step ends when its last node has said so; its status is the highest.
void Agents::finish_step(NodeId node, const v1::StepReport& report) {
    engine_.post([this, node, report] {
        const StepKey key{JobId{report.job_id()}, StepId{report.step_id()}};
        const auto* step = engine_.cluster().find_step(key);
        if (step == nullptr || step->is_over() || step->attempt != report.attempt()) return;
        if (std::ranges::find(step->shares, node, &NodeShare::node) == step->shares.end()) return;  // not its step
        auto& left = unfinished_[key];
        if (left.nodes.empty() && left.worst_status == 0)
            for (const auto& share : step->shares) left.nodes.insert(share.node);
        left.worst_status = std::max(left.worst_status, report.exit_status());
        left.nodes.erase(node);
        if (!left.nodes.empty()) return;
        FinishStep command{
            .key = key, .attempt = report.attempt(), .cause = cause_of(report), .exit_status = left.worst_status};
        const auto& usage = report.usage();
        command.usage = {usage.user_us(), usage.system_us(), usage.max_rss_kib(), usage.read_bytes(),
                         usage.write_bytes()};
        command.node = node;
        unfinished_.erase(key);
        engine_.propose(std::move(command), {});
    });
}

}  // namespace spur::ctld
