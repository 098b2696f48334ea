// The judgement itself: each limit compared with what counts against it, in Slurm's order.
#include "core/machine/limits.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "core/base/ids.hpp"
#include "core/model/limit_reasons.hpp"

namespace spur {

namespace {

using namespace limit_reasons;

const TresList nothing;

// What is judged: a job's wishes, and whose limits they are held against.
struct LimitRequest {
    const TresList& wanted;
    std::uint32_t minutes;
    double safe_factor{1};   // UsageFactorSafe: what a minute of the job counts for
    double limit_factor{1};  // LimitFactor: what associations' TRES limits are multiplied with
};

struct Holder {
    const Association* association{};
    const Qos* qos{};
};

LimitHit hit(const Holder& holder, std::string_view name, Reason reason, double most, double used, double asked,
             std::string_view tres = {}) {
    return {reason, name, std::string{tres}, most, used, asked, holder.association, holder.qos};
}

// The first resource of `limit` that `used` and `wanted` together exceed.
LimitHit exceeded(const Holder& holder, std::string_view name, const TresList& limit, const TresList& used,
                  const TresList& wanted, const TresReasons& reasons, double factor = 1) {
    for (const auto& entry : limit.entries()) {
        const auto most = static_cast<double>(entry.count) * factor;
        const auto now = static_cast<double>(used.get(entry.name)), more = static_cast<double>(wanted.get(entry.name));
        if (now + more > most && more > 0)
            return hit(holder, name, reason_for(reasons, entry.name), most, now, more, entry.name);
    }
    return {};
}

LimitHit exceeded_minutes(const Holder& holder, std::string_view name, const TresList& limit, const LimitRequest& job,
                          const TresReasons& reasons) {
    for (const auto& entry : limit.entries()) {
        const auto asked = static_cast<double>(job.wanted.get(entry.name)) * job.minutes;
        if (job.minutes == unlimited || asked > static_cast<double>(entry.count))
            return hit(holder, name, reason_for(reasons, entry.name), static_cast<double>(entry.count), 0, asked,
                       entry.name);
    }
    return {};
}

LimitHit over(const Holder& holder, std::string_view name, Reason reason, const std::optional<std::uint32_t>& limit,
              std::uint64_t used, std::uint64_t asked) {
    if (!limit || used + asked <= *limit) return {};
    return hit(holder, name, reason, *limit, static_cast<double>(used), static_cast<double>(asked));
}

TresList per_node(const TresList& wanted) {
    TresList result;
    const auto nodes = std::max<std::uint64_t>(1, wanted.get("node"));
    for (const auto& entry : wanted.entries())
        if (entry.name != "node") result.set(entry.name, (entry.count + nodes - 1) / nodes);
    return result;
}

template <class... Checks>
LimitHit first_hit(Checks&&... checks) {
    LimitHit found;
    ((found = checks(), found.reason != Reason::none) || ...);
    return found;
}

// What limits a job by itself, whatever else runs.
struct SizeReasons {
    const TresReasons &job, &minutes, &node;
    Reason wall;
};
constexpr SizeReasons qos_size{qos_job, qos_job_mins, qos_node, Reason::qos_max_wall_duration_per_job_limit};
constexpr SizeReasons assoc_size{assoc_job, assoc_job_mins, assoc_node, Reason::assoc_max_wall_duration_per_job_limit};

LimitHit judge_size(const Holder& holder, const Limits& limits, const LimitRequest& job, const SizeReasons& why) {
    const auto factor = holder.association ? job.limit_factor : 1;
    return first_hit(
        [&] { return over(holder, "MaxWall", why.wall, limits.max_wall_min, 0, job.minutes); },
        [&] {
            return exceeded(holder, "MaxTRESPerJob", limits.max_tres_per_job, nothing, job.wanted, why.job, factor);
        },
        [&] {
            return exceeded(holder, "MaxTRESPerNode", limits.max_tres_per_node, nothing, per_node(job.wanted), why.node,
                            factor);
        },
        [&] { return exceeded_minutes(holder, "MaxTRESMins", limits.max_tres_mins_per_job, job, why.minutes); });
}

LimitHit judge_qos_size(const Qos& qos, const LimitRequest& job) {
    const Holder holder{nullptr, &qos};
    const auto too_small = [&]() -> LimitHit {
        for (const auto& entry : qos.min_tres_per_job.entries())
            if (const auto asked = job.wanted.get(entry.name); asked < entry.count)
                return hit(holder, "MinTRESPerJob", reason_for(qos_least, entry.name), static_cast<double>(entry.count),
                           0, static_cast<double>(asked), entry.name);
        return {};
    };
    return first_hit([&] { return judge_size(holder, qos.limits, job, qos_size); }, too_small);
}

// GrpTRESMins, GrpTRESRunMins and GrpWall of a group or a QOS.
struct GroupMinutes {
    Holder holder;
    const Limits& limits;
    const Usage& used;
    const TresReasons &spent, &running;
    Reason wall;
};
GroupMinutes minutes_of(const Association& entry) {
    return {{&entry, nullptr}, entry.limits, entry.usage, assoc_grp_mins, assoc_grp_run, Reason::assoc_grp_wall_limit};
}
GroupMinutes minutes_of(const Qos& qos) {
    return {{nullptr, &qos}, qos.limits, qos.usage, qos_grp_mins, qos_grp_run, Reason::qos_grp_wall_limit};
}

double spent_minutes(const Usage& usage, std::string_view tres) {
    for (const auto& used : usage.tres_seconds)
        if (used.name == tres) return used.seconds / 60.0;
    return 0;
}

// `left` is what running jobs may still use.
template <class Left>
LimitHit judge_minutes(const GroupMinutes& group, const LimitRequest& job, bool safe, Left&& left) {
    const auto& limits = group.limits;
    const auto needs = [&](const Tres& entry) {
        const auto wanted = static_cast<double>(job.wanted.get(entry.name)) * job.minutes * job.safe_factor;
        return wanted == 0 ? 0 : static_cast<double>(left(entry.name)) + wanted;
    };
    for (const auto& entry : limits.grp_tres_mins.entries()) {
        const auto most = static_cast<double>(entry.count), spent = spent_minutes(group.used, entry.name);
        const bool endless = job.minutes == unlimited && job.wanted.get(entry.name) > 0;
        const auto more = safe ? needs(entry) : 0;
        if (spent >= most || (safe && endless) || spent + more > most)
            return hit(group.holder, "GrpTRESMins", reason_for(group.spent, entry.name), most, spent, more, entry.name);
    }
    for (const auto& entry : limits.grp_tres_run_mins.entries()) {
        const auto wanted = job.wanted.get(entry.name);
        if (wanted == 0) continue;
        const auto most = static_cast<double>(entry.count), now = static_cast<double>(left(entry.name));
        const auto more = static_cast<double>(wanted) * job.minutes;
        if (job.minutes == unlimited || now + more > most)
            return hit(group.holder, "GrpTRESRunMins", reason_for(group.running, entry.name), most, now, more,
                       entry.name);
    }
    if (limits.grp_wall_min) {
        const double most = *limits.grp_wall_min, spent = group.used.grp_wall_s / 60.0;
        const double more = safe ? job.minutes : 0;
        if (spent >= most || spent + more > most) return hit(group.holder, "GrpWall", group.wall, most, spent, more);
    }
    return {};
}

LimitHit judge_qos(const LimitPlace::Quality& quality, const LimitRequest& job, bool safe, const RunMinutes& running) {
    const auto& qos = *quality.qos;
    const auto& limits = qos.limits;
    const Holder holder{nullptr, &qos};
    const auto &all = *quality.counts, &user = *quality.user, &account = *quality.account;
    return first_hit(
        [&] { return over(holder, "GrpJobs", Reason::qos_grp_jobs_limit, limits.grp_jobs, all.jobs, 1); },
        [&] {
            return over(holder, "MaxJobsPerUser", Reason::qos_max_jobs_per_user_limit, limits.max_jobs, user.jobs, 1);
        },
        [&] {
            return over(holder, "MaxJobsPerAccount", Reason::max_jobs_per_account, qos.max_jobs_per_account,
                        account.jobs, 1);
        },
        [&] { return judge_qos_size(qos, job); },
        [&] { return exceeded(holder, "GrpTRES", limits.grp_tres, all.tres, job.wanted, qos_grp); },
        [&] { return exceeded(holder, "MaxTRESPerUser", qos.max_tres_per_user, user.tres, job.wanted, qos_user); },
        [&] {
            return exceeded(holder, "MaxTRESPerAccount", qos.max_tres_per_account, account.tres, job.wanted,
                            qos_account);
        },
        [&] {
            return judge_minutes(minutes_of(qos), job, safe,
                                 [&](std::string_view tres) { return running(nullptr, &quality, tres); });
        });
}

LimitHit judge_group(const LimitPlace::Group& group, const LimitRequest& job, bool safe, const RunMinutes& running) {
    const auto& limits = group.association->limits;
    const Holder holder{group.association, nullptr};
    return first_hit(
        [&] { return over(holder, "GrpJobs", Reason::assoc_grp_jobs_limit, limits.grp_jobs, group.counts->jobs, 1); },
        [&] {
            return exceeded(holder, "GrpTRES", limits.grp_tres, group.counts->tres, job.wanted, assoc_grp,
                            job.limit_factor);
        },
        [&] {
            return judge_minutes(minutes_of(*group.association), job, safe,
                                 [&](std::string_view tres) { return running(&group, nullptr, tres); });
        });
}

// What the QOS make of a request before limits look at it.
LimitRequest request_in(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes) {
    LimitRequest job{wanted, minutes};
    for (const auto& quality : place.qualities) {
        const auto& qos = *quality.qos;
        if ((qos.flags & qos_flag::usage_factor_safe) && job.safe_factor == 1) job.safe_factor = qos.usage_factor;
        if (qos.limit_factor && job.limit_factor == 1) job.limit_factor = *qos.limit_factor;
    }
    return job;
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

template <class T>
void leave(T& limit, const T& decided) {
    if constexpr (std::is_same_v<T, TresList>) {
        TresList left;
        for (const auto& entry : limit.entries())
            if (!decided.find(entry.name)) left.set(entry.name, entry.count);
        limit = std::move(left);
    } else {
        if (decided) limit.reset();
    }
}

// The second QOS with only what the first says nothing about.
Qos without(Qos second, const Qos& first) {
    auto& a = second.limits;
    const auto& b = first.limits;
    leave(a.grp_jobs, b.grp_jobs);
    leave(a.grp_submit_jobs, b.grp_submit_jobs);
    leave(a.grp_wall_min, b.grp_wall_min);
    leave(a.grp_tres, b.grp_tres);
    leave(a.grp_tres_mins, b.grp_tres_mins);
    leave(a.grp_tres_run_mins, b.grp_tres_run_mins);
    leave(a.max_jobs, b.max_jobs);
    leave(a.grp_jobs_accrue, b.grp_jobs_accrue);
    leave(a.max_jobs_accrue, b.max_jobs_accrue);
    leave(a.max_submit_jobs, b.max_submit_jobs);
    leave(a.max_wall_min, b.max_wall_min);
    leave(a.max_tres_per_job, b.max_tres_per_job);
    leave(a.max_tres_per_node, b.max_tres_per_node);
    leave(a.max_tres_mins_per_job, b.max_tres_mins_per_job);
    leave(second.max_tres_per_user, first.max_tres_per_user);
    leave(second.max_tres_per_account, first.max_tres_per_account);
    leave(second.max_jobs_per_account, first.max_jobs_per_account);
    leave(second.max_submit_jobs_per_account, first.max_submit_jobs_per_account);
    leave(second.max_jobs_accrue_per_account, first.max_jobs_accrue_per_account);
    leave(second.min_tres_per_job, first.min_tres_per_job);
    return second;
}

// Calls `judge` with each QOS as it applies, until one has something against it.
template <class Judge>
LimitHit each_quality(const LimitPlace& place, Judge&& judge) {
    const auto& all = place.qualities;
    if (all.empty()) return {};
    auto found = judge(all.front());
    if (found.reason != Reason::none || all.size() == 1) return found;
    const auto rest = without(*all[1].qos, *all[0].qos);
    auto second = all[1];
    second.qos = &rest;
    found = judge(second);
    if (found.qos == &rest) found.qos = all[1].qos;
    return found;
}

bool is_unset(const Limits& limits) { return limits == Limits{}; }

}  // namespace

LimitHit find_limit(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes, const RunMinutes& running) {
    const auto job = request_in(place, wanted, minutes);
    auto found = each_quality(place, [&](const auto& quality) { return judge_qos(quality, job, place.safe, running); });
    if (found.reason != Reason::none || place.chain.empty()) return found;
    const auto& first = place.chain.front();
    const Holder holder{first.association, nullptr};
    found = first_hit(
        [&] {
            return over(holder, "MaxJobs", Reason::assoc_max_jobs_limit, place.own->max_jobs, first.counts->jobs, 1);
        },
        [&] { return judge_size(holder, *place.own, job, assoc_size); });
    for (const auto& group : place.chain)
        if (found.reason == Reason::none) found = judge_group(group, job, place.safe, running);
    return found;
}

Reason judge_alone(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes) {
    const auto job = request_in(place, wanted, minutes);
    auto found = each_quality(place, [&](const LimitPlace::Quality& quality) {
        const auto& qos = *quality.qos;
        const Holder holder{nullptr, &qos};
        return first_hit(
            [&] { return judge_qos_size(qos, job); },
            [&] { return exceeded(holder, "GrpTRES", qos.limits.grp_tres, nothing, wanted, qos_grp); },
            [&] { return exceeded(holder, "MaxTRESPerUser", qos.max_tres_per_user, nothing, wanted, qos_user); },
            [&] {
                return exceeded(holder, "MaxTRESPerAccount", qos.max_tres_per_account, nothing, wanted, qos_account);
            });
    });
    if (found.reason != Reason::none || place.chain.empty()) return found.reason;
    found = judge_size({place.chain.front().association, nullptr}, *place.own, job, assoc_size);
    for (const auto& group : place.chain)
        if (found.reason == Reason::none)
            found = exceeded({group.association, nullptr}, "GrpTRES", group.association->limits.grp_tres, nothing,
                             wanted, assoc_grp, job.limit_factor);
    return found.reason;
}

Reason judge_spent(const LimitPlace& place) {
    static const TresList no_wish;
    const LimitRequest no_request{no_wish, 0};
    const auto none_left = [](std::string_view) { return std::uint64_t{0}; };
    auto found = each_quality(place, [&](const LimitPlace::Quality& quality) {
        return judge_minutes(minutes_of(*quality.qos), no_request, false, none_left);
    });
    for (const auto& group : place.chain)
        if (found.reason == Reason::none)
            found = judge_minutes(minutes_of(*group.association), no_request, false, none_left);
    return found.reason;
}

bool limits_accrual(const LimitPlace& place) {
    return (place.own && place.own->max_jobs_accrue) ||
           std::ranges::any_of(
               place.chain, [](const auto& group) { return group.association->limits.grp_jobs_accrue.has_value(); }) ||
           std::ranges::any_of(place.qualities, [](const auto& quality) {
               const auto& qos = *quality.qos;
               return qos.limits.grp_jobs_accrue || qos.limits.max_jobs_accrue || qos.max_jobs_accrue_per_account;
           });
}

bool may_accrue(const LimitPlace& place, const Accruing& accruing) {
    const auto room = [](const std::optional<std::uint32_t>& limit, std::uint32_t now) {
        return !limit || now < *limit;
    };
    for (const auto& quality : place.qualities) {
        const auto& qos = *quality.qos;
        if (!room(qos.limits.max_jobs_accrue, accruing.user(qos)) ||
            !room(qos.max_jobs_accrue_per_account, accruing.account(qos)))
            return false;
    }
    for (std::size_t i = 0; i < place.chain.size(); ++i) {
        const auto& entry = *place.chain[i].association;
        if (!room(entry.limits.grp_jobs_accrue, accruing.group(entry))) return false;
        if (i == 0 && !room(place.own->max_jobs_accrue, accruing.group(entry))) return false;
    }
    return true;
}

Reason judge_submit(const LimitPlace& place, std::uint32_t tasks) {
    const auto by_qos = each_quality(place, [&](const LimitPlace::Quality& quality) {
        const auto& limits = quality.qos->limits;
        const Holder holder{nullptr, quality.qos};
        return first_hit(
            [&] {
                return over(holder, "GrpSubmitJobs", Reason::qos_grp_submit_jobs_limit, limits.grp_submit_jobs,
                            quality.counts->submit_jobs, tasks);
            },
            [&] {
                return over(holder, "MaxSubmitJobsPerUser", Reason::qos_max_submit_job_per_user_limit,
                            limits.max_submit_jobs, quality.user->submit_jobs, tasks);
            },
            [&] {
                return over(holder, "MaxSubmitJobsPerAccount", Reason::max_submit_jobs_per_account,
                            quality.qos->max_submit_jobs_per_account, quality.account->submit_jobs, tasks);
            });
    });
    if (by_qos.reason != Reason::none || place.chain.empty()) return by_qos.reason;
    const auto& first = place.chain.front();
    auto found = over({first.association, nullptr}, "MaxSubmitJobs", Reason::assoc_max_submit_job_limit,
                      place.own->max_submit_jobs, first.counts->submit_jobs, tasks);
    for (const auto& group : place.chain)
        if (found.reason == Reason::none)
            found = over({group.association, nullptr}, "GrpSubmitJobs", Reason::assoc_grp_submit_jobs_limit,
                         group.association->limits.grp_submit_jobs, group.counts->submit_jobs, tasks);
    return found.reason;
}

namespace {

// What the first has with what it inherits from those above.
Limits inherited_limits(const std::vector<LimitPlace::Group>& chain) {
    if (chain.empty()) return {};
    Limits limits = chain.front().association->limits;
    for (std::size_t i = 1; i < chain.size(); ++i) {
        const auto& above = chain[i].association->limits;
        inherit(limits.max_jobs, above.max_jobs);
        inherit(limits.max_jobs_accrue, above.max_jobs_accrue);
        inherit(limits.max_submit_jobs, above.max_submit_jobs);
        inherit(limits.max_wall_min, above.max_wall_min);
        inherit(limits.max_tres_per_job, above.max_tres_per_job);
        inherit(limits.max_tres_per_node, above.max_tres_per_node);
        inherit(limits.max_tres_mins_per_job, above.max_tres_mins_per_job);
    }
    return limits;
}

std::string_view first_partition(const JobSpec& spec) {
    return spec.partitions.empty() ? std::string_view{} : spec.partitions.front().view();
}

}  // namespace

std::vector<const Qos*> qos_of(const Picture& picture, std::string_view qos, std::string_view partition) {
    const auto* of_job = picture.find_qos(qos);
    const auto* place = picture.find_partition(partition);
    const auto* of_partition = place ? picture.find_qos(place->qos) : nullptr;
    const bool job_first = of_job != nullptr && (of_job->flags & qos_flag::over_part_qos) != 0;
    std::vector<const Qos*> order;
    for (const auto* one : {job_first ? of_job : of_partition, job_first ? of_partition : of_job})
        if (one != nullptr && (order.empty() || order.front()->name != one->name)) order.push_back(one);
    return order;
}

std::vector<const Qos*> qos_of(const Picture& picture, const JobSpec& spec) {
    return qos_of(picture, spec.qos, first_partition(spec));
}

JobLimits::JobLimits(const Picture& picture, AssociationId association, std::string_view qos,
                     std::string_view partition, const std::function<const Usage*(const Association&)>& group,
                     const std::function<LimitPlace::Quality(const Qos&)>& quality) {
    for (const auto* one : qos_of(picture, qos, partition)) place.qualities.push_back(quality(*one));
    for (const auto* up = picture.find_association(association); up; up = picture.find_association(up->parent))
        place.chain.push_back({up, group(*up)});
    inherited = inherited_limits(place.chain);
    place.own = &inherited;
    place.safe = (picture.policies().enforce & enforce_flag::safe) != 0;
}

std::optional<std::uint32_t> longest_wall(const Picture& picture, const JobSpec& spec) {
    if (!(picture.policies().enforce & enforce_flag::limits)) return std::nullopt;
    const auto* association = picture.find_association(spec.account, spec.user_name, first_partition(spec));
    const JobLimits own{picture,
                        association ? association->id : AssociationId{},
                        spec.qos,
                        first_partition(spec),
                        [](const Association&) { return nullptr; },
                        [](const Qos& qos) {
                            return LimitPlace::Quality{&qos, {}, {}, {}};
                        }};
    auto longest = own.inherited.max_wall_min;
    for (const auto& quality : own.place.qualities)
        if (const auto& wall = quality.qos->limits.max_wall_min; wall && (!longest || *wall < *longest)) longest = wall;
    return longest;
}

bool has_no_limits(const LimitPlace& place) {
    return std::ranges::all_of(place.qualities,
                               [](const LimitPlace::Quality& quality) {
                                   const auto& qos = *quality.qos;
                                   return is_unset(qos.limits) && qos.max_tres_per_user.empty() &&
                                          qos.max_tres_per_account.empty() && qos.min_tres_per_job.empty() &&
                                          !qos.max_jobs_per_account && !qos.max_submit_jobs_per_account;
                               }) &&
           std::ranges::all_of(place.chain,
                               [](const LimitPlace::Group& group) { return is_unset(group.association->limits); });
}

void count_usage(Usage& usage, int jobs, std::int64_t submitted, const TresList& tres) {
    usage.jobs = static_cast<std::uint32_t>(static_cast<std::int64_t>(usage.jobs) + jobs);
    usage.submit_jobs = static_cast<std::uint32_t>(static_cast<std::int64_t>(usage.submit_jobs) + submitted);
    for (const auto& entry : tres.entries()) {
        const auto now = usage.tres.get(entry.name);
        usage.tres.set(entry.name, jobs > 0 ? now + entry.count : now - std::min(now, entry.count));
    }
}

}  // namespace spur
