// Limits by association and QOS as the cluster's own records have them, and the counts they are held against.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/validate.hpp"

namespace spur {

namespace {

// TRES-minutes left of the running jobs that `counts` picks. Few sites limit them, so they are added up when asked.
template <class Counts>
std::uint64_t run_minutes(const Cluster& cluster, std::string_view tres, Counts&& counts) {
    std::uint64_t sum = 0;
    for (const auto id : cluster.active_jobs()) {
        const auto& job = *cluster.find_job(id);
        if (!job.is_active() || !counts(job)) continue;
        const auto left_s = job.end_time ? std::max<std::int64_t>(job.end_time - cluster.now(), 0) : 0;
        sum += allocated_tres(cluster, *job.allocation).get(tres) * static_cast<std::uint64_t>(left_s / 60);
    }
    return sum;
}

}  // namespace

JobLimits ClusterOps::limits_of(const Cluster& c, const JobSpec& spec, AssociationId association) {
    static const Usage unused;
    const auto usage_in = [](const auto& map, const auto& key) {
        const auto found = map.find(key);
        return found == map.end() ? &unused : &found->second;
    };
    return {c,
            association,
            spec.qos,
            spec.partitions.empty() ? Text{} : spec.partitions.front(),
            [](const Association& entry) { return &entry.usage; },
            [&](const Qos& qos) {
                return LimitPlace::Quality{&qos, &qos.usage,
                                           usage_in(c.index_->qos_users, std::pair{qos.name, spec.uid}),
                                           usage_in(c.index_->qos_accounts, std::pair{qos.name, spec.account})};
            }};
}

Reason Cluster::limit_reason(const Job& job, const TresList& would_use) const {
    return limit_hit(job, would_use).reason;
}

LimitHit Cluster::limit_hit(const Job& job, const TresList& would_use) const {
    if (!(policies_.enforce & enforce_flag::limits)) return {};
    const auto own = ClusterOps::limits_of(*this, *job.spec, job.association);
    return find_limit(own.place, would_use, job.time_limit_min,
                      [&](const LimitPlace::Group* group, const LimitPlace::Quality* quality, std::string_view tres) {
                          return run_minutes(*this, tres, [&](const Job& other) {
                              return group ? is_below(other.association, group->association->id)
                                           : other.spec->qos == quality->qos->name;
                          });
                      });
}

// Who has how many waiting jobs that get older.
struct AccrualCounts {
    std::map<AssociationId, std::uint32_t> groups;
    std::map<std::pair<Text, Uid>, std::uint32_t> users;
    std::map<std::pair<Text, Text>, std::uint32_t> accounts;

    void add(const Cluster& cluster, const Job& job) {
        for (const auto* up = cluster.find_association(job.association); up; up = cluster.find_association(up->parent))
            ++groups[up->id];
        ++users[{job.spec->qos, job.spec->uid}];
        ++accounts[{job.spec->qos, job.spec->account}];
    }
};

// Waiting jobs get older as far as limits on that go, the first submitted first.
void ClusterOps::update_accrual() {
    const auto limited = [](const Limits& limits) { return limits.grp_jobs_accrue || limits.max_jobs_accrue; };
    const bool any =
        (c.policies_.enforce & enforce_flag::limits) &&
        (std::ranges::any_of(c.associations_, [&](const auto& one) { return limited(one.second.limits); }) ||
         std::ranges::any_of(c.qos_, [&](const auto& one) {
             return limited(one.second.limits) || one.second.max_jobs_accrue_per_account;
         }));
    AccrualCounts counts;
    if (any)
        for (const auto id : c.pending_)
            if (const auto& job = c.jobs_.at(id); job.eligible && job.accrue_time != 0) counts.add(c, job);
    for (const auto id : c.pending_) {
        auto& job = c.jobs_.at(id);
        if (!job.eligible || job.accrue_time != 0) continue;
        if (any && !may_get_older(job, counts)) continue;
        Change change{*this, job};
        job.accrue_time = at;
        counts.add(c, job);
        events.push_back(JobChanged{job.id});
    }
}

bool ClusterOps::may_get_older(const Job& job, const AccrualCounts& counts) const {
    const auto own = limits_of(c, *job.spec, job.association);
    if (!limits_accrual(own.place)) return true;
    const auto count = [](const auto& map, const auto& key) {
        const auto found = map.find(key);
        return found == map.end() ? 0U : found->second;
    };
    return may_accrue(own.place, {[&](const Association& entry) { return count(counts.groups, entry.id); },
                                  [&](const Qos& qos) {
                                      return count(counts.users, std::pair{qos.name, job.spec->uid});
                                  },
                                  [&](const Qos& qos) {
                                      return count(counts.accounts, std::pair{qos.name, job.spec->account});
                                  }});
}

bool ClusterOps::may_get_older(const Job& job) const {
    if (!(c.policies_.enforce & enforce_flag::limits)) return true;
    if (!limits_accrual(limits_of(c, *job.spec, job.association).place)) return true;
    AccrualCounts counts;
    for (const auto id : c.pending_)
        if (const auto& other = c.jobs_.at(id); other.eligible && other.accrue_time != 0 && other.id != job.id)
            counts.add(c, other);
    return may_get_older(job, counts);
}

// Jobs of those who have used up what they may are ended, as Slurm ends them.
void ClusterOps::end_spent() {
    if (!(c.policies_.enforce & enforce_flag::limits)) return;
    const auto running = c.active_;
    for (const auto id : running) {
        auto& job = c.jobs_.at(id);
        if (!job.is_active()) continue;
        if (const auto reason = judge_spent(limits_of(c, *job.spec, job.association).place); reason != Reason::none)
            end_active(job, JobState::timeout, reason);
    }
}

// Too many jobs are refused at once; too large ones wait, unless the QOS says DenyOnLimit.
Result<void> ClusterOps::check_submit_limits(const JobSpec& spec, const Request& request, AssociationId association,
                                             std::uint32_t tasks) const {
    if (!(c.policies_.enforce & enforce_flag::limits)) return {};
    const auto own = limits_of(c, spec, association);
    auto reason = judge_submit(own.place, tasks);
    const bool denies = std::ranges::any_of(own.place.qualities, [](const LimitPlace::Quality& quality) {
        return (quality.qos->flags & qos_flag::deny_on_limit) != 0;
    });
    if (reason == Reason::none && denies)
        reason = judge_alone(own.place, requested_tres(c, spec, request), spec.time_limit_min.value_or(unlimited));
    if (reason == Reason::none) return {};
    return fail(refusal::policy.below(to_string(reason)));
}

void ClusterOps::count_all(const Job& job, int jobs, std::int64_t submitted, const TresList& tres) {
    for (const auto* qos : qos_of(c, *job.spec)) {
        count_usage(c.qos_.find(qos->name)->second.usage, jobs, submitted, tres);
        count_usage(index().qos_users[{qos->name, job.spec->uid}], jobs, submitted, tres);
        count_usage(index().qos_accounts[{qos->name, job.spec->account}], jobs, submitted, tres);
    }
    for (auto id = job.association; id;) {
        const auto place = c.associations_.find(id);
        if (place == c.associations_.end()) break;
        count_usage(place->second.usage, jobs, submitted, tres);
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
