// A QOS as sacctmgr's users know it. One row a field; the order is that in which settings are announced.
#include <algorithm>

#include "core/text/timefmt.hpp"
#include "daemons/common/records/accounts_values.hpp"

namespace spur::records {
namespace {

using namespace accounts_value;
using Q = v1::Qos;

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
std::string flags_text(std::uint32_t flags) {
    Names names;
    for (const auto& [flag, name] : flag_names)
        if (flags & flag) names.emplace_back(name);
    return joined(names);
}

template <auto Get>
Value of_qos(const AccountsView& view) {
    return (view.qos->*Get)();
}
Value flags_of(const AccountsView& view) { return flags_text(view.qos->flags()); }
Value preempt_of(const AccountsView& view) { return joined({view.qos->preempt().begin(), view.qos->preempt().end()}); }

// A count that has a value of its own where there is none.
template <void (Q::*Set)(std::uint32_t)>
Result<void> set_number(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto number, read_limit(setting));
    (change.qos->*Set)(number.value_or(0));
    return {};
}
template <void (Q::*Set)(double), void (Q::*Clear)()>
Result<void> set_real(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto number, read_real(setting));
    number ? (change.qos->*Set)(*number) : (change.qos->*Clear)();
    return {};
}
Result<void> set_usage_factor(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto factor, read_real(setting));
    change.qos->set_usage_factor(factor.value_or(1));
    return {};
}
Result<void> set_description(AccountsChange& change, const Setting& setting) {
    change.qos->set_description(std::string{setting.value});
    return {};
}
Result<void> set_flags(AccountsChange& change, const Setting& setting) {
    std::uint32_t flags = 0;
    for (const auto& word : setting.value == "-1" ? Names{} : read_list(setting.value)) {
        const auto name = word == "requirereservation" ? std::string{"requiresreservation"} : word;
        const auto* found =
            std::ranges::find_if(flag_names, [&](const auto& flag) { return equal_nocase(flag.second, name); });
        if (found == std::end(flag_names))
            return fail(ErrorCode::invalid, "the QOS flag {} is not known here; there are {}", quoted(word),
                        flags_text(~std::uint32_t{0}));
        flags |= found->first;
    }
    const auto now = change.qos->flags();
    change.qos->set_flags(change.operation == '=' ? flags : change.operation == '+' ? now | flags : now & ~flags);
    return {};
}
Result<void> set_preempt(AccountsChange& change, const Setting& setting) {
    const bool nothing = setting.value.empty() || setting.value == "-1";
    SPUR_TRY(const auto named, nothing ? Result<Names>{Names{}} : read_qos(change, setting));
    Names names{change.qos->preempt().begin(), change.qos->preempt().end()};
    change_names(change.operation, named, names);
    change.qos->mutable_preempt()->Assign(names.begin(), names.end());
    return {};
}
auto invalid(const Setting& setting) {
    return fail(ErrorCode::invalid, "Invalid value for {} ({})", setting.key, setting.value);
}
Result<void> set_preempt_mode(AccountsChange& change, const Setting& setting) {
    const auto mode = find_preempt_mode(setting.value);
    if (!mode) return invalid(setting);
    change.qos->set_preempt_mode(lower(to_string(*mode)));
    return {};
}
Result<void> set_preempt_exempt_time(AccountsChange& change, const Setting& setting) {
    change.qos->clear_preempt_exempt_time_s();
    if (setting.value == "-1") return {};
    const auto seconds = parse_duration_s(setting.value);
    if (!seconds) return invalid(setting);
    change.qos->set_preempt_exempt_time_s(static_cast<std::uint32_t>(*seconds));
    return {};
}

// clang-format off
// Other words for limits that are per user or per account here.
constexpr AccountsField other_words[] = {
    limit(nullptr, {.name = "maxjobs"}, nullptr, SPUR_COUNT(Limits, max_jobs)),
    limit(nullptr, {.name = "maxjobsaccrue"}, nullptr, SPUR_COUNT(Limits, max_jobs_accrue)),
    limit(nullptr, {.name = "maxsubmitjobs"}, nullptr, SPUR_COUNT(Limits, max_submit_jobs), "maxsubmitpu"),
    limit(nullptr, {.name = "maxsubmitpa"}, nullptr, SPUR_COUNT(Q, max_submit_jobs_per_account)),
};

constexpr AccountsField head[] = {
    {.listing = column("name", "Name", 10), .member = "name", .get = of_qos<&Q::name>},
    {.listing = column("id", "ID", 6), .member = "id", .type = Type::count, .get = of_qos<&Q::id>},
    {.name = "Description", .listing = column("description", "Descr", 20), .member = "description",
     .get = of_qos<&Q::description>, .change = {"description", 3, set_description}},
    {.name = "Flags", .listing = column("flags", "Flags", 40), .member = "flags", .get = flags_of,
     .change = {"flags", 3, set_flags}},
    {.name = "GraceTime", .listing = column("gracetime", "GraceTime", 10), .member = "grace_time",
     .type = Type::seconds, .get = of_qos<&Q::grace_time_s>,
     .change = {"gracetime", 3, set_number<&Q::set_grace_time_s>}},
};

constexpr AccountsField tail[] = {
    limit("MaxJobsPerAccount", column("maxjobsperaccount", "MaxJobsPA", 9), "max_jobs_pa",
          SPUR_COUNT(Q, max_jobs_per_account), "maxjobspa"),
    limit("MaxJobsAccruePerAccount", column("maxjobsaccrueperaccount", "MaxJobsAccruePA", 15), "max_jobs_accrue_pa",
          SPUR_COUNT(Q, max_jobs_accrue_per_account), "maxjobsaccruepa"),
    limit("MaxJobsAccruePerUser", column("maxjobsaccrueperuser", "MaxJobsAccruePU", 15), "max_jobs_accrue_pu",
          SPUR_COUNT(Limits, max_jobs_accrue), "maxjobsaccruepu"),
    limit("MinPrioThreshold", column("minpriothreshold", "MinPrioThres", 12), "min_prio_thresh",
          SPUR_COUNT(Limits, min_prio_threshold)),
    limit("MaxJobsPerUser", column("maxjobsperuser", "MaxJobsPU", 9), "max_jobs_pu",
          SPUR_COUNT(Limits, max_jobs), "maxjobspu"),
    limit("MaxSubmitJobsPerAccount", column("maxsubmitjobsperaccount", "MaxSubmitPA", 11, "maxsubmitjobspa"),
          "max_submit_jobs_pa", SPUR_COUNT(Q, max_submit_jobs_per_account), "maxsubmitjobspa"),
    limit("MaxSubmitJobsPerUser", column("maxsubmitjobsperuser", "MaxSubmitPU", 11, "maxsubmitjobspu"),
          "max_submit_jobs_pu", SPUR_COUNT(Limits, max_submit_jobs), "maxsubmitjobspu"),
    limit("MaxTRESPerAccount", column("maxtresperaccount", "MaxTRESPA", 13), "max_tres_pa",
          SPUR_TRES(Q, max_tres_per_account), "maxtrespa"),
    limit("MaxTRESPerJob", column("maxtresperjob", "MaxTRES", 13), "max_tres_pj",
          SPUR_TRES(Limits, max_tres_per_job), "maxtres"),
    limit("MaxTRESPerNode", column("maxtrespernode", "MaxTRESPerNode", 14), "max_tres_pn",
          SPUR_TRES(Limits, max_tres_per_node)),
    limit("MaxTRESPerUser", column("maxtresperuser", "MaxTRESPU", 13), "max_tres_pu",
          SPUR_TRES(Q, max_tres_per_user), "maxtrespu"),
    limit("MinTRESPerJob", column("mintresperjob", "MinTRES", 13), "min_tres_pj", SPUR_TRES(Q, min_tres_per_job)),
    limit("MaxTRESMins", column("maxtresminsperjob", "MaxTRESMins", 13), "max_tres_mins_pj",
          SPUR_TRES(Limits, max_tres_mins_per_job)),
    limit("MaxWall", column("maxwall", "MaxWall", 11), "max_wall_pj",
          SPUR_WALL(Limits, max_wall_min), "maxwalldurationperjob"),
    {.name = "Preempt", .listing = column("preempt", "Preempt", 10), .member = "preempt_list", .get = preempt_of,
     .change = {"preempt", 3, set_preempt}},
    {.name = "PreemptMode", .listing = column("preemptmode", "PreemptMode", 11), .member = "preempt_mode",
     .get = of_qos<&Q::preempt_mode>, .change = {"preemptmode", 3, set_preempt_mode}},
    {.name = "PreemptExemptTime", .listing = column("preemptexempttime", "PreemptExemptTime", 19),
     .member = "preempt_exempt_time", .type = Type::seconds,
     .get = optional_of<Q, &Q::has_preempt_exempt_time_s, &Q::preempt_exempt_time_s>,
     .change = {"preemptexempttime", 3, set_preempt_exempt_time}},
    {.name = "Priority", .listing = column("priority", "Priority", 10), .member = "priority", .type = Type::count,
     .get = of_qos<&Q::priority>, .change = {"priority", 3, set_number<&Q::set_priority>}},
    {.name = "LimitFactor", .listing = column("limitfactor", "LimitFactor", 11), .member = "limit_factor",
     .type = Type::real, .get = optional_of<Q, &Q::has_limit_factor, &Q::limit_factor>,
     .change = {"limitfactor", 3, set_real<&Q::set_limit_factor, &Q::clear_limit_factor>}},
    {.name = "UsageThreshold", .listing = column("usagethreshold", "UsageThres", 10), .member = "usage_thres",
     .type = Type::real, .get = optional_of<Q, &Q::has_usage_threshold, &Q::usage_threshold>,
     .change = {"usagethreshold", 3, set_real<&Q::set_usage_threshold, &Q::clear_usage_threshold>}},
    {.name = "UsageFactor", .listing = column("usagefactor", "UsageFactor", 11), .member = "usage_factor",
     .type = Type::real, .get = of_qos<&Q::usage_factor>, .change = {"usagefactor", 3, set_usage_factor}},
};
// clang-format on
constexpr auto rows = joined_rows(other_words, head, group_limits, tail, one_resource_limits);

}  // namespace

std::span<const AccountsField> qos_fields() { return rows; }

}  // namespace spur::records
