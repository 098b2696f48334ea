// Allocations and steps: what srun and salloc ask for.
#include <algorithm>
#include <future>

#include "core/machine/step_layout.hpp"
#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"
#include "daemons/spurctld/agents/launch.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/job_query.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "daemons/spurctld/service/service.hpp"

namespace spur::ctld {

namespace {

constexpr std::chrono::milliseconds longest_wait{60'000};
constexpr std::chrono::seconds patience_with_nodes{5};  // whose reports of a step's end follow the word of srun
constexpr std::int64_t credential_lifetime_s = 120;

std::chrono::steady_clock::time_point deadline_of(std::uint32_t timeout_ms) {
    const auto wait = timeout_ms == 0 ? longest_wait : std::min(longest_wait, std::chrono::milliseconds{timeout_ms});
    return std::chrono::steady_clock::now() + wait;
}

void layout_to_wire(const planning::ReadModel& model, const Step& step,
                    google::protobuf::RepeatedPtrField<v1::TaskLayout>& layout) {
    for (std::size_t i = 0; i < step.shares.size(); ++i) {
        auto& out = *layout.Add();
        if (const auto& node = model.nodes.get(step.shares[i].node.value)) {
            out.set_node(node->name.str());
            out.set_addr(agent_address(*node));
        }
        if (i < step.task_ids.size())
            for (const auto task : step.task_ids[i]) out.add_tasks(task);
    }
}

}  // namespace

void Service::await_allocation(const Call& call) {
    const auto request = call.parse<v1::AwaitAllocationRequest>();
    if (!request) return refuse(call, request.error());
    const auto who = actor(call);
    watchers_.wait_for_job(
        JobId{request->job_id()}, deadline_of(request->timeout_ms()),
        [this, call, who, id = request->job_id(), until_ended = request->until_ended()](
            const planning::ReadModel& model, bool expired) {
            if (call.abandoned()) return true;
            const auto& job = model.jobs.get(id);
            if (!job) return refuse(call, refusal::invalid_job_id), true;
            const bool ready =
                (job->is_running() && !(job->flags & job_flag::configuring) && !until_ended) || job->is_finished();
            if (!ready && !expired) return false;
            const Privacy privacy{who, model};
            if (!privacy.shows(*job)) return refuse(call, refusal::invalid_job_id), true;
            v1::AwaitAllocationReply reply;
            const bool may_see = privacy.shows_secrets(*job);
            job_to_wire(model, *job,
                        {.environment = may_see, .spank_environment = may_see, .script = false, .steps = false},
                        *reply.mutable_job());
            reply.set_ready(ready);
            call.reply_with(reply);
            return true;
        });
}

struct Service::StepAsk {
    Call call;
    Actor who;
    Users::Record owner;  // of the job, with his groups
    JobId job;
    StepSpec spec;
    std::chrono::steady_clock::time_point deadline;
};

void Service::create_step(const Call& call) {
    const auto request = call.parse<v1::CreateStepRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const auto& job = model->jobs.get(request->job_id());
    if (!job) return refuse(call, refusal::invalid_job_id);
    const auto spec = step_spec_from_wire(*request);
    if (!spec) return refuse(call, spec.error());
    users_.find_with_groups(job->spec->uid, [this, call, spec = *spec, id = JobId{request->job_id()},
                                             timeout_ms = request->timeout_ms()](const Result<Users::Record>& owner) {
        if (!owner) return refuse(call, owner.error());
        wait_for_step(std::make_shared<StepAsk>(call, actor(call), *owner, id, spec, deadline_of(timeout_ms)));
    });
}

// A step that does not fit beside the job's others is tried again when something of the job changes.
void Service::wait_for_step(const std::shared_ptr<StepAsk>& ask) {
    in_background([this, ask] {
        watchers_.wait_for_job(ask->job, ask->deadline, [this, ask](const planning::ReadModel& model, bool expired) {
            return ask->call.abandoned() || try_step(ask, model, expired);
        });
    });
}

// True once the question is answered or will be; false: ask again when the job has changed.
bool Service::try_step(const std::shared_ptr<StepAsk>& ask, const planning::ReadModel& model, bool expired) {
    const auto* job = model.find_job(ask->job);
    if (job == nullptr) return refuse(ask->call, refusal::invalid_job_id), true;
    if (job->spec->uid != ask->who.uid && !authority_.is_daemon(ask->who.uid))
        return refuse(ask->call, refusal::denied), true;
    auto layout = lay_out_step(model, ask->job, ask->spec, ask->who);
    if (layout) {
        engine_.propose(std::move(*layout), [this, ask](const Result<Events>& result) {
            if (result) {
                const auto reply = step_reply(*ask, *result);
                return reply ? ask->call.reply_with(*reply) : refuse(ask->call, reply.error());
            }
            // Another step of the job was on its way at the same time and has what this one was to get.
            if (result.error().code == ErrorCode::conflict) return wait_for_step(ask);
            refuse(ask->call, result.error());
        });
        return true;
    }
    if (layout.error().code != ErrorCode::conflict) return refuse(ask->call, layout.error()), true;
    if (!expired) return false;
    v1::CreateStepReply reply;
    reply.set_wait(true);
    ask->call.reply_with(reply);
    return true;
}

Result<v1::CreateStepReply> Service::step_reply(const StepAsk& ask, const Events& events) const {
    v1::CreateStepReply reply;
    const auto model = engine_.model();
    const auto& made_for = model->jobs.get(ask.job.value);
    for (const auto& event : events) {
        const auto* started = std::get_if<StepStarted>(&event);
        const auto* step = started != nullptr ? model->find_step(started->step) : nullptr;
        if (step == nullptr || !made_for) continue;
        step_to_wire(*model, *step, *reply.mutable_step());
        layout_to_wire(*model, *step, *reply.mutable_layout());
        job_to_wire(*model, *made_for, {}, *reply.mutable_job());
        reply.set_kill_wait_s(model->directory->policies.kill_wait_s);
        v1::StepCredential credential;
        job_launch(*model, *made_for, *ask.owner, *credential.mutable_job());
        for (const auto& share : made_for->allocation->shares)
            share_to_wire(*model, share, *credential.mutable_job()->add_shares());
        *credential.mutable_step() = reply.step();
        *credential.mutable_layout() = reply.layout();
        credential.set_cpus_per_task(step->cpus_per_task);
        const auto now = static_cast<std::int64_t>(::time(nullptr));
        credential.set_issued(now);
        credential.set_expires(now + credential_lifetime_s);
        SPUR_TRY(*reply.mutable_credential(), hooks_.sign_step(credential.SerializeAsString()));
    }
    return reply;
}

void Service::finish_step(const Call& call) {
    const auto request = call.parse<v1::FinishStepRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const auto& job = model->jobs.get(request->job_id());
    if (!job) return refuse(call, refusal::invalid_job_id);
    if (const auto who = actor(call); job->spec->uid != who.uid && !who.is_operator())
        return refuse(call, refusal::denied);
    const StepKey key{job->id, StepId{request->step_id()}};
    std::vector<NodeId> not_begun;
    for (const auto& name : request->not_begun())
        if (const auto* node = model->find_node(name)) not_begun.push_back(node->id);
    // The state may have heard of the end first: that is no error.
    const auto decided = [this, call, key](const Answer& answer) {
        if (!answer.is_final()) return refuse(call, answer.result.error());
        await_step_end(call, key);
    };
    if (model->directory->state_version < version_with_step_ends)
        engine_.propose(FinishStep{key, job->attempt, EndCause::exited, request->exit_status(), {}}, decided);
    else if (not_begun.empty())
        await_step_end(call, key);
    else
        engine_.propose(
            StepNodeDone{key, job->attempt, std::move(not_begun), EndCause::exited, request->exit_status(), {}},
            decided);
}

// Whoever asks for the next step finds this one's place free.
void Service::await_step_end(const Call& call, StepKey key) {
    in_background([this, call, key] {
        watchers_.wait_for_job(key.job, std::chrono::steady_clock::now() + patience_with_nodes,
                               [call, key](const planning::ReadModel& model, bool expired) {
                                   if (call.abandoned()) return true;
                                   const auto* step = model.find_step(key);
                                   if (step && !step->is_over() && !expired) return false;
                                   call.reply_with(v1::Ack{});
                                   return true;
                               });
    });
}

// The agents are asked by whoever wants to know: nothing of what steps use passes through here before they end.
void Service::locate_steps(const Call& call) {
    const auto request = call.parse<v1::LocateStepsRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    v1::ListJobsRequest one;
    one.add_ids(request->job());
    one.add_states("all");
    const auto jobs = select_jobs(*model, one);
    if (!jobs) return refuse(call, jobs.error());
    if (jobs->empty()) return refuse(call, refusal::invalid_job_id);
    const auto& job = *jobs->front();
    const Privacy privacy{actor(call), *model};
    if (!privacy.shows(job)) return refuse(call, refusal::invalid_job_id);
    if (!privacy.shows_secrets(job)) return refuse(call, refusal::denied);

    v1::LocateStepsReply reply;
    job_to_wire(*model, job, {}, *reply.mutable_job());
    reply.mutable_job()->clear_spec();
    if (const auto& steps = model->steps.get(job.id.value))
        for (const auto& step : *steps)
            if (!step.is_over()) step_to_wire(*model, step, *reply.mutable_job()->add_steps());
    const auto now = static_cast<std::int64_t>(::time(nullptr));
    v1::MeasurePermit permit;
    permit.set_job_id(job.id.value);
    permit.set_attempt(job.attempt);
    permit.set_uid(call.caller().uid);
    permit.set_issued(now);
    permit.set_expires(now + credential_lifetime_s);
    auto credential = hooks_.sign_step(permit.SerializeAsString());
    if (!credential) return refuse(call, credential.error());
    reply.set_permit(*std::move(credential));
    call.reply_with(reply);
}

void Service::release_allocation(const Call& call) {
    const auto request = call.parse<v1::ReleaseAllocationRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const auto& job = model->jobs.get(request->job_id());
    if (!job) return refuse(call, refusal::invalid_job_id);
    const auto who = actor(call);
    if (job->spec->uid != who.uid && !who.is_operator()) return refuse(call, refusal::denied);
    if (job->is_pending()) {
        JobRef ref;
        ref.job = job->id.value;
        return change(call, CancelJob{ref, who}, [](const Events&) { return v1::Ack{}.SerializeAsString(); });
    }
    FinishJob command{.job = job->id,
                      .attempt = job->attempt,
                      .cause = job->spec->kind == JobKind::allocation ? EndCause::released : EndCause::exited,
                      .exit_status = request->exit_status(),
                      .detail = {}};
    engine_.propose(std::move(command), [this, call](const Answer& answer) {
        if (!answer.is_final()) return refuse(call, answer.result.error());
        call.reply_with(v1::Ack{});
    });
}

}  // namespace spur::ctld
