// The virtual clock: ends, submissions, ticks and cycles in the order of their times.
#include "cli/sim/simulation.hpp"

#include <algorithm>

#include "cli/sim/virtual_cluster.hpp"
#include "core/text/hostlist.hpp"

namespace spur::cli::sim {
namespace {

constexpr std::int64_t prune_s = 3600;
constexpr std::uint32_t most_idle_ticks = 1000;  // of which nothing came: what waits would wait for ever
constexpr std::uint32_t failed_exit = 1U << 8;   // a wait status

Result<std::string> version_of(const host::PluginHost& host, const std::string& type) {
    for (const auto& status : host.list())
        if (status.type == type) return fmt::format("{} {}", type, status.version);
    return fail(ErrorCode::not_found, "plugin {} is not open", type);
}

}  // namespace

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
    if (alarm_ != 0) consider(alarm_);
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
    if (const auto since = cluster_.usage_time(); since != 0 && now_ > since) {
        const auto left = priority_.call(&spur_priority_ops::decay, since, now_);
        if (!left) return complain(fmt::format("usage could not fade: {}", left.error().text));
        command.factor = std::clamp(*left, 0.0, 1.0);
    }
    static_cast<void>(apply(command));
}

void Simulation::cycle() {
    wants_cycle_ = false;
    last_cycle_ = now_;
    alarm_ = 0;
    next_cycle_ = now_ + options_.interval_s;
    if (cluster_.pending_jobs().empty()) return;

    planning::CycleInput input;
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
    alarm_ = outcome.alarm;
    if (outcome.pending == 0) return;

    ++out_.cycles;
    using Milliseconds = std::chrono::duration<float, std::milli>;
    out_.costs.plan_ms.push_back(Milliseconds{outcome.planning}.count());
    out_.costs.score_ms.push_back(Milliseconds{outcome.scoring}.count());
    if (std::chrono::duration<double>{outcome.planning}.count() > config_.scheduler.budget_s) ++out_.costs.over_budget;
    for (const auto& one : outcome.plan.preemptions)
        if (!apply(PreemptJob{one.victim, one.attempt, one.mode, one.preemptor})) ++out_.refused_starts;
    in_cycle_ = true;
    for (auto& start : planning::start_commands(std::move(outcome.plan.starts), *model))
        if (const auto started = apply(std::move(start)); !started) {
            ++out_.refused_starts;
            if (started.error().code != ErrorCode::conflict)
                complain(fmt::format("a planned start was refused: {}", started.error().text));
        }
    in_cycle_ = false;
}

Result<Outcome> simulate(const Trace& trace, const Config& config, const SimulationOptions& options) {
    host::HostOptions host_options;
    host_options.program = "spur sim";
    host_options.facts = {{"cluster_name", config.cluster.cluster_name.str()}};
    host_options.executor_threads = 1;
    host::PluginHost host{std::move(host_options)};
    planning::PolicyPlugins plugins;
    SPUR_TRY(plugins.select, host.open<host::SelectAxis>(config));
    SPUR_TRY(plugins.priority, host.open<host::PriorityAxis>(config));
    SPUR_TRY(plugins.sched, host.open<host::SchedAxis>(config));
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
