// How the values of accounts and QOS are read from their messages and from what users type. For the tables only.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/text/lexical.hpp"
#include "daemons/common/records/accounts.hpp"

namespace spur::records {

using TresCounts = google::protobuf::RepeatedPtrField<v1::TresCount>;
TresList tres_of(const TresCounts& wire);
void set_tres(TresCounts& wire, const TresList& list);

namespace accounts_value {

using Limits = v1::AccountLimits;
using Number = std::optional<std::uint32_t>;

Result<Number> read_limit(const Setting& setting);                               // nothing: -1, no limit
Result<Number> read_wall(const AccountsChange& change, const Setting& setting);  // minutes
Result<std::optional<double>> read_real(const Setting& setting);
// Puts "cpu=4,mem=-1" into the list; -1 takes a resource out of it.
Result<void> change_tres(const AccountsChange& change, std::string_view typed, TresCounts& list);
Result<Names> read_qos(const AccountsChange& change, const Setting& setting);  // those that there are
void change_names(char operation, const Names& named, Names& names);           // =, += and -=

// The record that a member is of.
inline const Limits& record(const AccountsView& view, const Limits*) { return view.limits; }
inline const v1::Qos& record(const AccountsView& view, const v1::Qos*) { return *view.qos; }
inline Limits& record(const AccountsChange& change, const Limits*) { return change.limits(); }
inline v1::Qos& record(const AccountsChange& change, const v1::Qos*) { return *change.qos; }

template <class R, bool (R::*Has)() const, auto Get>
Value optional_of(const AccountsView& view) {
    const auto& from = record(view, static_cast<const R*>(nullptr));
    return (from.*Has)() ? Value{(from.*Get)()} : Value{};
}
template <class R, const TresCounts& (R::*Get)() const>
Value tres_text_of(const AccountsView& view) {
    return tres_of((record(view, static_cast<const R*>(nullptr)).*Get)()).str();
}
template <class R, const TresCounts& (R::*Get)() const, const auto& resource>
Value one_tres_of(const AccountsView& view) {
    const auto found = tres_of((record(view, static_cast<const R*>(nullptr)).*Get)()).find(resource);
    return found ? Value{*found} : Value{};
}

template <class R, void (R::*Set)(std::uint32_t), void (R::*Clear)(), bool wall = false>
Result<void> set_optional(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto number, wall ? read_wall(change, setting) : read_limit(setting));
    auto& to = record(change, static_cast<const R*>(nullptr));
    number ? (to.*Set)(*number) : (to.*Clear)();
    return {};
}
template <class R, TresCounts* (R::*List)()>
Result<void> set_tres_list(AccountsChange& change, const Setting& setting) {
    return change_tres(change, setting.value, *(record(change, static_cast<const R*>(nullptr)).*List)());
}
// The old spellings that name the resource: grpcpus=4 is grptres=cpu=4.
template <class R, TresCounts* (R::*List)(), const auto& resource>
Result<void> set_one_tres(AccountsChange& change, const Setting& setting) {
    return change_tres(change, fmt::format("{}={}", resource, setting.value),
                       *(record(change, static_cast<const R*>(nullptr)).*List)());
}

inline constexpr char cpu[] = "cpu";
inline constexpr char mem[] = "mem";
inline constexpr char node[] = "node";

// What a row says of a member: its type, how it is read, and how it is set.
#define SPUR_COUNT(R, name) \
    Type::count, optional_of<R, &R::has_##name, &R::name>, set_optional<R, &R::set_##name, &R::clear_##name>
#define SPUR_WALL(R, name) \
    Type::minutes, optional_of<R, &R::has_##name, &R::name>, set_optional<R, &R::set_##name, &R::clear_##name, true>
#define SPUR_TRES(R, name) Type::text, tres_text_of<R, &R::name>, set_tres_list<R, &R::mutable_##name>
#define SPUR_ONE_TRES(R, name, resource) \
    Type::count, one_tres_of<R, &R::name, resource>, set_one_tres<R, &R::mutable_##name, resource>

constexpr Listing column(const char* name, const char* header, int width, const char* older = nullptr) {
    return {.name = name, .header = header, .older = older, .width = width};
}

// A limit, set by the name of its column or by another word.
constexpr AccountsField limit(const char* name, const Listing& listing, const char* member, Type type,
                              decltype(AccountsField::get) get, decltype(Change<AccountsChange>::set) set,
                              const char* other = nullptr) {
    constexpr std::size_t in_full = 99;
    return {.name = name,
            .listing = listing,
            .member = member,
            .type = type,
            .get = get,
            .change = {listing.name, 3, set, other, in_full}};
}

// A table made of parts that several have in common.
template <std::size_t... Sizes>
consteval auto joined_rows(const AccountsField (&... parts)[Sizes]) {
    std::array<AccountsField, (Sizes + ...)> all{};
    std::size_t at = 0;
    (
        [&] {
            for (const auto& row : parts) all[at++] = row;
        }(),
        ...);
    return all;
}

// clang-format off
// Limits of groups of jobs, which associations and QOS have in common.
inline constexpr AccountsField group_limits[] = {
    limit("GrpJobs", column("grpjobs", "GrpJobs", 7), "grp_jobs", SPUR_COUNT(Limits, grp_jobs)),
    limit("GrpJobsAccrue", column("grpjobsaccrue", "GrpJobsAccrue", 13), "grp_jobs_accrue",
          SPUR_COUNT(Limits, grp_jobs_accrue)),
    limit("GrpSubmitJobs", column("grpsubmitjobs", "GrpSubmit", 9), "grp_submit_jobs",
          SPUR_COUNT(Limits, grp_submit_jobs)),
    limit("GrpTRES", column("grptres", "GrpTRES", 13), "grp_tres", SPUR_TRES(Limits, grp_tres)),
    limit("GrpTRESMins", column("grptresmins", "GrpTRESMins", 13), "grp_tres_mins", SPUR_TRES(Limits, grp_tres_mins)),
    limit("GrpTRESRunMins", column("grptresrunmins", "GrpTRESRunMins", 13), "grp_tres_run_mins",
          SPUR_TRES(Limits, grp_tres_run_mins)),
    limit("GrpWall", column("grpwall", "GrpWall", 11), "grp_wall", SPUR_WALL(Limits, grp_wall_min)),
};

// One resource of a limit, as it was called before there were TRES.
inline constexpr AccountsField one_resource_limits[] = {
    limit(nullptr, column("grpcpus", "GrpCPUs", 8), nullptr, SPUR_ONE_TRES(Limits, grp_tres, cpu)),
    limit(nullptr, column("grpcpumins", "GrpCPUMins", 11), nullptr, SPUR_ONE_TRES(Limits, grp_tres_mins, cpu)),
    limit(nullptr, column("grpcpurunmins", "GrpCPURunMins", 13), nullptr,
          SPUR_ONE_TRES(Limits, grp_tres_run_mins, cpu)),
    limit(nullptr, column("grpnodes", "GrpNodes", 8), nullptr, SPUR_ONE_TRES(Limits, grp_tres, node)),
    limit(nullptr, column("grpmemory", "GrpMem", 7), nullptr, SPUR_ONE_TRES(Limits, grp_tres, mem)),
    limit(nullptr, column("maxcpus", "MaxCPUs", 8), nullptr,
          SPUR_ONE_TRES(Limits, max_tres_per_job, cpu), "maxcpusperjob"),
    limit(nullptr, column("maxcpumins", "MaxCPUMins", 11), nullptr,
          SPUR_ONE_TRES(Limits, max_tres_mins_per_job, cpu), "maxcpuminsperjob"),
    limit(nullptr, column("maxnodes", "MaxNodes", 8), nullptr,
          SPUR_ONE_TRES(Limits, max_tres_per_job, node), "maxnodesperjob"),
};
// clang-format on

}  // namespace accounts_value
}  // namespace spur::records
