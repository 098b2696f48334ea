// The jobs of this node: carries out what the controller orders and reports what became of it. Lives on the loop.
//
// Every order may come twice. Orders are keyed by (job, attempt); what is over or unknown is answered as done.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/slurm/phase.hpp"
#include "daemons/spurd/job_run.hpp"
#include "daemons/spurd/job_store.hpp"
#include "daemons/spurd/launcher.hpp"
#include "daemons/spurd/reports.hpp"
#include "daemons/spurd/step_plan.hpp"
#include "spur/v1/agent.pb.h"

namespace spur::agent {

// Sends SIGKILL to what a step daemon that died without a word left behind, or cannot end itself. True: there was
// something, so it is to be looked for again.
using StrayKiller = std::function<bool(const v1::JobLaunch& job, std::uint32_t step)>;

class NodeJobs {
public:
    NodeJobs(Loop& loop, const NodeSetup& setup, JobStore& store, Launcher& launcher, Reports& reports,
             StrayKiller kill_strays);

    void adopt();  // what an earlier spurd left; once, before the first session
    // Is the daemon of this step alive and known here? One that showed itself after adopt() had looked is taken over
    // now.
    bool holds_step(const JobKey& key, std::uint32_t step);
    [[nodiscard]] bool holds_job(const JobKey& key) const { return jobs_.contains(key); }
    [[nodiscard]] std::vector<v1::StepOnNode> held() const;
    void forget_gone() { recent_.clear(); }  // their numbers mean other jobs from now on
    void drop(const google::protobuf::RepeatedPtrField<v1::StepOnNode>& unknown);

    // the controller's orders
    void launch(const v1::LaunchBatch& order);
    void start(const v1::PrepareJob& order);
    Result<void> signal(const v1::SignalStep& order);
    void end(const v1::EndJob& order);
    Result<void> suspend(const v1::SuspendJob& order);
    void set_limit(const v1::UpdateLimits& order);

    // srun. The credential has been verified; the step starts once the job is known here and its prolog is through.
    struct StepRequest {
        v1::StepCredential credential;
        v1::StepLaunch launch;
        int node{};
        std::string launcher_address;
        std::shared_ptr<StepClient> client;
    };
    void run_step(StepRequest request);
    // To a step that srun started; ignored once it is over.
    struct StepId {
        std::uint32_t job{}, attempt{}, step{};
    };
    void send_input(const StepId& id, const step::Chunk& chunk);
    void send_signal(const StepId& id, std::uint32_t number);
    void send_window(const StepId& id, const step::WindowSize& size);
    // It lost its stream to an earlier spurd, and has had so many messages.
    void attach_client(const StepId& id, std::uint64_t received, const std::shared_ptr<StepClient>& client);
    void send_received(const StepId& id, std::uint64_t count);
    // Its stream broke. Not if another has attached since.
    void client_gone(const StepId& id, const StepClient* client, bool keep);
    void client_ready(const StepId& id);  // it can take output again

    // sstat: what a step has used so far. The answer comes once, now or later.
    using MeasureAnswer = std::function<void(Result<v1::MeasureStepReply>)>;
    void measure(const StepId& id, MeasureAnswer answer);

    [[nodiscard]] std::size_t job_count() const { return jobs_.size(); }
    [[nodiscard]] std::size_t step_count() const;

private:
    // jobs
    JobRun* find(std::uint32_t job, std::uint32_t attempt);
    bool is_in_the_way(const v1::JobLaunch& launch, std::function<void()> again);
    struct Gone {
        JobKey key;
        std::int64_t start_time{};
        std::optional<v1::StepReport> end;  // of its batch script
    };
    [[nodiscard]] const Gone* find_gone(const v1::JobLaunch& launch) const;
    void tell_again(const Gone& job, const v1::JobLaunch& launch);
    Result<JobRun*> admit(const v1::JobLaunch& launch, bool runs_script);
    void begin(JobRun& job);
    using ScriptsEnded = void (NodeJobs::*)(const JobKey& key, const std::string& error);
    [[nodiscard]] bool has_scripts(Phase phase) const;
    void run_scripts(const JobKey& key, Phase phase, ScriptsEnded ended, std::size_t from = 0);
    void prolog_ended(const JobKey& key, const std::string& error);
    void open_gate(JobRun& job);
    void report_failure(JobRun& job, v1::StepReport::Kind kind, const std::string& error);
    void end_steps(JobRun& job);
    void check_end(JobRun& job);
    void epilog_ended(const JobKey& key, const std::string& error);
    void report_done(JobRun& job);
    void release_gpus(const JobRun& job, std::uint32_t step = UINT32_MAX);  // of the job, without a step
    void forget_if_reported(JobRun& job);
    void abandon(JobRun& job);
    void remove(const JobKey& key);

    // steps
    void start_batch(JobRun& job);
    void start_step(JobRun& job, StepRequest& request);
    Result<void> start_daemon(JobRun& job, step::LaunchSpec spec, std::shared_ptr<StepClient> client);
    bool start_again(JobRun& job, StepRun& step);
    void attach(JobRun& job, StepRun& step, step::FrameSocket socket);
    void take_frame(const JobKey& key, std::uint32_t step, const step::Frame& frame);
    void link_closed(const JobKey& key, std::uint32_t step);
    void step_started(JobRun& job, StepRun& step, const step::Started& started);
    void step_ended(JobRun& job, StepRun& step, const step::StepResult& result);
    [[nodiscard]] bool ends_job_here(const JobRun& job, const StepRun& step) const;
    StepRun* find_live(const StepId& id);
    void answer_question(const step::Readings& readings);

    // steps that do not end (node_watchdog.cpp)
    void expect_end(const JobRun& job, StepRun& step, std::chrono::seconds wait);
    void send_end(const JobRun& job, StepRun& step, const step::EndOrder& order);
    void look_after(const JobKey& key, std::uint32_t step);
    void sweep(const JobKey& key, std::uint32_t step);
    void give_up(JobRun& job, StepRun& step, const std::string& error, const std::string& drain);
    void adopt_job(StoredJob stored, bool new_boot);
    void adopt_step(JobRun& job, const StoredStep& found);
    void look_again(const JobKey& key);

    Loop& loop_;
    const NodeSetup& setup_;
    JobStore& store_;
    Launcher& launcher_;
    Reports& reports_;
    StrayKiller kill_strays_;
    std::map<JobKey, JobRun> jobs_;
    std::deque<Gone> recent_;                            // in case an old order comes late
    std::map<JobKey, std::function<void()>> postponed_;  // orders for a job whose number another still uses
    std::map<JobKey, std::vector<std::shared_ptr<StepRequest>>> awaited_;  // steps whose job is not known yet
    std::map<std::uint64_t, MeasureAnswer> questions_;                     // that step daemons have not answered
    std::uint64_t last_question_{0};
};

}  // namespace spur::agent
