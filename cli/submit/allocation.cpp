// Getting nodes and giving them back.
#include "cli/submit/allocation.hpp"

#include "cli/common/job_text.hpp"
#include "cli/submit/common.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace spur::cli::submit {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 30s;  // of one question to the controller; it is asked again

// While we wait, a signal means the user has changed their mind: the request is given back and the program ends.
// Waiting for signals needs a thread, since the main one is inside a call.
class SignalGuard {
public:
    SignalGuard(const Session& session, const Console& console, const AllocationRequest& request, std::uint32_t job)
        : cluster_(session.cluster()), console_(console), request_(request), job_(job) {
        ::sigemptyset(&signals_);
        for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE})
            ::sigaddset(&signals_, number);
        ::sigaddset(&signals_, SIGALRM);  // how the destructor wakes the thread
        ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
        thread_ = std::thread([this] { watch(); });
    }
    ~SignalGuard() {
        done_ = true;
        ::pthread_kill(thread_.native_handle(), SIGALRM);
        thread_.join();
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

    // Does not come back if a signal is ending the program: it says all there is to say.
    void let_it_leave() {
        if (leaving_) thread_.join();
    }

private:
    void watch() {
        int number = 0;
        while (::sigwait(&signals_, &number) == 0) {
            if (done_) return;
            if (number == SIGALRM || number == SIGPIPE) continue;
            leaving_ = true;
            give_back();
            std::_Exit(error_exit_code(1));
        }
    }
    void give_back() {
        std::string controllers;
        for (const auto& endpoint : cluster_.controllers)
            controllers += (controllers.empty() ? "" : ",") + endpoint.text();
        if (auto session = Session::open(controllers)) release(*session, job_, 0);
        if (request_.tool == salloc) {
            console_.info("Job allocation {} has been revoked.", job_);
            console_.info("Job aborted due to signal");
        } else {
            console_.info("Job allocation {} has been revoked", job_);
            console_.info("Force Terminated JobId={}", job_);
        }
    }

    Cluster cluster_;
    const Console& console_;
    const AllocationRequest& request_;
    std::uint32_t job_;
    sigset_t signals_{}, before_{};
    std::atomic<bool> done_ = false, leaving_ = false;
    std::thread thread_;
};

int refuse(const Console& console, const AllocationRequest& request, const Failure& failure, int code) {
    explain_refusal(console, failure, request.submit.components(0));
    console.error("{}: {}", request.failure_prefix, failure.text);
    return error_exit_code(code);
}

Answer<v1::AwaitAllocationReply> await(Session& session, std::uint32_t job, std::chrono::milliseconds wait) {
    v1::AwaitAllocationRequest request;
    request.set_job_id(job);
    request.set_timeout_ms(static_cast<std::uint32_t>(wait.count()));
    return session.call<v1::AwaitAllocationReply>(
        "AwaitAllocation", request, {.timeout = wait + 30s, .idempotent = true, .metadata = {}, .long_poll = true});
}

// Why waiting may take long, where that is known from the start.
std::string_view standing_note(const v1::Job& job) {
    if (job.reason() == "JobHeldUser" || job.reason() == "JobHeldAdmin") return refusal::job_held.sentence;
    if (job.reason().starts_with("Partition")) return refusal::partition_config.sentence;
    return {};
}

// A job that ended before it was ours.
int report_end(const Console& console, const AllocationRequest& request, const v1::Job& job) {
    if (job_state(job).state == JobState::cancelled) console.info("Job has been cancelled");
    console.error("{}: {}", request.failure_prefix, refusal::already_done.sentence);
    return error_exit_code(1);
}

}  // namespace

std::expected<v1::Job, int> allocate(Session& session, const Console& console, const AllocationRequest& request) {
    auto call = Session::write_options();
    call.idempotent = true;  // the request's id makes a second sending harmless
    const auto submitted = session.call<v1::SubmitReply>("Submit", request.submit, call);
    if (!submitted) return std::unexpected(refuse(console, request, submitted.error(), 1));
    for (const auto& warning : submitted->warnings()) console.error("{}", warning);
    const auto job = submitted->job_id();

    const auto started = std::chrono::steady_clock::now();
    bool announced = false;
    SignalGuard guard(session, console, request, job);
    const auto left = [&] {  // of the time --immediate gives
        const auto limit = std::chrono::seconds(request.immediate_s.value_or(0));
        const auto used = std::chrono::steady_clock::now() - started;
        return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(limit - used), 1ms);
    };
    for (auto wait = std::chrono::milliseconds(200);; wait = patience) {
        const auto reply = await(session, job, request.immediate_s ? left() : wait);
        if (!reply && reply.error().code == ErrorCode::unavailable) {
            std::this_thread::sleep_for(500ms);  // a controller that restarts has kept the request
            continue;
        }
        guard.let_it_leave();
        if (!reply) return std::unexpected(refuse(console, request, reply.error(), 1));
        if (job_state(reply->job()).is_finished()) return std::unexpected(report_end(console, request, reply->job()));
        if (reply->ready()) {
            if (announced && !request.quiet) console.info("job {} has been allocated resources", job);
            return reply->job();
        }
        const auto waited = std::chrono::steady_clock::now() - started;
        if (request.immediate_s && waited >= std::chrono::seconds(*request.immediate_s)) {
            release(session, job, 0);
            console.error("Unable to allocate resources: {}", refusal::not_top_priority.sentence);
            if (request.tool == salloc) console.info("Job allocation {} has been revoked.", job);
            return std::unexpected(immediate_exit_code(1));
        }
        if (request.immediate_s) continue;
        if (!announced && !request.quiet) {
            if (request.tool == salloc) console.info("Pending job allocation {}", job);
            if (const auto why = standing_note(reply->job()); !why.empty()) console.info("{}", why);
            console.info("job {} queued and waiting for resources", job);
        }
        announced = true;
    }
}

void release(Session& session, std::uint32_t job, std::uint32_t wait_status) {
    v1::ReleaseAllocationRequest request;
    request.set_job_id(job);
    request.set_exit_status(wait_status);
    auto call = Session::write_options();
    call.idempotent = true;
    static_cast<void>(session.call<v1::Ack>("ReleaseAllocation", request, call));
}

environment::Variables allocation_variables(const v1::Job& job, const SubmitOptions& options,
                                            const std::string& cluster, const std::string& submit_dir,
                                            const std::string& submit_host) {
    environment::Variables variables;
    variables.set_if("SLURM_CLUSTER_NAME", cluster);
    add_allocation(variables, environment::command, environment::Allocation{job});
    add_submitter(variables, submit_dir, submit_host);
    add_request(variables, environment::command, {options.spec, task_count(job), options.gpus_per_node, {}});
    return variables;
}

environment::Variables component_variables(const std::vector<v1::Job>& jobs,
                                           const std::vector<SubmitOptions>& components, const std::string& cluster,
                                           const std::string& submit_dir, const std::string& submit_host) {
    std::vector<environment::Variables> parts;
    std::uint64_t tasks = 0;
    for (std::size_t i = 0; i < std::min(jobs.size(), components.size()); ++i) {
        tasks += task_count(jobs[i]);
        parts.push_back(allocation_variables(jobs[i], components[i], {}, {}, {}));
    }
    environment::Variables variables;
    add_components(variables, parts);
    for (const auto* name : {"SLURM_NTASKS", "SLURM_NPROCS"}) variables.set(name, tasks);
    for (const auto* name : {"SLURM_JOB_ID", "SLURM_JOBID"}) variables.set(name, jobs.front().id());
    variables.set("SLURM_CLUSTER_NAME", cluster);
    add_submitter(variables, submit_dir, submit_host);
    return variables;
}

}  // namespace spur::cli::submit
