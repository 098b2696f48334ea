// Reading and writing them, limits and TRES included.
#include "daemons/spurctld/service/convert_accounts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/text/lexical.hpp"

namespace spur::ctld {

namespace {

template <class T, class Wire>
void put(const std::optional<T>& value, Wire&& set) {
    if (value) set(*value);
}

void tres_to_wire(const TresList& list, google::protobuf::RepeatedPtrField<v1::TresCount>& wire) {
    for (const auto& entry : list.entries()) {
        auto& out = *wire.Add();
        out.set_name(entry.name);
        out.set_count(entry.count);
    }
}

Result<TresList> tres_from_wire(const google::protobuf::RepeatedPtrField<v1::TresCount>& wire) {
    TresList list;
    for (const auto& entry : wire) {
        if (entry.name().empty() || entry.name().size() > 256)
            return fail(ErrorCode::invalid, "a resource in a limit has no name, or one that is too long");
        list.set(entry.name(), entry.count());
    }
    return list;
}

void limits_to_wire(const Limits& limits, v1::AccountLimits& wire) {
    put(limits.grp_jobs, [&](auto value) { wire.set_grp_jobs(value); });
    put(limits.grp_submit_jobs, [&](auto value) { wire.set_grp_submit_jobs(value); });
    put(limits.grp_wall_min, [&](auto value) { wire.set_grp_wall_min(value); });
    put(limits.max_jobs, [&](auto value) { wire.set_max_jobs(value); });
    put(limits.grp_jobs_accrue, [&](auto value) { wire.set_grp_jobs_accrue(value); });
    put(limits.max_jobs_accrue, [&](auto value) { wire.set_max_jobs_accrue(value); });
    put(limits.min_priority_threshold, [&](auto value) { wire.set_min_prio_threshold(value); });
    put(limits.max_submit_jobs, [&](auto value) { wire.set_max_submit_jobs(value); });
    put(limits.max_wall_min, [&](auto value) { wire.set_max_wall_min(value); });
    tres_to_wire(limits.grp_tres, *wire.mutable_grp_tres());
    tres_to_wire(limits.grp_tres_mins, *wire.mutable_grp_tres_mins());
    tres_to_wire(limits.grp_tres_run_mins, *wire.mutable_grp_tres_run_mins());
    tres_to_wire(limits.max_tres_per_job, *wire.mutable_max_tres_per_job());
    tres_to_wire(limits.max_tres_per_node, *wire.mutable_max_tres_per_node());
    tres_to_wire(limits.max_tres_mins_per_job, *wire.mutable_max_tres_mins_per_job());
}

Result<Limits> limits_from_wire(const v1::AccountLimits& wire) {
    Limits limits;
    if (wire.has_grp_jobs()) limits.grp_jobs = wire.grp_jobs();
    if (wire.has_grp_submit_jobs()) limits.grp_submit_jobs = wire.grp_submit_jobs();
    if (wire.has_grp_wall_min()) limits.grp_wall_min = wire.grp_wall_min();
    if (wire.has_max_jobs()) limits.max_jobs = wire.max_jobs();
    if (wire.has_grp_jobs_accrue()) limits.grp_jobs_accrue = wire.grp_jobs_accrue();
    if (wire.has_max_jobs_accrue()) limits.max_jobs_accrue = wire.max_jobs_accrue();
    if (wire.has_min_prio_threshold()) limits.min_priority_threshold = wire.min_prio_threshold();
    if (wire.has_max_submit_jobs()) limits.max_submit_jobs = wire.max_submit_jobs();
    if (wire.has_max_wall_min()) limits.max_wall_min = wire.max_wall_min();
    SPUR_TRY(limits.grp_tres, tres_from_wire(wire.grp_tres()));
    SPUR_TRY(limits.grp_tres_mins, tres_from_wire(wire.grp_tres_mins()));
    SPUR_TRY(limits.grp_tres_run_mins, tres_from_wire(wire.grp_tres_run_mins()));
    SPUR_TRY(limits.max_tres_per_job, tres_from_wire(wire.max_tres_per_job()));
    SPUR_TRY(limits.max_tres_per_node, tres_from_wire(wire.max_tres_per_node()));
    SPUR_TRY(limits.max_tres_mins_per_job, tres_from_wire(wire.max_tres_mins_per_job()));
    return limits;
}

void usage_to_wire(const Usage& usage, v1::AccountUsage& wire) {
    wire.set_jobs(usage.jobs);
    wire.set_submit_jobs(usage.submit_jobs);
    tres_to_wire(usage.tres, *wire.mutable_tres());
    wire.set_raw(usage.raw);
    wire.set_wall_s(usage.grp_wall_s);
    for (const auto& entry : usage.tres_seconds) {
        auto& out = *wire.add_tres_time();
        out.set_name(entry.name.str());
        out.set_seconds(entry.seconds);
    }
}

// Names become keys of records and parts of listings: they are single words.
Result<void> check_name(std::string_view kind, std::string_view name) {
    const auto is_bad = [](unsigned char c) { return c <= ' ' || c == ',' || c == '"' || c == '\'' || c == 127; };
    if (name.size() > 255 || std::ranges::any_of(name, is_bad))
        return fail(ErrorCode::invalid, "the {} has a name with blanks, commas or quotes, or one that is too long",
                    kind);
    return {};
}

}  // namespace

void account_to_wire(const Account& account, v1::Account& wire) {
    wire.set_name(account.name.str());
    wire.set_description(account.description.str());
    wire.set_organization(account.organization.str());
    for (const auto& name : account.coordinators) wire.add_coordinators(name.str());
}

void user_to_wire(const User& user, v1::AccountUser& wire) {
    wire.set_name(user.name.str());
    wire.set_default_account(user.default_account.str());
    wire.set_default_wckey(user.default_wckey.str());
    wire.set_admin_level(static_cast<v1::AccountUser::AdminLevel>(user.admin_level));
}

void association_to_wire(const Association& entry, v1::Association& wire) {
    wire.set_id(entry.id.value);
    wire.set_parent(entry.parent.value);
    wire.set_account(entry.account.str());
    wire.set_user(entry.user.str());
    wire.set_partition(entry.partition.str());
    wire.set_shares(entry.shares);
    wire.set_shares_parent(entry.shares_parent);
    wire.set_priority(entry.priority);
    limits_to_wire(entry.limits, *wire.mutable_limits());
    for (const auto& name : entry.qos) wire.add_qos(name.str());
    wire.set_default_qos(entry.default_qos.str());
    wire.set_is_default(entry.is_default);
    wire.set_comment(entry.comment.str());
    wire.set_version(entry.version);
    usage_to_wire(entry.usage, *wire.mutable_usage());
}

void qos_to_wire(const Qos& qos, v1::Qos& wire) {
    wire.set_id(qos.id);
    wire.set_name(qos.name.str());
    wire.set_description(qos.description.str());
    wire.set_priority(qos.priority);
    wire.set_flags(qos.flags);
    wire.set_grace_time_s(qos.grace_time_s);
    put(qos.preempt_exempt_time_s, [&](auto value) { wire.set_preempt_exempt_time_s(value); });
    for (const auto& name : qos.preempt) wire.add_preempt(name.str());
    wire.set_preempt_mode(lower(to_string(qos.preempt_mode)));
    wire.set_usage_factor(qos.usage_factor);
    put(qos.usage_threshold, [&](auto value) { wire.set_usage_threshold(value); });
    put(qos.limit_factor, [&](auto value) { wire.set_limit_factor(value); });
    put(qos.max_jobs_accrue_per_account, [&](auto value) { wire.set_max_jobs_accrue_per_account(value); });
    limits_to_wire(qos.limits, *wire.mutable_limits());
    tres_to_wire(qos.max_tres_per_user, *wire.mutable_max_tres_per_user());
    tres_to_wire(qos.max_tres_per_account, *wire.mutable_max_tres_per_account());
    put(qos.max_jobs_per_account, [&](auto value) { wire.set_max_jobs_per_account(value); });
    put(qos.max_submit_jobs_per_account, [&](auto value) { wire.set_max_submit_jobs_per_account(value); });
    tres_to_wire(qos.min_tres_per_job, *wire.mutable_min_tres_per_job());
    wire.set_version(qos.version);
    usage_to_wire(qos.usage, *wire.mutable_usage());
}

void factors_to_wire(const planning::PriorityReport& report, const Job& job, v1::Job& wire) {
    const auto factors = report.factors();
    const auto lines = report.find(job.id);
    const auto best = std::ranges::max_element(lines, {}, [](const auto& line) { return line.answer.total; });
    if (best == lines.end()) return;
    for (std::size_t i = 0; i < std::min(factors->size(), best->raw.size()); ++i) {
        auto& factor = *wire.add_factors();
        factor.set_name((*factors)[i].name);
        factor.set_raw(best->raw[i]);
        factor.set_weighted(best->weighted[i]);
    }
}

Account account_from_wire(const v1::Account& wire) {
    Account account{Text{wire.name()}, Text{wire.description()}, Text{wire.organization()}, {}};
    for (const auto& name : wire.coordinators()) account.coordinators.emplace_back(name);
    return account;
}

Result<User> user_from_wire(const v1::AccountUser& wire) {
    SPUR_CHECK(check_name("user", wire.name()));
    if (wire.admin_level() < 0 || wire.admin_level() > 2)
        return fail(ErrorCode::invalid, "there is no administrator level {}", static_cast<int>(wire.admin_level()));
    return User{Text{wire.name()}, Text{wire.default_account()}, Text{wire.default_wckey()},
                static_cast<AdminLevel>(wire.admin_level())};
}

Result<EditAssociation> association_from_wire(const v1::Association& wire) {
    SPUR_CHECK(check_name("account", wire.account()));
    SPUR_CHECK(check_name("user", wire.user()));
    SPUR_CHECK(check_name("partition", wire.partition()));
    EditAssociation edit;
    auto& entry = edit.association;
    entry.account = Text{wire.account()};
    entry.user = Text{wire.user()};
    entry.partition = Text{wire.partition()};
    entry.shares = wire.shares();
    entry.shares_parent = wire.shares_parent();
    entry.priority = wire.priority();
    SPUR_TRY(entry.limits, limits_from_wire(wire.limits()));
    for (const auto& name : wire.qos()) entry.qos.emplace_back(name);
    entry.default_qos = Text{wire.default_qos()};
    entry.is_default = wire.is_default();
    entry.comment = Text{wire.comment()};
    edit.parent_account = Text{wire.parent_account()};
    return edit;
}

Result<Qos> qos_from_wire(const v1::Qos& wire) {
    SPUR_CHECK(check_name("qos", wire.name()));
    Qos qos;
    qos.name = Text{wire.name()};
    qos.description = Text{wire.description()};
    qos.priority = wire.priority();
    qos.flags = wire.flags();
    qos.grace_time_s = wire.grace_time_s();
    if (wire.has_preempt_exempt_time_s()) qos.preempt_exempt_time_s = wire.preempt_exempt_time_s();
    for (const auto& name : wire.preempt()) qos.preempt.emplace_back(name);
    const auto mode = find_preempt_mode(wire.preempt_mode());
    if (!mode && !wire.preempt_mode().empty())
        return fail(ErrorCode::invalid, "there is no preempt mode \"{}\"", wire.preempt_mode());
    qos.preempt_mode = mode.value_or(PreemptMode::unset);
    qos.usage_factor = wire.usage_factor();
    if (!std::isfinite(qos.usage_factor) || qos.usage_factor < 0)
        return fail(ErrorCode::invalid, "a usage factor must be a number of 0 or more");
    if (wire.has_usage_threshold()) qos.usage_threshold = wire.usage_threshold();
    if (wire.has_limit_factor()) qos.limit_factor = wire.limit_factor();
    for (const auto& factor : {qos.usage_threshold, qos.limit_factor})
        if (factor && !(std::isfinite(*factor) && *factor >= 0))
            return fail(ErrorCode::invalid, "a threshold or factor must be a number of 0 or more");
    if (wire.has_max_jobs_accrue_per_account()) qos.max_jobs_accrue_per_account = wire.max_jobs_accrue_per_account();
    SPUR_TRY(qos.limits, limits_from_wire(wire.limits()));
    SPUR_TRY(qos.max_tres_per_user, tres_from_wire(wire.max_tres_per_user()));
    SPUR_TRY(qos.max_tres_per_account, tres_from_wire(wire.max_tres_per_account()));
    if (wire.has_max_jobs_per_account()) qos.max_jobs_per_account = wire.max_jobs_per_account();
    if (wire.has_max_submit_jobs_per_account()) qos.max_submit_jobs_per_account = wire.max_submit_jobs_per_account();
    SPUR_TRY(qos.min_tres_per_job, tres_from_wire(wire.min_tres_per_job()));
    return qos;
}

}  // namespace spur::ctld
