// How sacctmgr writes limits, flags and what it is about to do.
#include <fmt/format.h>

#include <algorithm>

#include "cli/sacctmgr/specs.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

namespace spur::cli::sacctmgr {

std::string wall_text(std::uint32_t minutes) { return print_long_limit(minutes); }
std::string tres_text(const google::protobuf::RepeatedPtrField<v1::TresCount>& wire) { return tres_of(wire).str(); }

namespace {

// In the order in which Slurm shows them.
constexpr std::pair<std::uint32_t, const char*> flag_names[] = {
    {qos_flag::deny_on_limit, "DenyOnLimit"},
    {qos_flag::enforce_usage_threshold, "EnforceUsageThreshold"},
    {qos_flag::no_decay, "NoDecay"},
    {qos_flag::no_reserve, "NoReserve"},
    {qos_flag::over_part_qos, "OverPartQOS"},
    {qos_flag::partition_max_nodes, "PartitionMaxNodes"},
    {qos_flag::partition_min_nodes, "PartitionMinNodes"},
    {qos_flag::partition_time_limit, "PartitionTimeLimit"},
    {qos_flag::require_reservation, "RequiresReservation"},
    {qos_flag::usage_factor_safe, "UsageFactorSafe"},
};

}  // namespace

std::optional<std::uint32_t> find_flag(std::string_view name) {
    if (equal_nocase(name, "RequireReservation")) return qos_flag::require_reservation;
    for (const auto& [flag, shown] : flag_names)
        if (equal_nocase(name, shown)) return flag;
    return std::nullopt;
}

std::string flags_text(std::uint32_t flags) {
    Names names;
    for (const auto& [flag, name] : flag_names)
        if (flags & flag) names.emplace_back(name);
    return joined(names);
}

std::optional<v1::AccountUser::AdminLevel> find_admin_level(std::string_view text) {
    const auto word = lower(text);
    if (word.empty()) return std::nullopt;
    for (const auto level : {v1::AccountUser::NONE, v1::AccountUser::OPERATOR, v1::AccountUser::ADMINISTRATOR})
        if (lower(admin_level_text(level)).starts_with(word)) return level;
    return std::nullopt;
}

std::string admin_level_text(v1::AccountUser::AdminLevel level) {
    if (level == v1::AccountUser::ADMINISTRATOR) return "Administrator";
    return level == v1::AccountUser::OPERATOR ? "Operator" : "None";
}

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ",")); }
bool is_in(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

namespace {

struct Lines {
    std::string text;
    std::size_t width;
    template <class T>
    void put(bool given, std::string_view label, const T& value) {
        if (given) text += fmt::format("  {:<{}}= {}\n", label, width, value);
    }
};

}  // namespace

std::string settings_text(const v1::Association& entry, bool with_parent) {
    Lines lines{{}, 14};
    const auto& limits = entry.limits();
    const auto wall = [](bool given, std::uint32_t minutes) { return given ? wall_text(minutes) : std::string{}; };
    lines.put(entry.shares_parent(), "Fairshare", "parent");
    lines.put(!entry.shares_parent() && entry.shares() != 1, "Fairshare", entry.shares());
    lines.put(limits.has_grp_jobs(), "GrpJobs", limits.grp_jobs());
    lines.put(limits.has_grp_jobs_accrue(), "GrpJobsAccrue", limits.grp_jobs_accrue());
    lines.put(limits.has_grp_submit_jobs(), "GrpSubmitJobs", limits.grp_submit_jobs());
    lines.put(!limits.grp_tres().empty(), "GrpTRES", tres_text(limits.grp_tres()));
    lines.put(!limits.grp_tres_mins().empty(), "GrpTRESMins", tres_text(limits.grp_tres_mins()));
    lines.put(!limits.grp_tres_run_mins().empty(), "GrpTRESRunMins", tres_text(limits.grp_tres_run_mins()));
    lines.put(limits.has_grp_wall_min(), "GrpWall", wall(limits.has_grp_wall_min(), limits.grp_wall_min()));
    lines.put(limits.has_max_jobs(), "MaxJobs", limits.max_jobs());
    lines.put(limits.has_max_jobs_accrue(), "MaxJobsAccrue", limits.max_jobs_accrue());
    lines.put(limits.has_max_submit_jobs(), "MaxSubmitJobs", limits.max_submit_jobs());
    lines.put(!limits.max_tres_per_job().empty(), "MaxTRES", tres_text(limits.max_tres_per_job()));
    lines.put(!limits.max_tres_per_node().empty(), "MaxTRESPerNode", tres_text(limits.max_tres_per_node()));
    lines.put(!limits.max_tres_mins_per_job().empty(), "MaxTRESMins", tres_text(limits.max_tres_mins_per_job()));
    lines.put(limits.has_max_wall_min(), "MaxWall", wall(limits.has_max_wall_min(), limits.max_wall_min()));
    lines.put(with_parent, "Parent", entry.parent_account());
    lines.put(entry.priority() != 0, "Priority", entry.priority());
    lines.put(!entry.qos().empty(), "QOS", joined({entry.qos().begin(), entry.qos().end()}));
    lines.put(!entry.default_qos().empty(), "DefQOS", entry.default_qos());
    return lines.text;
}

std::string settings_text(const v1::Qos& qos) {
    Lines lines{fmt::format("  Description    = {}\n", qos.description()), 25};
    const auto& limits = qos.limits();
    lines.put(qos.flags() != 0, "Flags", flags_text(qos.flags()));
    lines.put(qos.grace_time_s() != 0, "GraceTime", qos.grace_time_s());
    lines.put(limits.has_grp_jobs(), "GrpJobs", limits.grp_jobs());
    lines.put(limits.has_grp_jobs_accrue(), "GrpJobsAccrue", limits.grp_jobs_accrue());
    lines.put(limits.has_grp_submit_jobs(), "GrpSubmitJobs", limits.grp_submit_jobs());
    lines.put(!limits.grp_tres().empty(), "GrpTRES", tres_text(limits.grp_tres()));
    lines.put(!limits.grp_tres_mins().empty(), "GrpTRESMins", tres_text(limits.grp_tres_mins()));
    lines.put(!limits.grp_tres_run_mins().empty(), "GrpTRESRunMins", tres_text(limits.grp_tres_run_mins()));
    lines.put(limits.has_grp_wall_min(), "GrpWall", wall_text(limits.grp_wall_min()));
    lines.put(qos.has_max_jobs_per_account(), "MaxJobsPerAccount", qos.max_jobs_per_account());
    lines.put(qos.has_max_jobs_accrue_per_account(), "MaxJobsAccruePerAccount", qos.max_jobs_accrue_per_account());
    lines.put(limits.has_max_jobs_accrue(), "MaxJobsAccruePerUser", limits.max_jobs_accrue());
    lines.put(limits.has_min_prio_threshold(), "MinPrioThreshold", limits.min_prio_threshold());
    if (limits.has_max_jobs()) lines.text += fmt::format("  MaxJobsPerUser = {}\n", limits.max_jobs());
    lines.put(qos.has_max_submit_jobs_per_account(), "MaxSubmitJobsPerAccount", qos.max_submit_jobs_per_account());
    lines.put(limits.has_max_submit_jobs(), "MaxSubmitJobsPerUser", limits.max_submit_jobs());
    lines.put(!qos.max_tres_per_account().empty(), "MaxTRESPerAccount", tres_text(qos.max_tres_per_account()));
    lines.put(!limits.max_tres_per_job().empty(), "MaxTRESPerJob", tres_text(limits.max_tres_per_job()));
    lines.put(!limits.max_tres_per_node().empty(), "MaxTRESPerNode", tres_text(limits.max_tres_per_node()));
    lines.put(!qos.max_tres_per_user().empty(), "MaxTRESPerUser", tres_text(qos.max_tres_per_user()));
    lines.put(!qos.min_tres_per_job().empty(), "MinTRESPerJob", tres_text(qos.min_tres_per_job()));
    lines.put(!limits.max_tres_mins_per_job().empty(), "MaxTRESMins", tres_text(limits.max_tres_mins_per_job()));
    lines.put(limits.has_max_wall_min(), "MaxWall", wall_text(limits.max_wall_min()));
    lines.put(!qos.preempt().empty(), "Preempt", joined({qos.preempt().begin(), qos.preempt().end()}));
    const auto mode = find_preempt_mode(qos.preempt_mode()).value_or(PreemptMode::unset);
    lines.put(mode != PreemptMode::unset, "PreemptMode", std::string{to_string(mode)});
    lines.put(qos.has_preempt_exempt_time_s(), "PreemptExemptTime", print_long_duration(qos.preempt_exempt_time_s()));
    lines.put(qos.priority() != 0, "Priority", qos.priority());
    lines.put(qos.has_limit_factor(), "LimitFactor", fmt::format("{:.4f}", qos.limit_factor()));
    lines.put(qos.has_usage_threshold(), "UsageThreshold", fmt::format("{:.4f}", qos.usage_threshold()));
    lines.put(qos.usage_factor() != 1, "UsageFactor", fmt::format("{:.4f}", qos.usage_factor()));
    return lines.text;
}

}  // namespace spur::cli::sacctmgr
