// scontrol update job: what may change depends on the job's state and on who asks.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/request_limits.hpp"
#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

// Notes may be added to any job, even one that is over.
bool touches_more_than_notes(JobChanges changes) {
#define SPUR_CLEAR_NOTE(number, member, when, ...) \
    if (ChangeWhen::when == ChangeWhen::always) changes.member.reset();
    SPUR_JOB_CHANGES(SPUR_CLEAR_NOTE, SPUR_CLEAR_NOTE)
#undef SPUR_CLEAR_NOTE
    return !(changes == JobChanges{});
}

enum class Which { all, while_waiting };

JobSpec changed_spec(const JobSpec& old, const JobChanges& changes, Which which = Which::all) {
    JobSpec spec = old;
#define SPUR_PUT(number, member, when)                                                      \
    if (changes.member && (which == Which::all || ChangeWhen::when == ChangeWhen::waiting)) \
        spec.member = *changes.member;
#define SPUR_SKIP(...)
    SPUR_JOB_CHANGES(SPUR_PUT, SPUR_SKIP)
#undef SPUR_PUT
#undef SPUR_SKIP
    if (changes.mem_per_cpu_mib)
        spec.mem_per_node_mib.reset();
    else if (changes.mem_per_node_mib)
        spec.mem_per_cpu_mib.reset();
    return spec;
}

Result<void> check_readable(const Cluster& cluster, const JobSpec& spec) {
    for (const auto& name : spec.partitions)
        if (!cluster.find_partition(name)) return fail(refusal::invalid_partition);
    if (spec.partitions.empty()) return fail(refusal::invalid_partition);
    SPUR_CHECK(parse_licenses(spec.licenses));
    if (!spec.dependency.empty() && !DependencyList::parse(spec.dependency)) return fail(refusal::dependency_problem);
    if (spec.min_nodes && spec.max_nodes && *spec.min_nodes > *spec.max_nodes) return fail(refusal::node_count);
    if (spec.time_min_min && spec.time_limit_min && *spec.time_min_min > *spec.time_limit_min)
        return fail(refusal::invalid_time_min);
    return {};
}

}  // namespace

JobSpec with_changes(const JobSpec& spec, const JobChanges& changes) { return changed_spec(spec, changes); }

Result<void> ClusterOps::check_rights(const Job& job, const UpdateJob& cmd) const {
    const auto& changes = cmd.changes;
    if (cmd.actor.is_operator()) return {};
    const auto denied = [] { return fail(refusal::denied); };
    if (changes.admin_comment || changes.system_comment) return denied();
    if (changes.priority && *changes.priority > job.priority) return denied();
    if (changes.nice && *changes.nice < job.spec->nice.value_or(0)) return denied();
    if (changes.time_limit_min && *changes.time_limit_min > job.time_limit_min) return denied();
    if (changes.end_time && (job.end_time != 0 && *changes.end_time > job.end_time)) return denied();
    if (changes.deadline && job.spec->deadline && *changes.deadline > *job.spec->deadline) return denied();
    return {};
}

// What an owner may not submit he may not get by changing it either.
Result<JobSpec> ClusterOps::changed_request(const Job& job, const UpdateJob& cmd) const {
    auto spec = changed_spec(*job.spec, cmd.changes);
    if (!cmd.recheck || spec == *job.spec) return spec;
    SPUR_CHECK(check_size(spec));
    if (cmd.actor.is_operator() || !job.is_pending()) return spec;
    return revalidate(c, std::move(spec), *job.spec, cmd.actor, at, cmd.owner_groups);
}

// Limits are those of a job submitted there now, which is not counted where it was.
Result<void> ClusterOps::check_new_place(const Job& job, const JobSpec& changed) {
    const auto& old = *job.spec;
    if (changed.account == old.account && changed.qos == old.qos && changed.partitions == old.partitions) return {};
    const auto tasks = static_cast<std::uint32_t>(job.task_count());
    const auto* association = c.find_association(changed.account, changed.user_name, changed.partitions.front());
    count_submitted(job, -std::int64_t{tasks});
    auto checked =
        check_submit_limits(changed, Request::of(changed), association ? association->id : AssociationId{}, tasks);
    count_submitted(job, std::int64_t{tasks});
    return checked;
}

Result<void> ClusterOps::check_update(const Job& job, const UpdateJob& cmd) {
    const auto& changes = cmd.changes;
    SPUR_CHECK(check_rights(job, cmd));
    if (job.is_finished() && touches_more_than_notes(changes)) return fail(refusal::finished);
    if (job.state != JobState::pending && !(changed_spec(*job.spec, changes, Which::while_waiting) == *job.spec))
        return fail(refusal::not_pending);
    if (changes.priority && *changes.priority && job.hold != Hold::none) return fail(refusal::job_held);
    if (changes.time_limit_min && *changes.time_limit_min == 0) return fail(refusal::invalid_time_limit);
    if (changes.end_time && !job.is_running()) return fail(refusal::not_running);
    if (changes.end_time && *changes.end_time < at) return fail(refusal::invalid_time);
    if (changes.array_limit && !c.find_array(job.array_job)) return fail(refusal::invalid_array);
    if (changes.keep_nodes) SPUR_CHECK(check_shrink(job, *changes.keep_nodes));
    if (changes.dependency) SPUR_CHECK(check_no_circle(job, *changes.dependency));
    SPUR_TRY(const auto request, changed_request(job, cmd));
    SPUR_CHECK(check_readable(c, request));
    if (!cmd.recheck || cmd.actor.is_operator()) return {};
    SPUR_CHECK(check_growth(request, *job.spec));
    return check_new_place(job, request);
}

// Longer texts count against the owner like those of a new job.
Result<void> ClusterOps::check_growth(const JobSpec& changed, const JobSpec& old) const {
    const auto most = c.policies_.max_stored_per_user_mib << 20;
    const auto now = text_bytes(changed), before = text_bytes(old);
    if (most == 0 || now <= std::max(before, request_limit::free_text_bytes)) return {};
    if (c.stored_bytes(old.uid) + (now - before) <= most) return {};
    return fail(refusal::policy);
}

Result<void> ClusterOps::check_shrink(const Job& job, const std::vector<NodeId>& keep) const {
    if (!job.is_running() || job.is_completing()) return fail(refusal::not_running);
    if (keep.empty() || job.cores_released) return fail(refusal::node_count);
    for (const auto id : keep)
        if (std::ranges::none_of(job.allocation->shares, [&](const NodeShare& share) { return share.node == id; }))
            return fail(refusal::invalid_node);
    const auto first = job.allocation->shares.front().node;
    if (job.spec->kind == JobKind::batch && std::ranges::find(keep, first) == keep.end())
        return fail(refusal::invalid_node);  // the batch script lives there
    return {};
}

Result<void> ClusterOps::check_no_circle(const Job& job, const Text& dependency) const {
    const auto list = DependencyList::parse(dependency);
    if (!list) return fail(refusal::dependency_problem);
    std::set<JobId> seen;
    std::vector<JobId> todo;
    for (const auto& entry : list->entries) todo.push_back(JobId{entry.job});
    while (!todo.empty()) {
        const auto id = todo.back();
        todo.pop_back();
        if (id == job.id || (job.array_job && id == job.array_job)) return fail(refusal::circular_dependency);
        const Job* next = seen.insert(id).second ? c.find_job(id) : nullptr;
        if (!next || !next->is_pending()) continue;
        for (const auto& entry : next->dependencies.entries) todo.push_back(JobId{entry.job});
    }
    return {};
}

Result<void> ClusterOps::on(const UpdateJob& cmd) {
    SPUR_TRY(auto found, own_targets(cmd.job, cmd.actor));
    std::optional<Error> first_error;
    std::erase_if(found, [&](const Target& target) {
        auto checked = check_update(*target.job, cmd);
        if (!checked && !first_error) first_error = checked.error();
        return !checked;
    });
    if (found.empty()) return std::unexpected(*std::move(first_error));
    for (const auto& target : found) {
        const bool record_wide = cmd.changes.array_limit && cmd.changes == only_array_limit(cmd.changes);
        const auto jobs = record_wide ? std::vector<Job*>{target.job} : separate(target);
        for (Job* job : jobs) change_job(*job, cmd);
    }
    return {};
}

JobChanges ClusterOps::only_array_limit(const JobChanges& changes) {
    JobChanges only;
    only.array_limit = changes.array_limit;
    return only;
}

void ClusterOps::change_job(Job& job, const UpdateJob& cmd) {
    const auto& changes = cmd.changes;
    const bool tied = changes.dependency.has_value();
    if (tied) index_waiting(job, false);
    if (changes.account || changes.qos || changes.partitions)
        count_submitted(job, -static_cast<std::int64_t>(job.task_count()));
    {
        Change change{*this, job};
        if (auto spec = changed_request(job, cmd); spec && !(*spec == *job.spec)) {
            count_texts(job, false);
            set_spec(job, std::make_shared<JobSpec>(*std::move(spec)), job.request);
            count_texts(job, true);
        }
        if (changes.account || changes.partitions) {
            if (const auto* association =
                    c.find_association(job.spec->account, job.spec->user_name, job.spec->partitions.front()))
                job.association = association->id;
            else if (cmd.recheck)
                job.association = {};
        }
        if (changes.system_comment) job.system_comment = *changes.system_comment;
        if (tied) job.dependencies = *DependencyList::parse(*changes.dependency);
        if (changes.reset_accrue_time) job.accrue_time = at;
        if (changes.priority) set_priority(job, *changes.priority, cmd.actor);
        if (changes.time_limit_min) set_limit(job, *changes.time_limit_min);
        if (changes.end_time) {
            job.end_time = *changes.end_time;
            job.time_limit_min = static_cast<std::uint32_t>((job.run_time_s(at) + (job.end_time - at) + 59) / 60);
            events.push_back(JobLimitChanged{job.id, job.attempt});
        }
        if (changes.array_limit) {
            auto& array = c.arrays_.at(job.array_job);
            array.max_running = *changes.array_limit;
            array.version = version;
            if (job.array_pending) job.array_limit = *changes.array_limit;
        }
        if (changes.keep_nodes) shrink(job, *changes.keep_nodes);
    }
    if (changes.account || changes.qos || changes.partitions)
        count_submitted(job, static_cast<std::int64_t>(job.task_count()));
    if (tied) {
        for (auto& entry : job.dependencies.entries)
            if (!entry.task && c.find_array(JobId{entry.job})) entry.all_tasks = true;
        index_waiting(job, true);
        if (job.array_pending) update_corresponding(job, std::nullopt);
        update_dependencies(job);
    }
    refresh(job);
    events.push_back(JobChanged{job.id});
}

void ClusterOps::set_priority(Job& job, std::uint32_t priority, const Actor& actor) {
    job.priority = priority;
    job.priority_set = priority != 0;
    if (priority == 0) job.hold = actor.is_operator() ? Hold::admin : Hold::user;
}

void ClusterOps::set_limit(Job& job, std::uint32_t minutes) {
    job.time_limit_min = minutes;
    if (!job.is_active()) return;
    job.end_time = minutes == unlimited ? 0 : job.start_time + job.suspended_s + std::int64_t{minutes} * 60;
    events.push_back(JobLimitChanged{job.id, job.attempt});
}

// The job lets go of the other nodes; they are free once they have cleaned up.
void ClusterOps::shrink(Job& job, const std::vector<NodeId>& keep) {
    count_running(job, -1);
    auto smaller = std::make_shared<Allocation>(*job.allocation);
    smaller->shares.clear();
    smaller->cpus = 0;
    smaller->memory_mib = 0;
    JobShrunk event{job.id, job.attempt, {}};
    for (const auto& share : job.allocation->shares) {
        if (std::ranges::find(keep, share.node) != keep.end()) {
            smaller->shares.push_back(share);
            smaller->cpus += share.cpus;
            smaller->memory_mib += share.memory_mib;
            continue;
        }
        job.leaving.push_back(share);
        event.released.push_back(share.node);
        auto& left = c.nodes_[share.node.value];
        ++left.completing_jobs;
        touch(left);
    }
    job.open_shares.clear();
    for (std::uint32_t i = 0; i < smaller->shares.size(); ++i) job.open_shares.push_back(i);
    job.allocation = std::move(smaller);
    job.resize_time = at;
    count_running(job, +1);
    if (!event.released.empty()) events.push_back(std::move(event));
}

}  // namespace spur
