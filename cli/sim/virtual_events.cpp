// What happens to the simulated cluster's jobs, one thing at a time.
#include <algorithm>

#include "cli/sim/request.hpp"
#include "cli/sim/virtual_cluster.hpp"
#include "core/machine/validate.hpp"
#include "core/model/gres_kind.hpp"

namespace spur::cli::sim {

// ---- one thing at a time -------------------------------------------------------------------------------------------

void Simulation::submit(std::uint32_t place) {
    const auto& wanted = trace_.jobs[place];
    const auto refuse = [&](const Error& error) {
        ++out_.refusals[error.text.substr(0, error.text.find('\n'))];
        tasks_left_[place] = 0;
        release_followers(place);
    };
    const FindJob find = [&](std::string_view id) -> std::optional<std::uint32_t> {
        const auto known = places_.find(id);
        if (known == places_.end()) return std::nullopt;
        const auto number = numbers_.find(known->second);
        return number == numbers_.end() ? std::nullopt : std::optional{number->second};
    };
    auto spec = make_spec(wanted, trace_.begins, find);
    if (!spec) return refuse(spec.error());
    spec->uid = people_.uid(wanted.user);
    spec->gid = spec->uid;
    if (spec->user_name.empty()) spec->user_name = people_.nobody();
    if (!trace_.knows_partitions && !spec->partitions.empty() && !cluster_.find_partition(spec->partitions.front()))
        spec->partitions.clear();
    const Actor actor{spec->uid, AdminLevel::none, spec->user_name};
    spec = validate(cluster_, *std::move(spec), actor, now_, {.names = {}, .exempt = true});  // traces have no groups
    if (!spec) return refuse(spec.error());
    const auto asked_cpus = Request::of(*spec).demand.min_cpus;

    const auto first = static_cast<std::uint32_t>(out_.jobs.size());
    JobOutcome outcome{.trace_job = place,
                       .task = std::nullopt,
                       .user = people_.place(wanted.user),
                       .submit = now_,
                       .asked_cpus = asked_cpus};
    if (spec->array.empty()) {
        out_.jobs.push_back(outcome);
    } else if (const auto array = ArraySpec::parse(spec->array, cluster_.policies().max_array_size); array) {
        for (const auto task : array->tasks.ids()) {
            outcome.task = task;
            out_.jobs.push_back(outcome);
        }
    }
    const auto count = static_cast<std::uint32_t>(out_.jobs.size()) - first;
    submitted_first_ = first;
    tasks_left_[place] = count;
    waiting_ += count;
    const auto submitted = apply(SubmitJob{{*std::move(spec)}, actor, {}});
    if (!submitted) {
        out_.jobs.resize(first);
        waiting_ -= count;
        return refuse(submitted.error());
    }
    numbers_[place] = std::get<JobQueued>(submitted->front()).job.value;
    out_.last_submit = now_;
}

Result<Events> Simulation::apply(spur::Command command) {
    auto events = cluster_.apply({now_, std::move(command)});
    if (!events) return events;
    planning::note_changes(*events, changes_);
    // A start takes and frees nothing: what could not start beside it cannot start after it.
    if (!in_cycle_ && !wants_cycle_) wants_cycle_ = std::ranges::any_of(*events, planning::wants_scheduling);
    follow(*events);
    for (auto jobs = std::exchange(to_clean_, {}); !jobs.empty(); jobs = std::exchange(to_clean_, {}))
        for (const auto job : jobs) clean_up(job);
    return events;
}

void Simulation::follow(const Events& events) {
    if (!gauges_) return;  // setting up
    for (const auto& event : events) std::visit([&](const auto& what) { on(what); }, event);
}

// The first one answers a submission, which has just made the outcomes.
void Simulation::on(const JobQueued& event) {
    remember(event.job, submitted_first_);
    if (const auto* job = cluster_.find_job(event.job); job->is_array_record())
        arrays_[event.job.value] = {submitted_first_, static_cast<std::uint32_t>(job->task_count())};
}

void Simulation::on(const ArraySplit& event) {
    const auto [first, count] = arrays_.at(event.array.value);
    const auto begin = out_.jobs.begin() + first;
    const auto found = std::ranges::lower_bound(begin, begin + count, event.task, {},
                                                [](const JobOutcome& outcome) { return *outcome.task; });
    remember(event.job, static_cast<std::uint32_t>(found - out_.jobs.begin()));
}

void Simulation::on(const JobStarted& event) {
    const auto& job = *cluster_.find_job(event.job);
    const auto number = outcome_of(event.job);
    auto& outcome = out_.jobs[number];
    const auto& wanted = trace_.jobs[outcome.trace_job];
    auto run_s = wanted.run_s;
    if (outcome.task && !wanted.task_runs.empty()) {
        const auto place = number - arrays_.at(job.array_job.value).first;
        run_s = wanted.task_runs[std::min<std::size_t>(place, wanted.task_runs.size() - 1)];
    }
    if (!outcome.has_started()) outcome.start_order = ++started_;
    ++outcome.starts;
    outcome.state = JobState::running;
    outcome.start = now_;
    outcome.nodes = static_cast<std::uint32_t>(job.allocation->shares.size());
    outcome.cpus = job.allocation->cpus;
    outcome.gpus = 0;
    for (const auto& share : job.allocation->shares)
        for (const auto& gres : share.gres)
            if (gres.name == gpu_gres) outcome.gpus += static_cast<std::uint32_t>(gres.count);
    --waiting_;
    ++running_;
    useful_cpus_ += std::min(outcome.asked_cpus, outcome.cpus);
    const Run run{number, next_token_++, now_ + run_s, 0, now_};
    runs_[event.job.value] = run;
    ends_.push({run.ends, event.job.value, run.token});
}

void Simulation::on(const JobEnding& event) {
    to_clean_.push_back(event.job);
    const auto found = runs_.find(event.job.value);
    if (found == runs_.end()) return;
    const auto& job = *cluster_.find_job(event.job);
    const auto& run = found->second;
    auto& outcome = out_.jobs[run.outcome];
    if (job.state == JobState::pending || job.state == JobState::preempted) outcome.lost_s += now_ - run.since;
    take_note_of_bars(job, run);
    --running_;
    useful_cpus_ -= std::min(outcome.asked_cpus, outcome.cpus);
    runs_.erase(found);
}

void Simulation::on(const JobEnded& event) {
    const auto& job = *cluster_.find_job(event.job);
    const auto end = [&](std::uint32_t number) {
        auto& outcome = out_.jobs[number];
        if (outcome.state == JobState::pending) --waiting_;  // it never ran
        outcome.state = job.state;
        outcome.end = now_;
        out_.ends = std::max(out_.ends, now_);
        if (--tasks_left_[outcome.trace_job] == 0) release_followers(outcome.trace_job);
    };
    if (!job.is_array_record()) return end(outcome_of(event.job));
    const auto [first, count] = arrays_.at(event.job.value);
    for (auto number = first; number < first + count; ++number)
        if (job.array_pending->contains(*out_.jobs[number].task)) end(number);
}

void Simulation::on(const JobRequeued& event) {
    out_.jobs[outcome_of(event.job)].state = JobState::pending;
    ++waiting_;
}

void Simulation::on(const JobSuspended& event) {
    auto& run = runs_.at(event.job.value);
    run.left_s = run.ends - now_;
    run.token = next_token_++;  // its end is off
}

void Simulation::on(const JobResumed& event) {
    auto& run = runs_.at(event.job.value);
    run.ends = now_ + run.left_s;
    ends_.push({run.ends, event.job.value, run.token});
}

// As the agents would report: nothing of it is left on any of its nodes.
void Simulation::clean_up(JobId id) {
    const auto* job = cluster_.find_job(id);
    if (job == nullptr || !job->is_completing()) return;
    NodeJobDone done{id, job->attempt, {}};
    for (const auto share : job->open_shares) done.nodes.push_back(job->allocation->shares[share].node);
    if (const auto cleaned = apply(std::move(done)); !cleaned)
        complain(fmt::format("job {} could not be cleaned up: {}", id.value, cleaned.error().text));
}

void Simulation::take_note_of_bars(const Job& job, const Run& run) {
    if (options_.shown_nodes == 0 || now_ == run.since) return;
    for (const auto& share : job.allocation->shares) {
        const auto place = shown_[share.node.value];
        if (place < 0) continue;
        Bar bar{static_cast<std::uint32_t>(place), run.outcome, share.cpus, 0, run.since, now_};
        for (const auto& gres : share.gres)
            if (gres.name == gpu_gres) bar.gpus += static_cast<std::uint32_t>(gres.count);
        out_.bars.push_back(bar);
    }
}

void Simulation::release_followers(std::uint32_t place) {
    const auto found = followers_.find(place);
    if (found == followers_.end()) return;
    for (const auto follower : found->second) {
        const auto& job = trace_.jobs[follower];
        submits_.push({std::max(now_ + job.think_s, trace_.begins + job.submit_s), follower, 0});
    }
    followers_.erase(found);
}

void Simulation::note_load() {
    LoadPoint point{now_, gauges_->cpus(), useful_cpus_, gauges_->gpus(), running_, waiting_};
    if (!out_.load.empty()) {
        auto same = out_.load.back();
        same.at = now_;
        if (same == point) return;
        if (out_.load.back().at == now_) out_.load.pop_back();
    }
    out_.load.push_back(point);
}

void Simulation::finish() {
    out_.ends = std::max(out_.ends, out_.last_submit);
    out_.free_gpu_s = gauges_->free_gpu_s();
    out_.stranded_gpu_s = gauges_->stranded_gpu_s();
}

}  // namespace spur::cli::sim
