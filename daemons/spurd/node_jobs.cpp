// The controller's orders about jobs: launch, prolog, signal, suspend, end and epilog.
#include "daemons/spurd/node_jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "daemons/common/log/log.hpp"
#include "daemons/spurd/children.hpp"

namespace spur::agent {

namespace {

constexpr std::size_t recent_jobs = 4096;
constexpr std::uint32_t stale_wait_s = 5;  // for what the controller no longer knows: its place may be taken already

v1::StepReport report_for(const JobRun& job, std::uint32_t step, v1::StepReport::Kind kind) {
    v1::StepReport report;
    report.set_job_id(job.key.first);
    report.set_attempt(job.key.second);
    report.set_step_id(step);
    report.set_kind(kind);
    return report;
}

// What the job's stderr is told about its end; see EndOrder.
step::EndOrder end_order(const v1::EndJob& order) {
    step::EndOrder end;
    const auto& state = order.state();
    end.timed_out = state == "TIMEOUT";
    if (order.why().starts_with("DUE TO"))
        end.because = order.why();
    else if (state == "TIMEOUT")
        end.because = "DUE TO TIME LIMIT";
    else if (state == "PREEMPTED")
        end.because = "DUE TO PREEMPTION";
    else if (state == "NODE_FAIL")
        end.because = "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS";
    else if (state == "PENDING" || state == "REQUEUED")
        end.because = "DUE TO JOB REQUEUE";
    else if (state == "FAILED")
        end.because = "FAILED (non-zero exit code or other failure mode)";
    end.tell = !state.empty();
    end.has_wait = order.grace_s() != 0;
    end.wait_s = order.grace_s();
    return end;
}

// What hangs on the phases of a job on this node: the site's programs. Those of a step are in spurstepd.
struct Script {
    Phase phase;
    const char* name;
    const std::string& (v1::AgentPolicy::*program)() const;
    const char* context;  // SLURM_SCRIPT_CONTEXT
};
constexpr Script scripts[]{
    {Phase::job_prolog, "prolog", &v1::AgentPolicy::prolog, "prolog_slurmd"},
    {Phase::job_epilog, "epilog", &v1::AgentPolicy::epilog, "epilog_slurmd"},
};

std::string name(const JobKey& key) { return fmt::format("job {} (attempt {})", key.first, key.second); }

}  // namespace

NodeJobs::NodeJobs(Loop& loop, const NodeSetup& setup, JobStore& store, Launcher& launcher, Reports& reports,
                   StrayKiller kill_strays)
    : loop_{loop},
      setup_{setup},
      store_{store},
      launcher_{launcher},
      reports_{reports},
      kill_strays_{std::move(kill_strays)} {}

JobRun* NodeJobs::find(std::uint32_t job, std::uint32_t attempt) {
    const auto found = jobs_.find({job, attempt});
    return found == jobs_.end() ? nullptr : &found->second;
}

std::size_t NodeJobs::step_count() const {
    std::size_t count = 0;
    for (const auto& [key, job] : jobs_)
        for (const auto& [id, step] : job.steps) count += step.ended ? 0 : 1;
    return count;
}

std::vector<v1::StepOnNode> NodeJobs::held() const {
    std::vector<v1::StepOnNode> held;
    const auto add = [&](const JobRun& job, std::uint32_t step) {
        auto& entry = held.emplace_back();
        entry.set_job_id(job.key.first);
        entry.set_attempt(job.key.second);
        entry.set_step_id(step);
        entry.set_start_time(job.launch.job().start_time());
    };
    for (const auto& [key, job] : jobs_) {
        if (job.unknown_to_controller) continue;
        add(job, step_extern);  // the job itself
        if (job.batch) add(job, step_batch);
        for (const auto& [id, step] : job.steps)
            if (!step.is_reported()) add(job, id);
    }
    return held;
}

// ---- starting ------------------------------------------------------------------------------------------------------

// A controller with an older or a new state uses job numbers again. What is here under the same number is then another
// job, which has to end first. True if there is one; `again` is called once it has gone.
bool NodeJobs::is_in_the_way(const v1::JobLaunch& launch, std::function<void()> again) {
    auto* const here = find(launch.job_id(), launch.attempt());
    if (here == nullptr) return false;
    const bool is_same = here->launch.job().start_time() == launch.job().start_time();
    if (is_same && !here->unknown_to_controller) return false;
    if (!here->unknown_to_controller) {
        log::warning("{} is here from another state of the cluster; ending it for the one of that number now",
                     name(here->key));
        abandon(*here);
    }
    postponed_[here->key] = std::move(again);
    return true;
}

// Whether the very same start of the job has been carried out here, and is over.
const NodeJobs::Gone* NodeJobs::find_gone(const v1::JobLaunch& launch) const {
    const JobKey key{launch.job_id(), launch.attempt()};
    const auto gone = std::ranges::find_if(
        recent_, [&](const Gone& job) { return job.key == key && job.start_time == launch.job().start_time(); });
    return gone == recent_.end() ? nullptr : &*gone;
}

// The controller starts again what is over here: it has lost the report of its end.
void NodeJobs::tell_again(const Gone& job, const v1::JobLaunch& launch) {
    log::warning("{} has been here and is over, and the controller does not know", name(job.key));
    if (job.end) {
        reports_.add(*job.end, {});
    } else if (launch.job().spec().kind() != v1::JobSpec::BATCH) {
        JobRun over;
        over.key = job.key;
        auto report = report_for(over, step_extern, v1::StepReport::LAUNCH_FAILED);
        report.set_error("it has been on this node and was over; the controller's state is older than that");
        reports_.add(std::move(report), {});
    }
}

// A new job's record, or nullptr if it is here already or has been.
Result<JobRun*> NodeJobs::admit(const v1::JobLaunch& launch, bool runs_script) {
    const JobKey key{launch.job_id(), launch.attempt()};
    if (jobs_.contains(key)) return nullptr;
    if (const auto* gone = find_gone(launch)) {
        tell_again(*gone, launch);
        return nullptr;
    }
    for (auto& [other, job] : jobs_)
        if (other.first == key.first && other.second < key.second) {
            log::warning("{} is here while attempt {} is to start; ending it", name(other), key.second);
            job.unknown_to_controller = true;
            job.ending.emplace();
            end_steps(job);
        }
    auto& job = jobs_[key];
    job.key = key;
    job.launch = launch;
    job.launch.set_runs_script(runs_script);
    set_deadline(job.launch, launch.end_time(),
                 launch.has_remaining_s() ? std::optional{launch.remaining_s()} : std::nullopt);
    job.directory = store_.directory(key.first, key.second);
    if (geteuid() != 0 && launch.uid() != geteuid())
        return fail(
            ErrorCode::denied,
            "spurd on {} runs as uid {} and cannot start a job of uid {}; run spurd as root to serve several users",
            setup_.facts.node, geteuid(), launch.uid());
    SPUR_CHECK(store_.add(job.launch));
    return &job;
}

void NodeJobs::launch(const v1::LaunchBatch& order) {
    if (is_in_the_way(order.job(), [this, order] { launch(order); })) return;
    const auto admitted = admit(order.job(), true);
    auto* const job = find(order.job().job_id(), order.job().attempt());
    if (!admitted) return report_failure(*job, v1::StepReport::LAUNCH_FAILED, admitted.error().text);
    if (*admitted == nullptr) {
        // Asked again: the controller may have missed that it started. Its end, if any, is being reported already.
        if (job == nullptr) return;
        const auto batch = job->steps.find(step_batch);
        if (batch != job->steps.end() && batch->second.started && !batch->second.ended)
            step_started(*job, batch->second, {});
        return;
    }
    job->batch = order;
    if (const auto written = store_.add_script(order.job(), order.script()); !written) {
        job->batch.reset();
        return report_failure(*job, v1::StepReport::LAUNCH_FAILED, written.error().text);
    }
    begin(*job);
}

void NodeJobs::start(const v1::PrepareJob& order) {
    if (is_in_the_way(order.job(), [this, order] { start(order); })) return;
    const auto admitted = admit(order.job(), false);
    if (!admitted)
        return report_failure(*find(order.job().job_id(), order.job().attempt()), v1::StepReport::LAUNCH_FAILED,
                              admitted.error().text);
    if (*admitted != nullptr) begin(**admitted);
}

bool NodeJobs::has_scripts(Phase phase) const {
    return std::ranges::any_of(scripts, [&](const Script& script) {
        return script.phase == phase && !(setup_.policy.*script.program)().empty();
    });
}

// One after the other, until one fails.
void NodeJobs::run_scripts(const JobKey& key, Phase phase, ScriptsEnded ended, std::size_t from) {
    const auto* const job = find(key.first, key.second);
    if (job == nullptr) return;
    for (auto at = from; at < std::size(scripts); ++at) {
        const auto& script = scripts[at];
        const auto& program = (setup_.policy.*script.program)();
        if (script.phase != phase || program.empty()) continue;
        const GpuHolder holder{.job = job->launch.job_id(), .attempt = job->launch.attempt(), .uid = job->launch.uid()};
        const auto devices = setup_.gpus.bind(gpu_indexes(job->launch.share()), holder).variables;
        const auto pid = start_script(program, script_environment(job->launch, setup_.facts, devices, script.context));
        if (!pid) return (this->*ended)(key, pid.error().text);
        return watch_child(loop_, *pid, [this, key, phase, ended, at, program](int status) {
            if (status == 0) return run_scripts(key, phase, ended, at + 1);
            (this->*ended)(key, fmt::format("{} {} {}", scripts[at].name, program, describe_status(status)));
        });
    }
    (this->*ended)(key, {});
}

void NodeJobs::begin(JobRun& job) {
    job.phase = JobRun::Phase::prolog;
    run_scripts(job.key, Phase::job_prolog, &NodeJobs::prolog_ended);
}

void NodeJobs::prolog_ended(const JobKey& key, const std::string& error) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr) return;
    job->phase = JobRun::Phase::running;
    if (error.empty()) return open_gate(*job);
    log::error("{}: {}", name(key), error);
    job->batch.reset();
    job->prolog_failed = true;
    const auto waiting = std::exchange(job->waiting, {});
    report_failure(*job, v1::StepReport::PROLOG_FAILED, error);
    for (const auto& step : waiting) step(*job);
    check_end(*job);
}

// Steps may start from now on, unless the job has been told to end in the meantime.
void NodeJobs::open_gate(JobRun& job) {
    const auto key = job.key;
    const auto early = awaited_.extract(key);
    for (const auto& step : std::exchange(job.waiting, {})) step(job);
    if (!job.ending && job.batch) start_batch(job);
    if (!early.empty())
        for (const auto& request : early.mapped()) start_step(job, *request);
    check_end(job);
}

void NodeJobs::report_failure(JobRun& job, v1::StepReport::Kind kind, const std::string& error) {
    log::error("{}: {}", name(job.key), error);
    auto report = report_for(job, job.launch.runs_script() ? step_batch : step_extern, kind);
    report.set_error(error);
    report.set_exit_status(53);
    job.failure_report = reports_.add(std::move(report), [this, key = job.key] {
        auto* const heard = find(key.first, key.second);
        if (heard == nullptr) return;
        heard->failure_report = 0;
        forget_if_reported(*heard);
    });
}

// ---- ending --------------------------------------------------------------------------------------------------------

void NodeJobs::end(const v1::EndJob& order) {
    auto* const job = find(order.job_id(), order.attempt());
    if (job == nullptr || job->unknown_to_controller) {  // over, or never begun: nothing of it is here
        postponed_.erase({order.job_id(), order.attempt()});
        JobRun gone;
        gone.key = {order.job_id(), order.attempt()};
        reports_.add(report_for(gone, step_extern, v1::StepReport::EPILOG_DONE), {});
        return;
    }
    if (job->ending && job->phase == JobRun::Phase::done && job->done_report != 0) return;  // being reported
    job->ending = order;
    job->batch.reset();
    if (job->phase == JobRun::Phase::done) return report_done(*job);
    end_steps(*job);
    check_end(*job);
}

void NodeJobs::end_steps(JobRun& job) {
    auto order = end_order(*job.ending);
    if (job.unknown_to_controller) {
        order.has_wait = true;
        order.wait_s = stale_wait_s;
    }
    for (auto& [id, step] : job.steps)
        if (step.link) send_end(job, step, order);
}

// Once the last step has gone: the epilog, and then the report that the node is free of the job.
void NodeJobs::check_end(JobRun& job) {
    if (!job.ending || job.phase != JobRun::Phase::running || job.has_live_steps()) return;
    job.phase = JobRun::Phase::epilog;
    if (!has_scripts(Phase::job_epilog) || job.epilog_done || (!job.ending->run_epilog() && !job.unknown_to_controller))
        return report_done(job);
    run_scripts(job.key, Phase::job_epilog, &NodeJobs::epilog_ended);
}

void NodeJobs::epilog_ended(const JobKey& key, const std::string& error) {
    if (!error.empty()) log::error("{}: {}", name(key), error);
    auto* const job = find(key.first, key.second);
    if (job == nullptr) return;
    job->epilog_done = true;
    job->epilog_error = error;
    store_.note_epilog_done(job->directory);
    report_done(*job);
}

void NodeJobs::release_gpus(const JobRun& job, std::uint32_t step) {
    const auto indexes = gpu_indexes(job.launch.share());
    if (indexes.empty() || !setup_.release_gpus) return;
    setup_.release_gpus(setup_.gpus.held(
        indexes, {.job = job.launch.job_id(), .attempt = job.launch.attempt(), .step = step, .uid = job.launch.uid()}));
}

void NodeJobs::report_done(JobRun& job) {
    if (job.phase != JobRun::Phase::done) release_gpus(job);
    job.phase = JobRun::Phase::done;
    if (!job.unknown_to_controller) {
        auto report = report_for(job, step_extern, v1::StepReport::EPILOG_DONE);
        report.set_error(job.epilog_error);
        job.done_report = reports_.add(std::move(report), [this, key = job.key] {
            auto* const heard = find(key.first, key.second);
            if (heard == nullptr) return;
            heard->done_report = 0;
            forget_if_reported(*heard);
        });
    }
    forget_if_reported(job);
}

// Forgets the job once everything about it has been reported.
void NodeJobs::forget_if_reported(JobRun& job) {
    if (!job.is_reported()) return;
    const auto key = job.key;
    // Not now: callers still look at the record.
    loop_.post([this, key] {
        const auto found = jobs_.find(key);
        if (found != jobs_.end() && found->second.is_reported()) remove(key);
    });
}

void NodeJobs::remove(const JobKey& key) {
    store_.remove(store_.directory(key.first, key.second));
    auto job = jobs_.extract(key);
    for (auto& [id, step] : job.mapped().steps) loop_.cancel(step.watchdog);
    if (!job.mapped().unknown_to_controller)
        recent_.push_back({key, job.mapped().launch.job().start_time(), job.mapped().batch_end});
    if (recent_.size() > recent_jobs) recent_.pop_front();
    if (const auto next = postponed_.extract(key)) loop_.post(next.mapped());
}

// The controller does not know the job: it is ended, and its end is not reported.
void NodeJobs::abandon(JobRun& job) {
    job.unknown_to_controller = true;
    job.ending.emplace();
    job.batch.reset();
    for (auto& [id, step] : job.steps) reports_.withdraw(std::exchange(step.finished_report, 0));
    end_steps(job);
    check_end(job);
    if (job.phase == JobRun::Phase::done) forget_if_reported(job);
}

void NodeJobs::drop(const google::protobuf::RepeatedPtrField<v1::StepOnNode>& unknown) {
    for (const auto& held : unknown) {
        auto* const job = find(held.job_id(), held.attempt());
        if (job == nullptr || job->unknown_to_controller) continue;
        if (held.step_id() == step_extern) {
            log::warning("{} is not the controller's any more; ending it", name(job->key));
            abandon(*job);
        } else if (const auto step = job->steps.find(held.step_id()); step != job->steps.end()) {
            log::warning("step {}.{} is not the controller's any more; ending it", held.job_id(),
                         step::step_name(held.step_id()));
            reports_.withdraw(std::exchange(step->second.finished_report, 0));
            if (step->second.link) send_end(*job, step->second, {.wait_s = stale_wait_s, .has_wait = true});
        }
    }
}

// ---- signals, suspension, limits -----------------------------------------------------------------------------------

Result<void> NodeJobs::signal(const v1::SignalStep& order) {
    auto* const job = find(order.job_id(), order.attempt());
    if (job == nullptr) return fail(ErrorCode::not_found, "job {} is not on this node", order.job_id());
    using Target = step::SignalOrder::Target;
    bool found = false;
    for (auto& [id, step] : job->steps) {
        if (!step.link) continue;
        const bool is_batch = id == step_batch;
        const bool wanted = order.full() || (order.batch_only()  ? is_batch
                                             : order.all_steps() ? !is_batch
                                                                 : id == order.step_id());
        if (!wanted) continue;
        found = true;
        const auto target = order.signal() == SIGKILL || order.full() ? Target::everything
                            : is_batch                                ? Target::leaders
                                                                      : Target::tasks;
        step.link->send(step::FrameType::signal, encode(step::SignalOrder{order.signal(), target}));
        if (order.signal() == SIGKILL) expect_end(*job, step, std::chrono::seconds{0});
    }
    if (!found && !order.all_steps() && !order.full() && !order.batch_only())
        return fail(ErrorCode::not_found, "step {}.{} is not running on this node", order.job_id(),
                    step::step_name(order.step_id()));
    return {};
}

Result<void> NodeJobs::suspend(const v1::SuspendJob& order) {
    auto* const job = find(order.job_id(), order.attempt());
    if (job == nullptr) return fail(ErrorCode::not_found, "job {} is not on this node", order.job_id());
    for (auto& [id, step] : job->steps)
        if (step.link) step.link->send(order.resume() ? step::FrameType::resume : step::FrameType::suspend, "");
    return {};
}

void NodeJobs::set_limit(const v1::UpdateLimits& order) {
    auto* const job = find(order.job_id(), order.attempt());
    if (job == nullptr) return;
    set_deadline(job->launch, order.end_time(),
                 order.has_remaining_s() ? std::optional{order.remaining_s()} : std::nullopt);
    const auto grace = std::int64_t{setup_.policy.over_time_min()} * 60;
    step::LimitOrder limit;
    if (order.end_time() != 0) limit = {order.end_time() + grace, job->launch.end_boot_s() + grace};
    for (auto& [id, step] : job->steps)
        if (step.link) step.link->send(step::FrameType::limit, encode(limit));
}

}  // namespace spur::agent
