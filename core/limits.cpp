// The judgement itself: each limit compared with what counts against it, in Slurm's order.
#include "core/limits.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "core/ids.hpp"

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

TresList per_node(const TresList& wanted) {
    TresList result;
    const auto nodes = std::max<std::uint64_t>(1, wanted.get("node"));
    for (const auto& entry : wanted.entries())
        if (entry.name != "node") result.set(entry.name, (entry.count + nodes - 1) / nodes);
    return result;
}

template <class... Checks>
Reason first_reason(Checks&&... checks) {
    Reason found = Reason::none;
    ((found = checks(), found != Reason::none) || ...);
    return found;
}

struct Request {
    const TresList& wanted;
    std::uint32_t minutes;
};

bool over(const std::optional<std::uint32_t>& limit, std::uint64_t count) { return limit && count > *limit; }

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

// GrpTRESMins and GrpTRESRunMins. `left` is what running jobs may still use.
struct GroupMinutes {
    const Limits& limits;
    const Usage& used;
    const TresReasons &spent, &running;
    Reason wall;
};
template <class Left>
Reason judge_minutes(const GroupMinutes& group, const Request& job, bool safe, Left&& left) {
    const auto needs = [&](const Tres& entry) {
        const auto wanted = job.wanted.get(entry.name);
        return wanted == 0 ? 0 : left(entry.name) + wanted * job.minutes;
    };
    for (const auto& entry : group.limits.grp_tres_mins.entries()) {
        double minutes = 0;
        for (const auto& used : group.used.tres_seconds)
            if (used.name == entry.name) minutes = used.seconds / 60.0;
        const bool endless = job.minutes == unlimited && job.wanted.get(entry.name) > 0;
        const bool too_long =
            safe && (endless || minutes + static_cast<double>(needs(entry)) > static_cast<double>(entry.count));
        if (minutes >= static_cast<double>(entry.count) || too_long) return reason_for(group.spent, entry.name);
    }
    for (const auto& entry : group.limits.grp_tres_run_mins.entries()) {
        if (job.wanted.get(entry.name) == 0) continue;
        if (job.minutes == unlimited || needs(entry) > entry.count) return reason_for(group.running, entry.name);
    }
    if (group.limits.grp_wall_min) {
        const double limit = *group.limits.grp_wall_min, used = group.used.grp_wall_s / 60.0;
        if (used >= limit || (safe && used + job.minutes > limit)) return group.wall;
    }
    return Reason::none;
}

Reason judge_qos(const LimitPlace::Quality& quality, const Request& job, bool safe, const RunMinutes& running) {
    const auto& qos = *quality.qos;
    const auto& limits = qos.limits;
    const auto &all = *quality.counts, &user = *quality.user, &account = *quality.account;
    return first_reason(
        [&] { return over(limits.grp_jobs, all.jobs + 1ULL) ? Reason::qos_grp_jobs_limit : Reason::none; },
        [&] { return over(limits.max_jobs, user.jobs + 1ULL) ? Reason::qos_max_jobs_per_user_limit : Reason::none; },
        [&] {
            return over(qos.max_jobs_per_account, account.jobs + 1ULL) ? Reason::max_jobs_per_account : Reason::none;
        },
        [&] { return judge_qos_size(qos, job); },
        [&] { return exceeded(limits.grp_tres, all.tres, job.wanted, qos_grp); },
        [&] { return exceeded(qos.max_tres_per_user, user.tres, job.wanted, qos_user); },
        [&] { return exceeded(qos.max_tres_per_account, account.tres, job.wanted, qos_account); },
        [&] {
            return judge_minutes({limits, qos.usage, qos_grp_mins, qos_grp_run, Reason::qos_grp_wall_limit}, job, safe,
                                 [&](std::string_view tres) { return running(nullptr, &quality, tres); });
        });
}

Reason judge_group(const LimitPlace::Group& group, const Request& job, bool safe, const RunMinutes& running) {
    const auto& limits = group.association->limits;
    return first_reason(
        [&] { return over(limits.grp_jobs, group.counts->jobs + 1ULL) ? Reason::assoc_grp_jobs_limit : Reason::none; },
        [&] { return exceeded(limits.grp_tres, group.counts->tres, job.wanted, assoc_grp); },
        [&] {
            return judge_minutes(
                {limits, group.association->usage, assoc_grp_mins, assoc_grp_run, Reason::assoc_grp_wall_limit}, job,
                safe, [&](std::string_view tres) { return running(&group, nullptr, tres); });
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
    leave(a.max_submit_jobs, b.max_submit_jobs);
    leave(a.max_wall_min, b.max_wall_min);
    leave(a.max_tres_per_job, b.max_tres_per_job);
    leave(a.max_tres_per_node, b.max_tres_per_node);
    leave(a.max_tres_mins_per_job, b.max_tres_mins_per_job);
    leave(second.max_tres_per_user, first.max_tres_per_user);
    leave(second.max_tres_per_account, first.max_tres_per_account);
    leave(second.max_jobs_per_account, first.max_jobs_per_account);
    leave(second.max_submit_jobs_per_account, first.max_submit_jobs_per_account);
    leave(second.min_tres_per_job, first.min_tres_per_job);
    return second;
}

// Calls `judge` with each QOS as it applies, until one has a reason.
template <class Judge>
Reason each_quality(const LimitPlace& place, Judge&& judge) {
    const auto& all = place.qualities;
    if (all.empty()) return Reason::none;
    if (const auto reason = judge(all.front()); reason != Reason::none || all.size() == 1) return reason;
    const auto rest = without(*all[1].qos, *all[0].qos);
    auto second = all[1];
    second.qos = &rest;
    return judge(second);
}

bool is_unset(const Limits& limits) { return limits == Limits{}; }

}  // namespace

Reason judge_limits(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes, const RunMinutes& running) {
    const Request job{wanted, minutes};
    const auto by_qos =
        each_quality(place, [&](const auto& quality) { return judge_qos(quality, job, place.safe, running); });
    if (by_qos != Reason::none || place.chain.empty()) return by_qos;
    if (over(place.own->max_jobs, place.chain.front().counts->jobs + 1ULL)) return Reason::assoc_max_jobs_limit;
    if (const auto reason = judge_job_size(*place.own, job, assoc_job, assoc_job_mins, assoc_node,
                                           Reason::assoc_max_wall_duration_per_job_limit);
        reason != Reason::none)
        return reason;
    for (const auto& group : place.chain)
        if (const auto reason = judge_group(group, job, place.safe, running); reason != Reason::none) return reason;
    return Reason::none;
}

Reason judge_alone(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes) {
    const Request job{wanted, minutes};
    const auto by_qos = each_quality(place, [&](const LimitPlace::Quality& quality) {
        const auto& qos = *quality.qos;
        return first_reason([&] { return judge_qos_size(qos, job); },
                            [&] { return exceeded(qos.limits.grp_tres, nothing, wanted, qos_grp); },
                            [&] { return exceeded(qos.max_tres_per_user, nothing, wanted, qos_user); },
                            [&] { return exceeded(qos.max_tres_per_account, nothing, wanted, qos_account); });
    });
    if (by_qos != Reason::none || place.chain.empty()) return by_qos;
    if (const auto reason = judge_job_size(*place.own, job, assoc_job, assoc_job_mins, assoc_node,
                                           Reason::assoc_max_wall_duration_per_job_limit);
        reason != Reason::none)
        return reason;
    for (const auto& group : place.chain)
        if (const auto reason = exceeded(group.association->limits.grp_tres, nothing, wanted, assoc_grp);
            reason != Reason::none)
            return reason;
    return Reason::none;
}

Reason judge_submit(const LimitPlace& place, std::uint32_t tasks) {
    const auto more = [&](const Usage& counts) { return std::uint64_t{counts.submit_jobs} + tasks; };
    const auto by_qos = each_quality(place, [&](const LimitPlace::Quality& quality) {
        const auto& limits = quality.qos->limits;
        if (over(limits.grp_submit_jobs, more(*quality.counts))) return Reason::qos_grp_submit_jobs_limit;
        if (over(limits.max_submit_jobs, more(*quality.user))) return Reason::qos_max_submit_job_per_user_limit;
        if (over(quality.qos->max_submit_jobs_per_account, more(*quality.account)))
            return Reason::max_submit_jobs_per_account;
        return Reason::none;
    });
    if (by_qos != Reason::none || place.chain.empty()) return by_qos;
    if (over(place.own->max_submit_jobs, more(*place.chain.front().counts))) return Reason::assoc_max_submit_job_limit;
    for (const auto& group : place.chain)
        if (over(group.association->limits.grp_submit_jobs, more(*group.counts)))
            return Reason::assoc_grp_submit_jobs_limit;
    return Reason::none;
}

Limits inherited_limits(const std::vector<LimitPlace::Group>& chain) {
    if (chain.empty()) return {};
    Limits limits = chain.front().association->limits;
    for (std::size_t i = 1; i < chain.size(); ++i) {
        const auto& above = chain[i].association->limits;
        inherit(limits.max_jobs, above.max_jobs);
        inherit(limits.max_submit_jobs, above.max_submit_jobs);
        inherit(limits.max_wall_min, above.max_wall_min);
        inherit(limits.max_tres_per_job, above.max_tres_per_job);
        inherit(limits.max_tres_per_node, above.max_tres_per_node);
        inherit(limits.max_tres_mins_per_job, above.max_tres_mins_per_job);
    }
    return limits;
}

std::vector<const Qos*> in_order(const Qos* of_job, const Qos* of_partition) {
    std::vector<const Qos*> order;
    const bool job_first = of_job != nullptr && (of_job->flags & qos_flag::over_part_qos) != 0;
    for (const auto* qos : {job_first ? of_job : of_partition, job_first ? of_partition : of_job})
        if (qos != nullptr && (order.empty() || order.front()->name != qos->name)) order.push_back(qos);
    return order;
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
