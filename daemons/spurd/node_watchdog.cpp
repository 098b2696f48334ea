// Steps that do not end: a step daemon that hangs when it is told to end is killed with all that is below it, and what
// outlives its daemon is looked for until it is gone. What cannot be killed at all closes the node.
#include <csignal>

#include "core/slurm/refusal.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurd/children.hpp"
#include "daemons/spurd/node_jobs.hpp"

namespace spur::agent {

namespace {

using namespace std::chrono_literals;
using Clock = Loop::Clock;

// Beyond the wait before SIGKILL. A step daemon that is at work says so every second; one that hands over the last of
// the output, or waits for a file to take it, is silent for up to ten.
constexpr auto silence = 20s;
constexpr auto death_patience = 5s;  // for a daemon that was sent SIGKILL
constexpr auto sweep_pause = 100ms;
constexpr const char* kill_failed = refusal::kill_failed.sentence.data();
constexpr std::uint32_t lost_status = 1;  // 0:1, what Slurm's listings show for it

}  // namespace

void NodeJobs::send_end(const JobRun& job, StepRun& step, const step::EndOrder& order) {
    step.link->send(step::FrameType::end, encode(order));
    expect_end(job, step, std::chrono::seconds{order.has_wait ? order.wait_s : setup_.policy.kill_wait_s()});
}

// A second order may shorten the wait, never lengthen it.
void NodeJobs::expect_end(const JobRun& job, StepRun& step, std::chrono::seconds wait) {
    const auto due = Clock::now() + wait + silence;
    if (step.over_by && *step.over_by <= due) return;
    step.over_by = due;
    loop_.cancel(step.watchdog);
    step.watchdog = loop_.after(due - Clock::now(), [this, key = job.key, id = step.step] { look_after(key, id); });
}

// It should be over. One that still talks gets time; one that does not, or has had it, is killed.
void NodeJobs::look_after(const JobKey& key, std::uint32_t id) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr || !job->steps.contains(id)) return;
    auto& step = job->steps.at(id);
    step.watchdog = 0;
    if (step.ended || !step.link) return;
    const auto again = [&](Clock::duration delay) {
        step.watchdog = loop_.after(delay, [this, key, id] { look_after(key, id); });
    };
    if (step.link->is_paused()) {  // it is srun that does not listen: it has had its chance
        if (step.client) step.client->failed("srun did not read while its step was being ended");
        step.client.reset();
        step.link->send(step::FrameType::discard, "");
        step.link->pause(false);
        return again(silence);
    }
    if (const auto quiet = Clock::now() - step.heard; quiet < silence) return again(silence - quiet);
    if (step.killed) return give_up(*job, step, "its spurstepd hangs and cannot be killed", kill_failed);
    log::error("the step daemon of {}.{} does not answer the order to end; killing it", key.first, step::step_name(id));
    step.killed = true;
    kill_strays_(job->launch, id);
    agent::send_signal(step.daemon, SIGKILL);
    again(death_patience);  // sooner or later its connection closes, and that is the end of it
}

// Its daemon is gone. The step is over once nothing is found any more.
void NodeJobs::sweep(const JobKey& key, std::uint32_t id) {
    auto* const job = find(key.first, key.second);
    if (job == nullptr || !job->steps.contains(id) || job->steps.at(id).ended) return;
    auto& step = job->steps.at(id);
    const bool remains = kill_strays_(job->launch, id);
    step.started = step.started || remains;  // it died before it could say so
    if (remains && Clock::now() < step.swept_until) {
        loop_.cancel(step.watchdog);
        step.watchdog = loop_.after(sweep_pause, [this, key, id] { sweep(key, id); });
        return;
    }
    const auto* const error = step.started ? "its spurstepd died" : "spurstepd could not be started";
    give_up(*job, step, error, remains ? kill_failed : "");
}

// Nobody knows how it would have ended. If it was told to end, it counts as ended.
void NodeJobs::give_up(JobRun& job, StepRun& step, const std::string& error, const std::string& drain) {
    if (!drain.empty())
        log::error("processes of step {}.{} cannot be killed", job.key.first, step::step_name(step.step));
    step::StepResult result;
    result.job = job.key.first;
    result.attempt = job.key.second;
    result.step = step.step;
    result.launch_failed = !step.started;
    result.lost = step.started && !step.over_by;
    result.status = result.lost ? lost_status : SIGKILL;
    result.error = error;
    result.drain = drain;
    step_ended(job, step, result);
}

}  // namespace spur::agent
