#include "cli/sim/simulation.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "cli/sim/gauges.hpp"
#include "cli/sim/population.hpp"
#include "cli/sim/request.hpp"
#include "core/hostlist.hpp"
#include "core/validate.hpp"
#include "daemons/common/planning/cycle.hpp"

namespace spur::cli::sim {
namespace {

constexpr std::int64_t prune_s = 3600;
constexpr std::uint32_t most_idle_ticks = 1000;  // of which nothing came: what waits would wait for ever
constexpr std::size_t most_problems = 20;
constexpr std::uint32_t failed_exit = 1U << 8;  // a wait status

// Something of the trace's that happens at a time. Equal times in the order of the numbers.
struct Due {
    UnixSeconds at{};
    std::uint32_t number{};  // a place in the trace, or a job's id
    std::uint32_t token{};   // of an end: which run of the job it belongs to
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : number > other.number; }
};
using Agenda = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

// A run of a job that is under way.
struct Run {
    std::uint32_t outcome{};
    std::uint32_t token{};
    UnixSeconds ends{};     // by itself
    std::int64_t left_s{};  // while suspended
    UnixSeconds since{};
};

class Simulation {
public:
    Simulation(const Trace& trace, const Config& config, const SimulationOptions& options, ctld::PolicyPlugins plugins)
        : trace_{trace},
          config_{config},
          options_{options},
          priority_{plugins.priority},
          planning_{std::move(plugins)} {}

    Result<Outcome> run() {
        SPUR_CHECK(set_up());
        while (const auto next = next_time()) {
            now_ = *next;
            gauges_->advance(now_, now_ <= last_submit_);
            end_due();
            tick_due();
            submit_due();
            decay_due();
            if (now_ >= (wants_cycle_ ? next_cycle_ : backstop())) cycle();
            note_load();
        }
        finish();
        return std::move(out_);
    }

private:
    // ---- the cluster before the first job
    Result<void> set_up();
    Result<void> reserve(const TraceReservation& wanted);

    // ---- what is due
    std::optional<UnixSeconds> next_time() const;
    void end_due();
    void tick_due();
    void submit_due();
    void decay_due();
    void cycle();

    // ---- one thing at a time
    void submit(std::uint32_t place);
    Result<Events> apply(spur::Command command);
    void follow(const Events& events);
    void on(const JobQueued& event);
    void on(const ArraySplit& event);
    void on(const JobStarted& event);
    void on(const JobEnding& event);
    void on(const JobEnded& event);
    void on(const JobRequeued& event);
    void on(const JobSuspended& event);
    void on(const JobResumed& event);
    void on(const NodeChanged& event) { gauges_->update(*cluster_.find_node(event.node)); }
    void on(const NodeFreed& event) { gauges_->update(*cluster_.find_node(event.node)); }
    template <class T>
    void on(const T&) {}

    void clean_up(JobId job);
    void take_note_of_bars(const Job& job, const Run& run);
    void release_followers(std::uint32_t trace_job);
    void note_load();
    void finish();
    // Even if nothing happens, the controller looks at the queue so often.
    UnixSeconds backstop() const { return last_cycle_ + std::max(config_.scheduler.interval_s, 1U); }
    void complain(std::string text) {
        const bool is_new = std::ranges::find(out_.problems, text) == out_.problems.end();
        if (is_new && out_.problems.size() < most_problems) out_.problems.push_back(std::move(text));
    }
    std::uint32_t outcome_of(JobId job) const { return outcomes_[job.value]; }
    void remember(JobId job, std::uint32_t outcome) {
        if (outcomes_.size() <= job.value) outcomes_.resize(job.value + 1);
        outcomes_[job.value] = outcome;
    }

    const Trace& trace_;
    const Config& config_;
    const SimulationOptions& options_;
    spur::Cluster cluster_;
    ctld::ReadModelBuilder builder_;
    ctld::Changes changes_;
    daemon::Bound<daemon::PriorityAxis> priority_;
    ctld::PlanningCycle planning_;
    std::optional<Gauges> gauges_;
    Population people_;
    Outcome out_;

    UnixSeconds now_{};
    UnixSeconds next_cycle_{}, last_cycle_{}, last_rescore_{}, next_decay_{}, next_prune_{}, tick_not_before_{};
    UnixSeconds last_submit_{};
    bool wants_cycle_{false};
    bool in_cycle_{false};
    std::uint32_t idle_ticks_{};
    Agenda submits_, ends_;
    std::uint32_t next_token_{1};
    std::unordered_map<std::uint32_t, Run> runs_;                 // by job id
    std::vector<std::uint32_t> outcomes_;                         // by job id
    std::vector<std::uint32_t> tasks_left_;                       // by place in the trace: outcomes that have not ended
    std::unordered_map<std::string_view, std::uint32_t> places_;  // by the trace's id
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;    // place in the trace -> job id
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> followers_;  // place -> places
    std::vector<std::int32_t> shown_;  // by node: its place among the shown ones, or -1
    std::vector<JobId> to_clean_;
    bool has_dependencies_{false};
    std::uint32_t started_{};
    std::uint32_t waiting_{}, running_{}, useful_cpus_{};
    std::uint32_t submitted_first_{};  // of the outcomes made by the submission under way
    struct TaskRange {
        std::uint32_t first{}, count{};
    };
    std::unordered_map<std::uint32_t, TaskRange> arrays_;  // by the array's id: its tasks' outcomes
};

// ---- the cluster before the first job ------------------------------------------------------------------------------

Result<void> Simulation::set_up() {
    now_ = trace_.begins + trace_.jobs.front().submit_s;
    auto cluster = config_.cluster;
    cluster.policies.min_job_age_s = 0;  // old records are cleared away here, where no dependency needs them
    cluster.policies.keep_outbox = false;
    cluster.policies.max_job_count = std::max(cluster.policies.max_job_count, 10'000'000U);
    if (cluster.nodes.empty()) return fail(ErrorCode::invalid, "{}: it has no [[nodes]]", config_.path);
    if (cluster.partitions.empty()) return fail(ErrorCode::invalid, "{}: it has no [[partitions]]", config_.path);
    SPUR_CHECK(apply(ApplyConfig{std::move(cluster)}));
    for (std::uint32_t i = 0; i < cluster_.nodes().size(); ++i) {
        const auto& node = cluster_.nodes()[i];
        NodeRegistered found;
        found.node = node.id;
        found.topology = node.topology;
        found.cpus = node.cpus;
        found.memory_mib = node.memory_mib;
        found.tmp_mib = node.tmp_mib;
        found.gres = node.gres;
        found.boot_id = "simulated";
        found.boot_time = found.start_time = now_;
        SPUR_CHECK(apply(std::move(found)));
    }
    for (auto& command : people_.move_in(trace_)) SPUR_CHECK(apply(std::move(command)));
    out_.users = people_.names();
    gauges_.emplace(trace_, cluster_.nodes());
    for (const auto& wanted : trace_.reservations) SPUR_CHECK(reserve(wanted));

    const auto count = static_cast<std::uint32_t>(cluster_.nodes().size());
    shown_.assign(count, -1);
    const auto shown = std::min(options_.shown_nodes, count);
    for (std::uint32_t i = 0; i < shown; ++i) {
        const auto node = static_cast<std::uint32_t>(std::uint64_t{i} * count / shown);
        shown_[node] = static_cast<std::int32_t>(i);
        out_.shown_nodes.push_back(cluster_.nodes()[node].name.str());
        out_.shown_node_cpus.push_back(cluster_.nodes()[node].usable_cpus());
    }
    tasks_left_.resize(trace_.jobs.size());
    for (std::uint32_t i = 0; i < trace_.jobs.size(); ++i) {
        const auto& job = trace_.jobs[i];
        places_.emplace(job.id, i);
        has_dependencies_ = has_dependencies_ || !job.dependency.empty();
        last_submit_ = std::max(last_submit_, trace_.begins + job.submit_s);
        if (job.follows.empty())
            submits_.push({trace_.begins + job.submit_s, i, 0});
        else
            followers_[places_.at(job.follows)].push_back(i);
    }
    out_.nodes = count;
    out_.cpus = gauges_->total_cpus();
    out_.gpus = gauges_->total_gpus();
    out_.begins = now_;
    next_decay_ = now_ + options_.decay_s;
    next_prune_ = now_ + prune_s;
    changes_.everything = true;
    return {};
}

Result<void> Simulation::reserve(const TraceReservation& wanted) {
    SPUR_TRY(const auto hosts, HostList::parse(wanted.nodes));
    Reservation reservation;
    reservation.name = wanted.name;
    reservation.start_time = trace_.begins + wanted.start_s;
    reservation.end_time = trace_.begins + wanted.end_s;
    for (const auto& name : hosts.names()) {
        const auto* node = cluster_.find_node(name);
        if (node == nullptr)
            return fail(ErrorCode::invalid, "{}: reservation \"{}\": there is no node \"{}\" in {}", trace_.source,
                        wanted.name, name, config_.path);
        reservation.nodes.push_back(node->id);
    }
    std::ranges::sort(reservation.nodes);
    for (const auto& user : wanted.users) reservation.users.emplace_back(user);
    for (const auto& account : wanted.accounts) reservation.accounts.emplace_back(account);
    if (wanted.users.empty() && wanted.accounts.empty()) reservation.users.emplace_back("root");
    if (auto made = apply(EditReservation{Edit::create, std::move(reservation), Actor::root()}); !made)
        return fail(made.error().code, "{}: reservation \"{}\": {}", trace_.source, wanted.name, made.error().text);
    return {};
}

// ---- what is due ---------------------------------------------------------------------------------------------------

std::optional<UnixSeconds> Simulation::next_time() const {
    std::optional<UnixSeconds> next;
    const auto consider = [&](UnixSeconds at) {
        if (!next || at < *next) next = std::max(at, now_);
    };
    if (!submits_.empty()) consider(submits_.top().at);
    if (!ends_.empty()) consider(ends_.top().at);
    const auto due = cluster_.next_due();
    const bool is_stuck = submits_.empty() && ends_.empty() && idle_ticks_ >= most_idle_ticks;
    if (due != 0 && !is_stuck) consider(std::max(due, tick_not_before_));
    if (wants_cycle_) consider(next_cycle_);
    if (!next) return next;
    // These two alone keep nothing alive: they matter only while something else will still happen.
    if (!cluster_.pending_jobs().empty()) consider(backstop());
    if (!cluster_.active_jobs().empty() || !cluster_.pending_jobs().empty()) consider(next_decay_);
    return next;
}

void Simulation::end_due() {
    while (!ends_.empty() && ends_.top().at <= now_) {
        const auto due = ends_.top();
        ends_.pop();
        const auto run = runs_.find(due.number);
        if (run == runs_.end() || run->second.token != due.token) continue;  // ended or suspended before
        const auto* job = cluster_.find_job(JobId{due.number});
        const auto& wanted = trace_.jobs[out_.jobs[run->second.outcome].trace_job];
        if (const auto ended = apply(FinishJob{.job = job->id,
                                               .attempt = job->attempt,
                                               .cause = EndCause::exited,
                                               .exit_status = wanted.fails ? failed_exit : 0,
                                               .node = std::nullopt,
                                               .node_done = false,
                                               .detail = {}});
            !ended)
            complain(fmt::format("job {} could not end: {}", due.number, ended.error().text));
    }
}

void Simulation::tick_due() {
    const auto due = cluster_.next_due();
    if (due != 0 && std::max(due, tick_not_before_) <= now_) {
        const auto ticked = apply(Tick{});
        idle_ticks_ = ticked && !ticked->empty() ? 0 : idle_ticks_ + 1;
        tick_not_before_ = now_ + 1;
    }
    if (now_ >= next_prune_ && !has_dependencies_) {
        static_cast<void>(apply(PruneJobs{now_}));
        next_prune_ = now_ + prune_s;
    }
}

void Simulation::submit_due() {
    while (!submits_.empty() && submits_.top().at <= now_) {
        const auto place = submits_.top().number;
        submits_.pop();
        submit(place);
    }
}

void Simulation::decay_due() {
    if (now_ < next_decay_) return;
    next_decay_ = now_ + options_.decay_s;
    DecayUsage command;
    if (const auto elapsed = now_ - cluster_.usage_time(); cluster_.usage_time() != 0 && elapsed > 0) {
        const auto left = priority_.call(&spur_priority_ops::decay, static_cast<double>(elapsed));
        if (!left) return complain(fmt::format("usage could not fade: {}", left.error().text));
        command.factor = std::clamp(*left, 0.0, 1.0);
    }
    static_cast<void>(apply(command));
}

void Simulation::cycle() {
    wants_cycle_ = false;
    last_cycle_ = now_;
    next_cycle_ = now_ + options_.interval_s;
    if (cluster_.pending_jobs().empty()) return;

    ctld::CycleInput input;
    input.model = builder_.publish(cluster_, changes_);
    input.changes = std::exchange(changes_, {});
    input.now = now_;
    input.rescore = now_ >= last_rescore_ + options_.rescore_s;
    if (input.rescore) last_rescore_ = now_;
    input.budget = std::chrono::hours{24};  // the outcome must not depend on how fast this machine is
    input.notes = false;
    const auto model = input.model;
    auto outcome = planning_.run(std::move(input));
    for (auto& problem : outcome.problems) complain(std::move(problem));
    if (outcome.pending == 0) return;

    ++out_.cycles;
    using Milliseconds = std::chrono::duration<float, std::milli>;
    out_.costs.plan_ms.push_back(Milliseconds{outcome.planning}.count());
    out_.costs.score_ms.push_back(Milliseconds{outcome.scoring}.count());
    if (std::chrono::duration<double>{outcome.planning}.count() > config_.scheduler.budget_s) ++out_.costs.over_budget;
    for (const auto& one : outcome.plan.preemptions)
        if (!apply(PreemptJob{one.victim, one.attempt, one.mode, one.preemptor})) ++out_.refused_starts;
    in_cycle_ = true;
    for (auto& start : ctld::start_commands(std::move(outcome.plan.starts), *model))
        if (const auto started = apply(std::move(start)); !started) {
            ++out_.refused_starts;
            if (started.error().code != ErrorCode::conflict)
                complain(fmt::format("a planned start was refused: {}", started.error().text));
        }
    in_cycle_ = false;
}

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
    spec = validate(cluster_, *std::move(spec), actor, now_);
    if (!spec) return refuse(spec.error());
    const auto asked_cpus = demand_of(*spec).min_cpus;

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
    ctld::note_changes(*events, changes_);
    // A start takes and frees nothing: what could not start beside it cannot start after it.
    if (!in_cycle_ && !wants_cycle_) wants_cycle_ = std::ranges::any_of(*events, ctld::wants_scheduling);
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
            if (gres.name == "gpu") outcome.gpus += static_cast<std::uint32_t>(gres.count);
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
            if (gres.name == "gpu") bar.gpus += static_cast<std::uint32_t>(gres.count);
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

Result<std::string> version_of(const daemon::PluginHost& host, const std::string& type) {
    for (const auto& status : host.list())
        if (status.type == type) return fmt::format("{} {}", type, status.version);
    return fail(ErrorCode::not_found, "plugin {} is not open", type);
}

}  // namespace

Result<Outcome> simulate(const Trace& trace, const Config& config, const SimulationOptions& options) {
    daemon::HostOptions host_options;
    host_options.program = "spur sim";
    host_options.facts = {{"cluster_name", config.cluster.cluster_name.str()}};
    host_options.executor_threads = 1;
    daemon::PluginHost host{std::move(host_options)};
    ctld::PolicyPlugins plugins;
    SPUR_TRY(plugins.select, host.open<daemon::SelectAxis>(config));
    SPUR_TRY(plugins.priority, host.open<daemon::PriorityAxis>(config));
    SPUR_TRY(plugins.sched, host.open<daemon::SchedAxis>(config));
    std::map<std::string, std::string> versions;
    SPUR_TRY(versions["sched"], version_of(host, plugins.sched.type()));
    SPUR_TRY(versions["select"], version_of(host, plugins.select.type()));
    SPUR_TRY(versions["priority"], version_of(host, plugins.priority.type()));
    auto outcome = Simulation{trace, config, options, std::move(plugins)}.run();
    if (outcome) outcome->plugins = std::move(versions);
    host.stop();
    return outcome;
}

}  // namespace spur::cli::sim
