// The steps of this node's jobs: starting them, hearing from them, finding them again after a restart.
#include <algorithm>
#include <csignal>
#include <utility>

#include "core/slurm/refusal.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurd/children.hpp"
#include "daemons/spurd/node_jobs.hpp"
#include "daemons/spurd/strays.hpp"

namespace spur::agent {

namespace {

using namespace std::chrono_literals;
constexpr auto job_patience = 10s;    // srun may be faster than the controller's word about the job
constexpr auto srun_patience = 30s;   // for srun to find a spurd that was restarted
constexpr auto start_patience = 2s;   // for a step daemon to show itself after spurd has died and come back
constexpr auto measure_patience = 5s;  // for a step daemon to say what its step uses
constexpr auto sweep_patience = 10s;  // for processes that were sent SIGKILL to be gone

bool is_of(const step::StepResult& result, const JobKey& key, std::uint32_t step) {
    return result.job == key.first && result.attempt == key.second && result.step == step;
}

void usage_to_wire(const step::StepUsage& usage, v1::StepUsage& wire) {
    wire.set_user_us(usage.user_us);
    wire.set_system_us(usage.system_us);
    wire.set_max_rss_kib(usage.max_rss_kib);
    wire.set_read_bytes(usage.read_bytes);
    wire.set_write_bytes(usage.write_bytes);
}

void tasks_to_wire(const std::vector<step::TaskUse>& tasks, google::protobuf::RepeatedPtrField<v1::TaskUsage>& wire) {
    for (const auto& task : tasks) {
        auto& out = *wire.Add();
        out.set_task(task.task);
        out.mutable_values()->Add(task.values.begin(), task.values.end());
    }
}

// About the step whose daemon this result came from, whatever the result says it is of.
v1::StepReport report_of(const JobKey& key, std::uint32_t step, const step::StepResult& result) {
    v1::StepReport report;
    report.set_job_id(key.first);
    report.set_attempt(key.second);
    report.set_step_id(step);
    // A step that could not be launched ends like any other; only a batch script takes its job with it.
    // A script whose files cannot be opened fails where it is: on another node they would be missing too.
    const bool batch_failed = result.launch_failed && !result.user_error && step == step_batch;
    report.set_kind(batch_failed ? v1::StepReport::LAUNCH_FAILED : v1::StepReport::FINISHED);
    const bool step_failed = result.launch_failed && step != step_batch;
    report.set_exit_status(step_failed ? 1 << 8 : result.status);
    report.set_error(result.error);
    report.set_drain(result.drain);
    report.set_lost(result.lost);
    report.set_oom(result.oom);
    report.set_timed_out(result.timed_out);
    report.set_time(result.time);
    usage_to_wire(result.usage, *report.mutable_usage());
    tasks_to_wire(result.tasks, *report.mutable_tasks());
    return report;
}

}  // namespace

// ---- starting ------------------------------------------------------------------------------------------------------

void NodeJobs::start_batch(JobRun& job) {
    auto batch = *std::exchange(job.batch, std::nullopt);
    copy_deadline(job.launch, *batch.mutable_job());
    const auto started = start_daemon(job, plan_batch(batch, setup_, job.directory), nullptr);
    if (!started) report_failure(job, v1::StepReport::LAUNCH_FAILED, started.error().text);
}

void NodeJobs::run_step(StepRequest request) {
    const JobKey key{request.credential.job().job_id(), request.credential.job().attempt()};
    auto* const job = find(key.first, key.second);
    if (job == nullptr && find_gone(request.credential.job()) != nullptr)
        return request.client->failed(fmt::format("job {} is over on node {}", key.first, setup_.facts.node));
    if (job == nullptr) {
        const auto late = std::make_shared<StepRequest>(std::move(request));
        awaited_[key].push_back(late);
        loop_.after(job_patience, [this, key, late] {
            const auto found = awaited_.find(key);
            if (found == awaited_.end() || std::erase(found->second, late) == 0) return;
            if (found->second.empty()) awaited_.erase(found);
            late->client->failed(fmt::format("job {} is not on node {}", key.first, setup_.facts.node));
        });
        return;
    }
    if (job->phase != JobRun::Phase::prolog) return start_step(*job, request);
    job->waiting.push_back(
        [this, held = std::make_shared<StepRequest>(std::move(request))](JobRun& ready) { start_step(ready, *held); });
}

void NodeJobs::start_step(JobRun& job, StepRequest& request) {
    const auto id = request.credential.step().step_id();
    if (job.prolog_failed) return request.client->failed(std::string{refusal::prolog_failed.sentence});
    if (job.ending || job.failure_report != 0 || job.phase != JobRun::Phase::running)
        return request.client->failed(fmt::format("job {} is ending on node {}", job.key.first, setup_.facts.node));
    if (!job.seen_steps.insert(id).second)
        return request.client->failed(
            fmt::format("step {}.{} was started on node {} before; a credential is good for one launch", job.key.first,
                        step::step_name(id), setup_.facts.node));
    copy_deadline(job.launch, *request.credential.mutable_job());
    const StepView view{.credential = request.credential,
                        .launch = request.launch,
                        .node = request.node,
                        .launcher_address = request.launcher_address,
                        .umask = request.launch.umask()};
    const auto spec = plan_step(view, setup_, job.directory);
    if (!spec) return request.client->failed(spec.error().text);
    if (const auto started = start_daemon(job, *spec, request.client); !started)
        request.client->failed(started.error().text);
}

Result<void> NodeJobs::start_daemon(JobRun& job, step::LaunchSpec spec, std::shared_ptr<StepClient> client) {
    if (!setup_.unfit.empty()) return fail(ErrorCode::unavailable, "{}", setup_.unfit);
    spec.environment.push_back(step_mark(setup_.cookie, job.key.first, job.key.second, spec.step));
    SPUR_TRY(auto socket, launcher_.new_step());
    auto& step = job.steps[spec.step];
    step.step = spec.step;
    step.client = std::move(client);
    job.seen_steps.insert(spec.step);
    step.spec = encode(spec);
    attach(job, step, std::move(socket));
    step.link->send(step::FrameType::spec, *step.spec);
    return {};
}

// The zygote died before it could fork: a step daemon says hello before it does anything, so nothing was run.
bool NodeJobs::start_again(JobRun& job, StepRun& step) {
    if (!step.spec || std::exchange(step.tried_again, true)) return false;
    auto socket = launcher_.new_step(true);
    if (!socket) return false;
    loop_.post([link = std::shared_ptr<StepLink>{std::move(step.link)}] {});  // we are inside one of its calls
    attach(job, step, *std::move(socket));
    step.link->send(step::FrameType::spec, *step.spec);
    return true;
}

void NodeJobs::attach(JobRun& job, StepRun& step, step::FrameSocket socket) {
    step.link = std::make_unique<StepLink>(loop_, std::move(socket));
    const auto key = job.key;
    const auto id = step.step;
    step.link->listen({.on_frame = [this, key, id](const step::Frame& frame) { take_frame(key, id, frame); },
                       .on_closed = [this, key, id] { link_closed(key, id); },
                       .on_drained = {}});
}

// ---- hearing from them ---------------------------------------------------------------------------------------------

void NodeJobs::take_frame(const JobKey& key, std::uint32_t id, const step::Frame& frame) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr || !job->steps.contains(id)) return;
    auto& step = job->steps.at(id);
    step.heard = Loop::Clock::now();
    switch (frame.type) {
        case step::FrameType::hello:
            step.spec.reset();
            step.daemon = open_process(step.link->sender());
            break;
        case step::FrameType::started:
            if (const auto started = step::decode<step::Started>(frame.payload)) step_started(*job, step, *started);
            break;
        case step::FrameType::output:
            if (const auto chunk = step::decode<step::Chunk>(frame.payload); chunk && step.client) {
                step.client->output(*chunk);
                if (step.client->is_congested()) step.link->pause(true);
            }
            break;
        case step::FrameType::input_taken:
            if (const auto bytes = step::decode<step::Count>(frame.payload); bytes && step.client)
                step.client->input_taken(bytes->number);
            break;
        case step::FrameType::task_exit:
            if (const auto exited = step::decode<step::TaskExit>(frame.payload); exited && step.client)
                step.client->task_exited(*exited);
            break;
        case step::FrameType::resumed:
            if (const auto inputs = step::decode<step::Count>(frame.payload); inputs && step.client)
                step.client->resumed(inputs->number);
            break;
        case step::FrameType::aborted:
            if (step.client) step.client->aborted();
            break;
        case step::FrameType::finished:
            if (const auto result = step::decode_result(frame.payload); result && is_of(*result, key, id))
                step_ended(*job, step, *result);
            else
                log::error("the daemon of step {}.{} reports the end of something else; that is ignored", key.first,
                           step::step_name(id));
            break;
        case step::FrameType::usage:
            if (const auto readings = step::decode_readings(frame.payload)) answer_question(*readings);
            break;
        case step::FrameType::log:
            log::warning("step {}.{}: {}", key.first, step::step_name(id),
                         frame.payload.substr(std::min<std::size_t>(1, frame.payload.size())));
            break;
        default:
            break;  // a newer spurstepd may say more than we understand
    }
}

void NodeJobs::step_started(JobRun& job, StepRun& step, const step::Started& started) {
    const bool known = std::exchange(step.started, true);
    if (step.client && !started.tasks.empty()) step.client->started(started);
    if (known || job.unknown_to_controller || step.started_report != 0) return;
    v1::StepReport report;
    report.set_job_id(job.key.first);
    report.set_attempt(job.key.second);
    report.set_step_id(step.step);
    report.set_kind(v1::StepReport::STARTED);
    step.started_report = reports_.add(std::move(report), [this, key = job.key, id = step.step] {
        auto* const heard = find(key.first, key.second);
        if (heard != nullptr && heard->steps.contains(id)) heard->steps.at(id).started_report = 0;
    });
}

// The end of a batch job that has nothing else anywhere: one report ends it.
bool NodeJobs::ends_job_here(const JobRun& job, const StepRun& step) const {
    return step.step == step_batch && !job.ending && setup_.policy.epilog().empty() && !job.has_live_steps() &&
           job.launch.job().node_count() <= 1 && job.failure_report == 0;
}

void NodeJobs::step_ended(JobRun& job, StepRun& step, const step::StepResult& result) {
    if (step.ended) return;
    step.ended = true;
    loop_.cancel(step.watchdog);
    step.status = result.status;
    loop_.post([link = std::shared_ptr<StepLink>{std::move(step.link)}] {});  // we are inside one of its calls
    reports_.withdraw(std::exchange(step.started_report, 0));
    release_gpus(job, step.step);
    if (step.step == step_batch) job.launch.mutable_job()->set_exit_status(result.status);
    if (step.client) {
        if (result.launch_failed)
            step.client->failed(result.error);
        else
            step.client->ended(result.status);
        step.client.reset();
    }
    if (!job.unknown_to_controller) {
        auto report = report_of(job.key, step.step, result);
        if (report.kind() == v1::StepReport::FINISHED && ends_job_here(job, step)) {
            report.set_node_done(true);
            release_gpus(job);
            job.phase = JobRun::Phase::done;
        }
        if (step.step == step_batch) job.batch_end = report;
        step.finished_report = reports_.add(std::move(report), [this, key = job.key, id = step.step] {
            auto* const heard = find(key.first, key.second);
            if (heard == nullptr || !heard->steps.contains(id)) return;
            heard->steps.at(id).finished_report = 0;
            if (heard->phase != JobRun::Phase::done) store_.remove_result(heard->directory, id);
            forget_if_reported(*heard);
        });
    }
    check_end(job);
    forget_if_reported(job);
}

// Gone without a result: it was killed, or never got as far as starting.
void NodeJobs::link_closed(const JobKey& key, std::uint32_t id) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr || !job->steps.contains(id) || job->steps.at(id).ended) return;
    auto& step = job->steps.at(id);
    if (start_again(*job, step)) return;
    log::error("the step daemon of {}.{} died", key.first, step::step_name(id));
    loop_.post([link = std::shared_ptr<StepLink>{std::move(step.link)}] {});  // we are inside one of its calls
    step.swept_until = Loop::Clock::now() + sweep_patience;
    sweep(key, id);
}

// ---- what srun says ------------------------------------------------------------------------------------------------

StepRun* NodeJobs::find_live(const StepId& id) {
    auto* const job = find(id.job, id.attempt);
    if (job == nullptr) return nullptr;
    const auto step = job->steps.find(id.step);
    return step == job->steps.end() || !step->second.link ? nullptr : &step->second;
}

void NodeJobs::send_input(const StepId& id, const step::Chunk& chunk) {
    if (auto* const step = find_live(id)) step->link->send(step::FrameType::input, encode(chunk));
}

void NodeJobs::send_signal(const StepId& id, std::uint32_t number) {
    using Target = step::SignalOrder::Target;
    if (auto* const step = find_live(id))
        step->link->send(step::FrameType::signal,
                         encode(step::SignalOrder{number, number == SIGKILL ? Target::everything : Target::tasks}));
}

void NodeJobs::send_window(const StepId& id, const step::WindowSize& size) {
    if (auto* const step = find_live(id)) step->link->send(step::FrameType::window, encode(size));
}

void NodeJobs::attach_client(const StepId& id, std::uint64_t received, const std::shared_ptr<StepClient>& client) {
    auto* const job = find(id.job, id.attempt);
    const auto found = job == nullptr ? decltype(job->steps.end()){} : job->steps.find(id.step);
    if (job == nullptr || found == job->steps.end())
        return client->failed(
            fmt::format("step {}.{} is not on node {}", id.job, step::step_name(id.step), setup_.facts.node));
    auto& step = found->second;
    if (step.ended) return client->ended(step.status);
    if (!step.link) return client->failed("its spurstepd died");
    step.client = client;
    step.link->pause(false);
    step.link->send(step::FrameType::attach, encode(step::Count{received}));
}

void NodeJobs::send_received(const StepId& id, std::uint64_t count) {
    if (auto* const step = find_live(id)) step->link->send(step::FrameType::received, encode(step::Count{count}));
}

void NodeJobs::client_ready(const StepId& id) {
    if (auto* const step = find_live(id)) step->link->pause(false);
}

void NodeJobs::client_gone(const StepId& id, const StepClient* client, bool keep) {
    auto* const step = find_live(id);
    if (step == nullptr || step->client.get() != client) return;
    step->client.reset();
    step->link->pause(false);
    step->link->send(step::FrameType::discard, "");
    if (!keep) send_end(*find(id.job, id.attempt), *step, {.tell = false});
}

// ---- sstat ---------------------------------------------------------------------------------------------------------

void NodeJobs::measure(const StepId& id, MeasureAnswer answer) {
    auto* const step = find_live(id);
    if (step == nullptr || !step->started)
        return answer(fail(ErrorCode::not_found, "step {}.{} does not run on node {}", id.job, step::step_name(id.step),
                           setup_.facts.node));
    const auto number = ++last_question_;
    questions_.emplace(number, std::move(answer));
    step->link->send(step::FrameType::measure, encode(step::Count{number}));
    loop_.after(measure_patience, [this, number, id] {
        const auto found = questions_.extract(number);
        if (found.empty()) return;
        found.mapped()(fail(ErrorCode::unavailable, "the step daemon of {}.{} does not say what it uses", id.job,
                            step::step_name(id.step)));
    });
}

void NodeJobs::answer_question(const step::Readings& readings) {
    const auto found = questions_.extract(readings.number);
    if (found.empty()) return;
    v1::MeasureStepReply reply;
    usage_to_wire(readings.usage, *reply.mutable_usage());
    tasks_to_wire(readings.tasks, *reply.mutable_tasks());
    reply.mutable_pids()->Add(readings.pids.begin(), readings.pids.end());
    found.mapped()(std::move(reply));
}

// ---- after a restart -----------------------------------------------------------------------------------------------

void NodeJobs::adopt() {
    const bool new_boot = store_.is_new_boot(setup_.hardware.boot_id);
    for (auto& stored : store_.load()) adopt_job(std::move(stored), new_boot);
    if (new_boot) store_.note_boot(setup_.hardware.boot_id);  // only now: whoever dies before this begins again
    if (!jobs_.empty()) log::info("took over {} jobs with {} running steps", jobs_.size(), step_count());
}

void NodeJobs::adopt_job(StoredJob stored, bool new_boot) {
    const JobKey key{stored.launch.job_id(), stored.launch.attempt()};
    const bool tells =
        std::ranges::any_of(stored.steps, [](const StoredStep& step) { return step.result.has_value(); });
    if (new_boot && !tells) {  // the controller knows from the boot id that it is lost
        store_.remove(stored.directory);
        return;
    }
    auto& job = jobs_[key];
    job.key = key;
    job.launch = stored.launch;
    job.directory = stored.directory;
    job.epilog_done = stored.epilog_done;
    for (const auto& found : stored.steps) adopt_step(job, found);
    if (job.launch.runs_script() && !job.steps.contains(step_batch))
        loop_.after(start_patience, [this, key] { look_again(key); });
}

void NodeJobs::adopt_step(JobRun& job, const StoredStep& found) {
    auto& step = job.steps[found.step];
    step.step = found.step;
    step.started = true;
    job.seen_steps.insert(found.step);
    if (auto socket = found.result ? std::nullopt : JobStore::connect(job.directory, found.step)) {
        attach(job, step, *std::move(socket));
        if (found.step == step_batch) return;
        loop_.after(srun_patience, [this, id = StepId{job.key.first, job.key.second, found.step}] {
            client_gone(id, nullptr, false);
        });
        return;
    }
    // It may have ended between our look at the directory and the attempt to connect.
    const auto result = found.result ? found.result : store_.find_result(job.directory, found.step);
    if (result && is_of(*result, job.key, found.step))
        step_ended(job, step, *result);
    else
        link_closed(job.key, found.step);
}

bool NodeJobs::holds_step(const JobKey& key, std::uint32_t id) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr) return false;
    if (!job->steps.contains(id) && JobStore::connect(job->directory, id)) adopt_step(*job, {id, true, std::nullopt});
    const auto step = job->steps.find(id);
    return step != job->steps.end() && step->second.link != nullptr;
}

// spurd died just as it started the batch step: by now the step daemon has shown itself, or it never will.
void NodeJobs::look_again(const JobKey& key) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr || job->steps.contains(step_batch)) return;
    const auto result = store_.find_result(job->directory, step_batch);
    if (result || JobStore::connect(job->directory, step_batch)) return adopt_step(*job, {step_batch, !result, result});
    report_failure(*job, v1::StepReport::LAUNCH_FAILED, "spurd was restarted while the job was being started");
    check_end(*job);
}

}  // namespace spur::agent
