// Limits by association and QOS, with Slurm's reasons, and the counts they are held against.
#include <algorithm>

#include "core/cluster_ops.hpp"
#include "core/validate.hpp"

namespace spur {

namespace {

// One limit on trackable resources has a reason of its own for each kind of them.
struct TresReasons {
    Reason cpu, memory, node, gres, license, billing, energy, other;
};
Reason reason_for(const TresReasons& reasons, std::string_view tres) {
    if (tres == "cpu") return reasons.cpu;
    if (tres == "mem") return reasons.memory;
    if (tres == "node") return reasons.node;
    if (tres == "billing") return reasons.billing;
    if (tres == "energy") return reasons.energy;
    if (tres.starts_with("gres/")) return reasons.gres;
    if (tres.starts_with("license/")) return reasons.license;
    return reasons.other;
}

using R = Reason;
constexpr TresReasons qos_grp{R::qos_grp_cpu_limit, R::qos_grp_mem_limit, R::qos_grp_node_limit, R::qos_grp_gres,
                              R::qos_grp_license,   R::qos_grp_billing,   R::qos_grp_energy,     R::qos_grp_unknown};
constexpr TresReasons qos_grp_mins{R::qos_grp_cpu_minutes_limit, R::qos_grp_memory_minutes,  R::qos_grp_node_minutes,
                                   R::qos_grp_gres_minutes,      R::qos_grp_license_minutes, R::qos_grp_billing_minutes,
                                   R::qos_grp_energy_minutes,    R::qos_grp_unknown_minutes};
constexpr TresReasons qos_grp_run{R::qos_grp_cpu_run_minutes_limit, R::qos_grp_memory_run_minutes,
                                  R::qos_grp_node_run_minutes,      R::qos_grp_gres_run_minutes,
                                  R::qos_grp_license_run_minutes,   R::qos_grp_billing_run_minutes,
                                  R::qos_grp_energy_run_minutes,    R::qos_grp_unknown_run_minutes};
constexpr TresReasons assoc_grp_run{R::assoc_grp_cpu_run_minutes_limit, R::assoc_grp_mem_run_minutes,
                                    R::assoc_grp_node_run_minutes,      R::assoc_grp_gres_run_minutes,
                                    R::assoc_grp_license_run_minutes,   R::assoc_grp_billing_run_minutes,
                                    R::assoc_grp_energy_run_minutes,    R::assoc_grp_unknown_run_minutes};
constexpr TresReasons qos_job{R::qos_max_cpu_per_job_limit, R::qos_max_memory_per_job,  R::qos_max_node_per_job_limit,
                              R::qos_max_gres_per_job,      R::qos_max_license_per_job, R::qos_max_billing_per_job,
                              R::qos_max_energy_per_job,    R::qos_max_unknown_per_job};
constexpr TresReasons qos_job_mins{R::qos_max_cpu_minutes_per_job_limit, R::qos_max_memory_minutes_per_job,
                                   R::qos_max_node_minutes_per_job,      R::qos_max_gres_minutes_per_job,
                                   R::qos_max_license_minutes_per_job,   R::qos_max_billing_minutes_per_job,
                                   R::qos_max_energy_minutes_per_job,    R::qos_max_unknown_minutes_per_job};
constexpr TresReasons qos_node{R::qos_max_cpu_per_node,    R::qos_max_memory_per_node,  R::qos_max_unknown_per_node,
                               R::qos_max_gres_per_node,   R::qos_max_unknown_per_node, R::qos_max_billing_per_node,
                               R::qos_max_energy_per_node, R::qos_max_unknown_per_node};
constexpr TresReasons qos_user{R::qos_max_cpu_per_user_limit,  R::qos_max_memory_per_user,
                               R::qos_max_node_per_user_limit, R::qos_max_gres_per_user,
                               R::qos_max_license_per_user,    R::qos_max_billing_per_user,
                               R::qos_max_energy_per_user,     R::qos_max_unknown_per_user};
constexpr TresReasons qos_account{R::max_cpu_per_account,    R::max_memory_per_account,  R::max_node_per_account,
                                  R::max_gres_per_account,   R::max_license_per_account, R::max_billing_per_account,
                                  R::max_energy_per_account, R::max_unknown_per_account};
constexpr TresReasons qos_least{
    R::qos_min_cpu_not_satisfied, R::qos_min_memory,  R::qos_min_node,   R::qos_min_gres,
    R::qos_min_license,           R::qos_min_billing, R::qos_min_energy, R::qos_min_unknown};
constexpr TresReasons assoc_grp{R::assoc_grp_cpu_limit, R::assoc_grp_mem_limit, R::assoc_grp_node_limit,
                                R::assoc_grp_gres,      R::assoc_grp_license,   R::assoc_grp_billing,
                                R::assoc_grp_energy,    R::assoc_grp_unknown};
constexpr TresReasons assoc_grp_mins{R::assoc_grp_cpu_minutes_limit, R::assoc_grp_mem_minutes,
                                     R::assoc_grp_node_minutes,      R::assoc_grp_gres_minutes,
                                     R::assoc_grp_license_minutes,   R::assoc_grp_billing_minutes,
                                     R::assoc_grp_energy_minutes,    R::assoc_grp_unknown_minutes};
constexpr TresReasons assoc_job{R::assoc_max_cpu_per_job_limit,  R::assoc_max_mem_per_job,
                                R::assoc_max_node_per_job_limit, R::assoc_max_gres_per_job,
                                R::assoc_max_license_per_job,    R::assoc_max_billing_per_job,
                                R::assoc_max_energy_per_job,     R::assoc_max_unknown_per_job};
constexpr TresReasons assoc_job_mins{R::assoc_max_cpu_minutes_per_job_limit, R::assoc_max_mem_minutes_per_job,
                                     R::assoc_max_node_minutes_per_job,      R::assoc_max_gres_minutes_per_job,
                                     R::assoc_max_license_minutes_per_job,   R::assoc_max_billing_minutes_per_job,
                                     R::assoc_max_energy_minutes_per_job,    R::assoc_max_unknown_minutes_per_job};
constexpr TresReasons assoc_node{R::assoc_max_cpu_per_node,     R::assoc_max_mem_per_node,
                                 R::assoc_max_unknown_per_node, R::assoc_max_gres_per_node,
                                 R::assoc_max_unknown_per_node, R::assoc_max_billing_per_node,
                                 R::assoc_max_energy_per_node,  R::assoc_max_unknown_per_node};

const TresList nothing;

// The first resource of `limit` that `used` and `wanted` together exceed.
Reason exceeded(const TresList& limit, const TresList& used, const TresList& wanted, const TresReasons& reasons) {
    for (const auto& entry : limit.entries())
        if (used.get(entry.name) + wanted.get(entry.name) > entry.count && wanted.get(entry.name))
            return reason_for(reasons, entry.name);
    return Reason::none;
}

Reason exceeded_minutes(const TresList& limit, const TresList& wanted, std::uint32_t minutes,
                        const TresReasons& reasons) {
    for (const auto& entry : limit.entries())
        if (minutes == unlimited || wanted.get(entry.name) * minutes > entry.count)
            return reason_for(reasons, entry.name);
    return Reason::none;
}

Reason spent(const TresList& limit, const Usage& usage, const TresReasons& reasons) {
    for (const auto& entry : limit.entries())
        for (const auto& used : usage.tres_seconds)
            if (used.name == entry.name && used.seconds / 60.0 >= static_cast<double>(entry.count))
                return reason_for(reasons, entry.name);
    return Reason::none;
}

TresList per_node(const TresList& wanted) {
    TresList result;
    const auto nodes = std::max<std::uint64_t>(1, wanted.get("node"));
    for (const auto& entry : wanted.entries())
        if (entry.name != "node") result.set(entry.name, (entry.count + nodes - 1) / nodes);
    return result;
}

// GrpTRESRunMins: what running jobs may still use until their time limits, with this one on top. Few sites set it, so
// it is added up when asked.
template <class Counts>
Reason exceeded_run_minutes(const Cluster& cluster, const TresList& limit, const TresList& wanted,
                            std::uint32_t minutes, const TresReasons& reasons, Counts&& counts) {
    for (const auto& entry : limit.entries()) {
        if (wanted.get(entry.name) == 0) continue;
        if (minutes == unlimited) return reason_for(reasons, entry.name);
        std::uint64_t sum = wanted.get(entry.name) * minutes;
        for (const auto id : cluster.active_jobs()) {
            const auto& job = *cluster.find_job(id);
            if (!job.is_active() || !counts(job)) continue;
            const auto left_s = job.end_time ? std::max<std::int64_t>(job.end_time - cluster.now(), 0) : 0;
            sum += allocated_tres(cluster, *job.allocation).get(entry.name) * static_cast<std::uint64_t>(left_s / 60);
        }
        if (sum > entry.count) return reason_for(reasons, entry.name);
    }
    return Reason::none;
}

template <class... Checks>
Reason first_reason(Checks&&... checks) {
    Reason found = Reason::none;
    ((found = checks(), found != Reason::none) || ...);
    return found;
}

bool over(const std::optional<std::uint32_t>& limit, std::uint64_t count) { return limit && count > *limit; }

// Judges one job against one QOS or one association; `Job` is what it asks, not yet what it has.
struct Request {
    const TresList& wanted;
    std::uint32_t minutes;
};

Reason judge_job_size(const Limits& limits, const Request& job, const TresReasons& per_job, const TresReasons& mins,
                      const TresReasons& node, Reason wall) {
    return first_reason([&] { return over(limits.max_wall_min, job.minutes) ? wall : Reason::none; },
                        [&] { return exceeded(limits.max_tres_per_job, nothing, job.wanted, per_job); },
                        [&] { return exceeded(limits.max_tres_per_node, nothing, per_node(job.wanted), node); },
                        [&] { return exceeded_minutes(limits.max_tres_mins_per_job, job.wanted, job.minutes, mins); });
}

Reason judge_qos_size(const Qos& qos, const Request& job) {
    const auto too_small = [&] {
        for (const auto& entry : qos.min_tres_per_job.entries())
            if (job.wanted.get(entry.name) < entry.count) return reason_for(qos_least, entry.name);
        return Reason::none;
    };
    return first_reason(
        [&] {
            return judge_job_size(qos.limits, job, qos_job, qos_job_mins, qos_node,
                                  Reason::qos_max_wall_duration_per_job_limit);
        },
        too_small);
}

Reason judge_qos(const Qos& qos, const Usage& user, const Usage& account, const Request& job) {
    const auto& limits = qos.limits;
    return first_reason(
        [&] { return over(limits.grp_jobs, qos.usage.jobs + 1ULL) ? Reason::qos_grp_jobs_limit : Reason::none; },
        [&] { return over(limits.max_jobs, user.jobs + 1ULL) ? Reason::qos_max_jobs_per_user_limit : Reason::none; },
        [&] {
            return over(qos.max_jobs_per_account, account.jobs + 1ULL) ? Reason::max_jobs_per_account : Reason::none;
        },
        [&] { return judge_qos_size(qos, job); },
        [&] { return exceeded(limits.grp_tres, qos.usage.tres, job.wanted, qos_grp); },
        [&] { return exceeded(qos.max_tres_per_user, user.tres, job.wanted, qos_user); },
        [&] { return exceeded(qos.max_tres_per_account, account.tres, job.wanted, qos_account); },
        [&] { return spent(limits.grp_tres_mins, qos.usage, qos_grp_mins); },
        [&] {
            const bool walled = limits.grp_wall_min && qos.usage.grp_wall_s / 60.0 >= *limits.grp_wall_min;
            return walled ? Reason::qos_grp_wall_limit : Reason::none;
        });
}

Reason judge_group(const Association& entry, const Request& job) {
    const auto& limits = entry.limits;
    return first_reason(
        [&] { return over(limits.grp_jobs, entry.usage.jobs + 1ULL) ? Reason::assoc_grp_jobs_limit : Reason::none; },
        [&] { return exceeded(limits.grp_tres, entry.usage.tres, job.wanted, assoc_grp); },
        [&] { return spent(limits.grp_tres_mins, entry.usage, assoc_grp_mins); },
        [&] {
            const bool walled = limits.grp_wall_min && entry.usage.grp_wall_s / 60.0 >= *limits.grp_wall_min;
            return walled ? Reason::assoc_grp_wall_limit : Reason::none;
        });
}

template <class T>
void inherit(T& own, const T& parents) {
    if constexpr (std::is_same_v<T, TresList>) {
        for (const auto& entry : parents.entries())
            if (!own.find(entry.name)) own.set(entry.name, entry.count);
    } else {
        if (!own) own = parents;
    }
}

// Per-job and per-user limits a user's association has, those of the accounts above it included.
Limits effective_limits(const Cluster& cluster, const Association& start) {
    Limits limits = start.limits;
    for (const auto* up = cluster.find_association(start.parent); up; up = cluster.find_association(up->parent)) {
        inherit(limits.max_jobs, up->limits.max_jobs);
        inherit(limits.max_submit_jobs, up->limits.max_submit_jobs);
        inherit(limits.max_wall_min, up->limits.max_wall_min);
        inherit(limits.max_tres_per_job, up->limits.max_tres_per_job);
        inherit(limits.max_tres_per_node, up->limits.max_tres_per_node);
        inherit(limits.max_tres_mins_per_job, up->limits.max_tres_mins_per_job);
    }
    return limits;
}

std::vector<const Qos*> qos_of(const Cluster& cluster, const JobSpec& spec) {
    std::vector<const Qos*> found;
    if (const auto* own = cluster.find_qos(spec.qos)) found.push_back(own);
    if (const auto* partition = spec.partitions.empty() ? nullptr : cluster.find_partition(spec.partitions.front()))
        if (const auto* extra = cluster.find_qos(partition->qos); extra && extra->name != spec.qos)
            found.push_back(extra);
    return found;
}

void count(Usage& usage, int jobs, std::int64_t submitted, const TresList& tres) {
    usage.jobs = static_cast<std::uint32_t>(static_cast<std::int64_t>(usage.jobs) + jobs);
    usage.submit_jobs = static_cast<std::uint32_t>(static_cast<std::int64_t>(usage.submit_jobs) + submitted);
    for (const auto& entry : tres.entries()) {
        const auto now = usage.tres.get(entry.name);
        usage.tres.set(entry.name, jobs > 0 ? now + entry.count : now - std::min(now, entry.count));
    }
}

}  // namespace

Reason Cluster::limit_reason(const Job& job, const TresList& would_use) const {
    if (!(policies_.enforce & enforce_flag::limits)) return Reason::none;
    const Request request{would_use, job.time_limit_min};
    static const Usage unused;
    const auto usage_in = [](const auto& map, const auto& key) -> const Usage& {
        const auto place = map.find(key);
        return place == map.end() ? unused : place->second;
    };
    for (const auto* qos : qos_of(*this, *job.spec)) {
        const auto& user = usage_in(index_->qos_users, std::pair{qos->name, job.spec->uid});
        const auto& account = usage_in(index_->qos_accounts, std::pair{qos->name, job.spec->account});
        if (const auto reason = judge_qos(*qos, user, account, request); reason != Reason::none) return reason;
        const auto same = [&](const Job& other) { return other.spec->qos == qos->name; };
        if (const auto reason = exceeded_run_minutes(*this, qos->limits.grp_tres_run_mins, would_use,
                                                     job.time_limit_min, qos_grp_run, same);
            reason != Reason::none)
            return reason;
    }
    const auto* own = find_association(job.association);
    if (!own) return Reason::none;
    const auto limits = effective_limits(*this, *own);
    if (over(limits.max_jobs, own->usage.jobs + 1ULL)) return Reason::assoc_max_jobs_limit;
    if (const auto reason = judge_job_size(limits, request, assoc_job, assoc_job_mins, assoc_node,
                                           Reason::assoc_max_wall_duration_per_job_limit);
        reason != Reason::none)
        return reason;
    for (const auto* entry = own; entry; entry = find_association(entry->parent)) {
        if (const auto reason = judge_group(*entry, request); reason != Reason::none) return reason;
        const auto below = [&](const Job& other) {
            const auto* up = find_association(other.association);
            while (up && up->id != entry->id) up = find_association(up->parent);
            return up != nullptr;
        };
        if (const auto reason = exceeded_run_minutes(*this, entry->limits.grp_tres_run_mins, would_use,
                                                     job.time_limit_min, assoc_grp_run, below);
            reason != Reason::none)
            return reason;
    }
    return Reason::none;
}

// Too many jobs are refused at once; too large ones wait, unless the QOS says DenyOnLimit.
Result<void> ClusterOps::check_submit_limits(const JobSpec& spec, AssociationId association,
                                             std::uint32_t tasks) const {
    if (!(c.policies_.enforce & enforce_flag::limits)) return {};
    const auto refuse = [](Reason reason) -> Result<void> {
        return fail(ErrorCode::limit, "{}\n{}", to_string(reason), refusal::policy);
    };
    const auto wanted = requested_tres(c, spec);
    const Request request{wanted, spec.time_limit_min.value_or(unlimited)};
    for (const auto* qos : qos_of(c, spec)) {
        const auto user = c.index_->qos_users.find({qos->name, spec.uid});
        const auto account = c.index_->qos_accounts.find({qos->name, spec.account});
        const std::uint64_t of_user = user == c.index_->qos_users.end() ? 0 : user->second.submit_jobs;
        const std::uint64_t of_account = account == c.index_->qos_accounts.end() ? 0 : account->second.submit_jobs;
        if (over(qos->limits.grp_submit_jobs, std::uint64_t{qos->usage.submit_jobs} + tasks))
            return refuse(Reason::qos_grp_submit_jobs_limit);
        if (over(qos->limits.max_submit_jobs, of_user + tasks))
            return refuse(Reason::qos_max_submit_job_per_user_limit);
        if (over(qos->max_submit_jobs_per_account, of_account + tasks))
            return refuse(Reason::max_submit_jobs_per_account);
        if (qos->flags & qos_flag::deny_on_limit)
            if (const auto reason = judge_qos_size(*qos, request); reason != Reason::none) return refuse(reason);
    }
    const auto* own = c.find_association(association);
    if (!own) return {};
    if (over(effective_limits(c, *own).max_submit_jobs, std::uint64_t{own->usage.submit_jobs} + tasks))
        return refuse(Reason::assoc_max_submit_job_limit);
    for (const auto* entry = own; entry; entry = c.find_association(entry->parent))
        if (over(entry->limits.grp_submit_jobs, std::uint64_t{entry->usage.submit_jobs} + tasks))
            return refuse(Reason::assoc_grp_submit_jobs_limit);
    return {};
}

void ClusterOps::count_all(const Job& job, int jobs, std::int64_t submitted, const TresList& tres) {
    for (const auto* qos : qos_of(c, *job.spec)) {
        count(c.qos_.find(qos->name)->second.usage, jobs, submitted, tres);
        count(index().qos_users[{qos->name, job.spec->uid}], jobs, submitted, tres);
        count(index().qos_accounts[{qos->name, job.spec->account}], jobs, submitted, tres);
    }
    for (auto id = job.association; id;) {
        const auto place = c.associations_.find(id);
        if (place == c.associations_.end()) break;
        count(place->second.usage, jobs, submitted, tres);
        id = place->second.parent;
    }
}

void ClusterOps::count_submitted(const Job& job, std::int64_t tasks) {
    if (c.policies_.enforce & enforce_flag::limits) count_all(job, 0, tasks, {});
}

void ClusterOps::count_running(const Job& job, int sign) {
    if (c.policies_.enforce & enforce_flag::limits) count_all(job, sign, 0, allocated_tres(c, *job.allocation));
    if (sign < 0) charge(job);
}

// From nothing, after loading or when limits come into force.
void ClusterOps::recount() {
    const auto reset = [](Usage& usage) {
        usage.jobs = usage.submit_jobs = 0;
        usage.tres = {};
    };
    for (auto& [id, entry] : c.associations_) reset(entry.usage);
    for (auto& [name, qos] : c.qos_) reset(qos.usage);
    index().qos_users.clear();
    index().qos_accounts.clear();
    if (!(c.policies_.enforce & enforce_flag::limits)) return;
    for (const auto& [id, job] : c.jobs_) {
        if (job.is_done()) continue;
        count_all(job, 0, static_cast<std::int64_t>(job.task_count()), {});
        if (job.is_active()) count_all(job, 1, 0, allocated_tres(c, *job.allocation));
    }
}

}  // namespace spur
