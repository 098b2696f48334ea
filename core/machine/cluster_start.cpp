// Starting jobs: a plan may be stale, so everything it says is checked again here, and all of it happens or nothing.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

Sharing sharing_in(const Partition& partition, const JobSpec& spec) {
    const bool asked = spec.oversubscribe.value_or(false);
    const bool shares =
        partition.oversubscribe == OverSubscribe::force || (partition.oversubscribe == OverSubscribe::yes && asked);
    if (!shares || spec.exclusive.value_or(Exclusive::no) != Exclusive::no) return {};
    return {std::max<std::uint16_t>(partition.oversubscribe_jobs, 1)};
}

Exclusive exclusive_in(const Partition& partition, const JobSpec& spec) {
    const auto asked = spec.exclusive.value_or(Exclusive::no);
    if (asked == Exclusive::node || partition.oversubscribe == OverSubscribe::exclusive) return Exclusive::node;
    return asked == Exclusive::no && partition.exclusive_user ? Exclusive::user : asked;
}

// Does the node's company allow this job beside it?
std::optional<std::string> find_company_lack(const Cluster& cluster, const Node& node, const Job& job, Exclusive mode) {
    if (node.job_count == 0) return std::nullopt;
    if (node.exclusive) return fmt::format("{} is held exclusively by another job", node.name);
    if (mode == Exclusive::node) return fmt::format("{} is not free of other jobs", node.name);
    if (node.exclusive_uid != nobody && node.exclusive_uid != job.spec->uid)
        return fmt::format("{} is held exclusively by another user", node.name);
    if (mode == Exclusive::user)
        for (const auto other : cluster.jobs_on(node.id))
            if (const auto* here = cluster.find_job(other); !here->cores_released && here->spec->uid != job.spec->uid)
                return fmt::format("{} has jobs of other users", node.name);
    return std::nullopt;
}

// MaxCPUsPerNode: what all jobs of the partition together may have of one node.
std::optional<std::string> find_cpu_lack(const Cluster& cluster, const Node& node, const NodeShare& share,
                                         const Partition& partition, Exclusive mode) {
    if (partition.max_cpus_per_node == unlimited || mode == Exclusive::node) return std::nullopt;
    std::uint64_t cpus = share.cpus;
    for (const auto other : cluster.jobs_on(node.id)) {
        const auto& held = cluster.find_job(other)->allocation;
        if (!held || held->partition != partition.name) continue;
        for (const auto& part : held->shares)
            if (part.node == node.id) cpus += part.cpus;
    }
    if (cpus <= partition.max_cpus_per_node) return std::nullopt;
    return fmt::format("jobs of partition {} would have {} cpus of {}, {} are allowed", partition.name, cpus, node.name,
                       partition.max_cpus_per_node);
}

// A reservation of the node that would be running at some time during the job, and that the job is not in. One made to
// overlap others, or for maintenance, is not closed to its own jobs by those.
const Reservation* find_obstacle(const Cluster& cluster, const Job& job, const NodeShare& share, UnixSeconds from,
                                 UnixSeconds until) {
    const auto* own = cluster.find_reservation(job.spec->reservation);
    if (own && (own->has(reservation_flag::maint) || own->has(reservation_flag::overlap))) return nullptr;
    for (const auto& [name, entry] : cluster.reservations()) {
        if (entry.name == job.spec->reservation || !entry.holds_between(from, until)) continue;
        if (entry.cores.empty()) {
            if (std::ranges::binary_search(entry.nodes, share.node)) return &entry;
            continue;
        }
        for (const auto& kept : entry.cores)
            if (kept.node == share.node && kept.cores.intersects(share.cores)) return &entry;
    }
    return nullptr;
}

}  // namespace

// What StartJob is about to do for one component, found possible.
struct StartPlan {
    Job* job{};
    const Partition* partition{};
    std::shared_ptr<Allocation> allocation;
    std::uint32_t time_limit_min{};
};

Result<void> ClusterOps::check_startable(const Job& job, const Placement& part) const {
    if (!job.is_pending()) return fail(refusal::not_pending);
    if (!job.eligible)
        return fail(ErrorCode::conflict, "job {} may not start yet: {}", job.display_id(), to_string(job.reason));
    if (part.array_task && !(job.array_pending && job.array_pending->contains(*part.array_task)) &&
        job.array_task != part.array_task)
        return fail(ErrorCode::conflict, "task {} of job {} does not wait", *part.array_task, job.id.value);
    if (const auto* array = c.find_array(job.array_job);
        array && array->max_running && array->active >= array->max_running)
        return fail(ErrorCode::conflict, "array {} has as many tasks running as it may: {}", job.array_job.value,
                    array->max_running);
    return {};
}

Result<void> ClusterOps::check_nodes(const Job& job, const Placement& part, const StartPlan& plan) const {
    const auto limit = plan.time_limit_min;
    const auto until = limit == unlimited ? 0 : at + std::int64_t{limit} * 60;
    const auto* reservation = c.find_reservation(job.spec->reservation);
    std::optional<NodeId> previous;
    for (const auto& share : part.shares) {
        const auto* node = c.find_node(share.node);
        if (!node) return fail(refusal::invalid_node);
        if (previous && !(*previous < share.node))
            return fail(ErrorCode::invalid, "the nodes placed for job {} are not in order", job.id.value);
        previous = share.node;
        if (!node->is_available())
            return fail(ErrorCode::conflict, "node {} takes no new work: it is {}", node->name,
                        display_state(node->shown_state(), node->shown_flags()));
        if (!std::ranges::binary_search(plan.partition->nodes, share.node))
            return fail(ErrorCode::conflict, "node {} is not in partition {}", node->name, part.partition);
        if (auto lack = find_company_lack(c, *node, job, plan.allocation->exclusive))
            return fail(ErrorCode::conflict, "{}", *lack);
        if (auto lack = find_lack(*node, share, plan.allocation->sharing))
            return fail(ErrorCode::conflict, "{}", *lack);
        if (auto lack = find_cpu_lack(c, *node, share, *plan.partition, plan.allocation->exclusive))
            return fail(ErrorCode::conflict, "{}", *lack);
        if (reservation && !reservation->nodes.empty() && !reservation->has(reservation_flag::flex) &&
            !reservation->has(reservation_flag::any_nodes) &&
            !std::ranges::binary_search(reservation->nodes, share.node))
            return fail(ErrorCode::conflict, "node {} is not in reservation {}", node->name, reservation->name);
        if (reservation && !reservation->cores.empty() && !reservation->has(reservation_flag::flex)) {
            const auto kept = std::ranges::find(reservation->cores, share.node, &NodeShare::node);
            if (kept == reservation->cores.end() || !kept->cores.contains(share.cores))
                return fail(ErrorCode::conflict, "not all cores of {} are in reservation {}", node->name,
                            reservation->name);
        }
        if (const auto* obstacle = find_obstacle(c, job, share, at, until))
            return fail(ErrorCode::conflict, "node {} is reserved by {}", node->name, obstacle->name);
    }
    return {};
}

Result<StartPlan> ClusterOps::plan_start(const Placement& part) {
    Job* found = job(part.job);
    if (!found) return fail(refusal::invalid_job_id);
    SPUR_CHECK(check_startable(*found, part));
    const auto& spec = *found->spec;
    const auto* partition = c.find_partition(part.partition);
    if (!partition || std::ranges::find(spec.partitions, part.partition) == spec.partitions.end())
        return fail(refusal::invalid_partition);
    if (!partition->may_start()) return fail(refusal::partition_down);

    StartPlan plan{found, partition, std::make_shared<Allocation>(), found->time_limit_min};
    if (part.time_limit_min) {
        const auto least = spec.time_min_min.value_or(found->time_limit_min);
        if (*part.time_limit_min < least || *part.time_limit_min > found->time_limit_min)
            return fail(refusal::invalid_time_limit);
        plan.time_limit_min = *part.time_limit_min;
    }
    const auto& demand = found->request->demand;
    if (part.shares.size() < demand.min_nodes || part.shares.size() > demand.max_nodes)
        return fail(ErrorCode::invalid, "{} nodes are placed for job {}, which asks {} to {}", part.shares.size(),
                    part.job.value, demand.min_nodes, demand.max_nodes);
    auto& allocation = *plan.allocation;
    allocation.shares = part.shares;
    allocation.partition = partition->name;
    allocation.sharing = sharing_in(*partition, spec);
    allocation.exclusive = exclusive_in(*partition, spec);
    for (const auto& share : part.shares) {
        allocation.cpus += share.cpus;
        allocation.memory_mib += share.memory_mib;
    }
    SPUR_CHECK(check_nodes(*found, part, plan));
    SPUR_CHECK(check_grant(*found, part));
    allocation.licenses = found->request->licenses;
    if (!spec.reservation.empty()) {
        const auto* reservation = c.find_reservation(spec.reservation);
        if (!reservation || !(reservation->is_active(at) || reservation->has(reservation_flag::flex)) ||
            !reservation->admits(*found->spec))
            return fail(refusal::invalid_reservation.as(ErrorCode::conflict));
    }
    if (c.policies_.enforce & enforce_flag::limits)
        if (const auto reason = c.limit_reason(*found, allocated_tres(c, allocation)); reason != Reason::none)
            return fail(ErrorCode::limit, "job {} is kept back by a limit: {}", found->display_id(), to_string(reason));
    return plan;
}

void ClusterOps::begin(const StartPlan& plan) {
    auto& job = *plan.job;
    for (std::uint32_t i = 0; i < plan.allocation->shares.size(); ++i) {
        const auto& share = plan.allocation->shares[i];
        auto& busy = c.nodes_[share.node.value];
        take(busy, share, plan.allocation->sharing);
        ++busy.job_count;
        if (plan.allocation->exclusive == Exclusive::node) busy.exclusive = true;
        if (plan.allocation->exclusive == Exclusive::user) busy.exclusive_uid = job.spec->uid;
        index().jobs_on[share.node.value].insert(job.id);
        touch(busy);
    }
    for (const auto& license : plan.allocation->licenses) c.licenses_.find(license.name)->second.used += license.count;
    if (const auto array = c.arrays_.find(job.array_job); array != c.arrays_.end()) ++array->second.active;
    {
        Change change{*this, job};
        ++job.attempt;
        job.state = JobState::running;
        job.flags = 0;
        job.reason = Reason::none;
        job.reason_text = {};
        job.scheduled_nodes = {};
        job.allocation = plan.allocation;
        job.open_shares.resize(plan.allocation->shares.size());
        for (std::uint32_t i = 0; i < job.open_shares.size(); ++i) job.open_shares[i] = i;
        job.time_limit_min = plan.time_limit_min;
        job.start_time = at;
        job.last_sched_eval = at;
        job.end_time = plan.time_limit_min == unlimited ? 0 : at + std::int64_t{plan.time_limit_min} * 60;
        job.failed_node = NodeId{unlimited};
    }
    count_running(job, +1);
    if (job.has_script()) begin_batch_step(job);
    events.push_back(JobStarted{job.id, job.attempt});
    wake_waiters(job);
}

void ClusterOps::begin_batch_step(const Job& job) {
    Step step;
    step.key = {job.id, StepId{step_batch}};
    step.attempt = job.attempt;
    step.name = "batch";
    step.tasks = 1;
    step.start_time = at;
    step.shares = {job.allocation->shares.front()};
    step.task_ids = {{0}};
    step.overlap = true;
    step.version = version;
    open_step(step);
    c.steps_.insert_or_assign(step.key, std::move(step));
    events.push_back(StepStarted{{job.id, StepId{step_batch}}, job.attempt});
}

Result<void> ClusterOps::on(const StartJob& cmd) {
    if (cmd.parts.empty()) return fail(ErrorCode::invalid, "a start names no job");
    std::vector<StartPlan> plans;
    for (const auto& part : cmd.parts) {
        SPUR_TRY(auto plan, plan_start(part));
        plans.push_back(std::move(plan));
    }
    SPUR_CHECK(check_together(plans));
    for (std::size_t i = 0; i < plans.size(); ++i) {
        auto& plan = plans[i];
        if (plan.job->array_pending)
            plan.job = &split_task(*plan.job, cmd.parts[i].array_task.value_or(*plan.job->array_pending->first()));
        begin(plan);
    }
    return {};
}

// Licences over all parts, and for heterogeneous jobs: every component, each once, and all of them beside each other.
Result<void> ClusterOps::check_together(const std::vector<StartPlan>& plans) const {
    std::map<Text, std::uint64_t> licenses;
    std::map<NodeId, Node> nodes;  // as they are after the parts before
    std::set<JobId> jobs;
    for (const auto& plan : plans) {
        for (const auto& license : plan.allocation->licenses) licenses[license.name] += license.count;
        if (!jobs.insert(plan.job->id).second)
            return fail(ErrorCode::invalid, "job {} is placed twice", plan.job->id.value);
        if (plans.size() == 1) continue;
        if (!plan.job->het_job || plan.job->het_job != plans.front().job->het_job)
            return fail(ErrorCode::invalid, "only components of one heterogeneous job start together");
        for (const auto& share : plan.allocation->shares) {
            auto& node = nodes.try_emplace(share.node, *c.find_node(share.node)).first->second;
            const bool whole = plan.allocation->exclusive == Exclusive::node;
            auto lack = find_lack(node, share, plan.allocation->sharing);
            if (!lack && (node.exclusive || (whole && node.job_count != 0)))
                lack = fmt::format("two components are placed on node {}", node.name);
            if (lack) return fail(ErrorCode::conflict, "{}", *lack);
            take(node, share, plan.allocation->sharing);
            node.exclusive = whole;
            ++node.job_count;
        }
    }
    for (const auto& [name, count] : licenses) {
        const auto pool = c.licenses_.find(name);
        if (pool == c.licenses_.end() || pool->second.used + count > pool->second.total)
            return fail(ErrorCode::conflict, "too few licenses of {} are free", name);
    }
    const auto het = plans.front().job->het_job;
    if (het && c.member_count(het) != plans.size())
        return fail(ErrorCode::invalid, "the components of heterogeneous job {} start together", het.value);
    return {};
}

}  // namespace spur
