// A reservation as Slurm's users know it, and a licence. One row a field; the order is that of scontrol.
#include "daemons/common/records/reservation.hpp"

#include <algorithm>

#include "core/slurm/refusal.hpp"

namespace spur::records {
namespace {

using R = v1::Reservation;

template <class View>
Value nothing(const View&) {
    return {};
}
template <auto Get>
Value of_reservation(const ReservationView& view) {
    return (view.reservation.*Get)();
}
template <auto Get>
Value if_any(const ReservationView& view) {  // zero: none
    return nonzero((view.reservation.*Get)());
}
template <auto Get>
Value of_license(const LicenseView& view) {
    return (view.license.*Get)();
}

// ---- changes -------------------------------------------------------------------------------------------------------

// "alice,bob" or "-carol": those it is for, or those it is not for.
template <class Check>
Result<void> change_names(const Setting& setting, std::vector<Text>& names, bool& deny, Check check) {
    const SignedKey key{setting.key};
    std::vector<Text> given;
    std::size_t denied = 0;
    for (auto item : split(setting.value, ',')) {
        if (item.empty()) continue;
        if (item.starts_with('-')) {
            item.remove_prefix(1);
            ++denied;
        }
        SPUR_CHECK(check(std::string{item}));
        given.emplace_back(item);
    }
    if (denied != 0 && denied != given.size())
        return fail(ErrorCode::invalid, "{}: name either those who may use it or, with a minus, those who may not",
                    key.name);
    if (key.sign == '+') {
        for (const auto& name : given)
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    } else if (key.sign == '-') {
        std::erase_if(names, [&](const Text& name) { return std::ranges::find(given, name) != given.end(); });
    } else {
        names = std::move(given);
        deny = denied != 0;
    }
    return {};
}

Result<void> set_users(ReservationChange& to, const Setting& setting) {
    return change_names(setting, to.wanted.users, to.wanted.deny_users, [&](const std::string& name) -> Result<void> {
        SPUR_TRY(const bool known, to.is_user(name));
        if (!known) return fail(refusal::invalid_user.as(ErrorCode::invalid));
        return {};
    });
}

Result<void> set_accounts(ReservationChange& to, const Setting& setting) {
    return change_names(setting, to.wanted.accounts, to.wanted.deny_accounts,
                        [](const std::string&) -> Result<void> { return {}; });
}

Result<void> set_groups(ReservationChange& to, const Setting& setting) {
    auto& wanted = to.wanted;
    bool deny = false;
    SPUR_CHECK(change_names(setting, wanted.groups, deny, [](const std::string&) -> Result<void> { return {}; }));
    if (deny) return fail(ErrorCode::invalid, "groups cannot be kept out; name those who may use it");
    wanted.group_members.clear();
    for (const auto& name : wanted.groups) {
        SPUR_TRY(const auto members, to.group_members(name.str()));
        if (!members) return fail(refusal::invalid_group.as(ErrorCode::invalid));
        wanted.group_members.insert(wanted.group_members.end(), members->begin(), members->end());
    }
    std::ranges::sort(wanted.group_members);
    const auto repeated = std::ranges::unique(wanted.group_members);
    wanted.group_members.erase(repeated.begin(), repeated.end());
    return {};
}

Result<void> set_flags(ReservationChange& to, const Setting& setting) {
    constexpr auto kept = reservation_flag::spec_nodes | reservation_flag::all_nodes | reservation_flag::begun;
    const auto sign = SignedKey{setting.key}.sign;
    auto& wanted = to.wanted;
    std::uint32_t purge_s = 0;
    SPUR_TRY(const auto flags, parse_reservation_flags(setting.value, &purge_s));
    if (flags & reservation_flag::purge_comp) wanted.purge_comp_s = sign == '-' ? 0 : purge_s;
    if (setting.value.empty()) return {};  // as Slurm has it: nothing to change
    if (sign == '+')
        wanted.flags |= flags;
    else if (sign == '-')
        wanted.flags &= ~flags;
    else
        wanted.flags = (wanted.flags & kept) | flags;
    return {};
}

Result<void> set_licenses(ReservationChange& to, const Setting& setting) {
    to.wanted.licenses.clear();
    for (const auto item : split(setting.value, ',')) {
        if (item.empty()) continue;
        const auto mark = item.find_first_of(":=");
        const auto count = mark == std::string_view::npos ? 1 : find_unsigned(item.substr(mark + 1));
        if (!count || *count > UINT32_MAX)
            return fail(ErrorCode::invalid, "Licenses={} is not a number", item.substr(mark + 1));
        to.wanted.licenses.push_back({Text{item.substr(0, mark)}, static_cast<std::uint32_t>(*count)});
    }
    return {};
}

// Times, nodes and counts depend on each other; the controller works them out once all has been read.
Result<void> with_others(ReservationChange&, const Setting&) { return {}; }

// ---- rows ----------------------------------------------------------------------------------------------------------

using enum ReservationFieldId;
constexpr auto whole = Cut::unless_right;
constexpr bool adds = true;

// clang-format off
constexpr ReservationField rows[] = {
    {.id = name, .name = "ReservationName", .listing = {0, nullptr, "RESV_NAME", whole}, .json = "name",
     .member = "name", .get = of_reservation<&R::name>},
    {.id = state, .name = "State", .listing = {0, nullptr, "STATE", whole}, .get = of_reservation<&R::state>},
    {.id = start_time, .name = "StartTime", .listing = {0, nullptr, "START_TIME", whole}, .json = "start_time",
     .member = "start_time", .type = Type::time, .absent = {"Unknown", "Unknown"}, .get = if_any<&R::start_time>,
     .change = {"starttime", 1, with_others}},
    {.id = end_time, .name = "EndTime", .listing = {0, nullptr, "END_TIME", whole}, .json = "end_time",
     .member = "end_time", .type = Type::time, .absent = {"Unknown", "Unknown"}, .get = if_any<&R::end_time>,
     .change = {"endtime", 1, with_others}},
    {.id = duration, .name = "Duration", .listing = {0, nullptr, "DURATION", whole},
     .get = [](const ReservationView& resv) -> Value {
         return print_long_duration(resv->end_time() - resv->start_time());
     },
     .change = {"duration", 1, with_others, nullptr, 0, adds}},
    {.id = nodes, .name = "Nodes", .listing = {0, nullptr, "NODELIST", whole}, .json = "node_list",
     .member = "node_list", .absent = {""}, .get = of_reservation<&R::nodes>, .change = {"nodes", 5, with_others}},
    {.id = node_count, .name = "NodeCnt", .json = "node_count", .member = "node_cnt", .type = Type::count,
     .get = of_reservation<&R::node_count>, .change = {"nodecnt", 5, with_others}},
    {.id = core_count, .name = "CoreCnt", .json = "core_count", .member = "core_cnt", .type = Type::count,
     .get = of_reservation<&R::core_count>, .change = {"corecnt", 5, with_others}},
    {.id = features, .name = "Features", .json = "features", .member = "features",
     .get = of_reservation<&R::features>, .change = {"features", 2, set_text<&Reservation::features>}},
    {.id = partition, .name = "PartitionName", .json = "partition", .member = "partition",
     .get = of_reservation<&R::partition>, .change = {"partitionname", 1, set_text<&Reservation::partition>}},
    {.id = flags, .name = "Flags", .json = "flags", .member = "flags", .absent = {.record = ""},
     .get = of_reservation<&R::flags>, .change = {"flags", 2, set_flags, nullptr, 0, adds}},
    {.id = core_ids, .json = "core_spec_cnt", .member = "core_spec", .type = Type::count,
     .get = of_reservation<&R::core_ids_size>},
    {.id = tres, .name = "TRES", .json = "tres", .member = "tres_str", .get = of_reservation<&R::tres>,
     .change = {"tres", 1}},
    {.id = users, .name = "Users", .json = "users", .member = "users", .get = of_reservation<&R::users>,
     .change = {"users", 1, set_users, nullptr, 0, adds}},
    {.id = groups, .name = "Groups", .json = "groups", .member = "groups", .get = of_reservation<&R::groups>,
     .change = {"groups", 2, set_groups, nullptr, 0, adds}},
    {.id = accounts, .name = "Accounts", .json = "accounts", .member = "accounts",
     .get = of_reservation<&R::accounts>, .change = {"accounts", 1, set_accounts, nullptr, 0, adds}},
    {.id = licenses, .name = "Licenses", .json = "licenses", .member = "licenses",
     .get = of_reservation<&R::licenses>, .change = {"licenses", 1, set_licenses}},
    {.id = burst_buffer, .name = "BurstBuffer", .json = "burst_buffer", .member = "burst_buffer", .get = nothing,
     .change = {"burstbuffer", 2}},
    {.id = watts, .name = "Watts", .json = "watts", .member = "resv_watts", .type = Type::count,
     .absent = {.record = "n/a", .number = AbsentNumber::no_val}, .get = nothing, .change = {"watts", 1}},
    {.id = max_start_delay, .name = "MaxStartDelay", .json = "max_start_delay", .member = "max_start_delay",
     .type = Type::seconds, .get = if_any<&R::max_start_delay_s>,
     .change = {"maxstartdelay", 3, set_seconds<&Reservation::max_start_delay_s>}},
    {.id = skip, .get = nothing, .change = {"skip", 2}},
};

constexpr LicenseField license_rows[] = {
    {.id = LicenseFieldId::name, .name = "LicenseName", .json = "LicenseName", .member = "name",
     .get = of_license<&v1::License::name>},
    {.id = LicenseFieldId::total, .name = "Total", .json = "Total", .member = "total", .type = Type::count,
     .get = of_license<&v1::License::total>},
    {.id = LicenseFieldId::used, .name = "Used", .json = "Used", .member = "in_use", .type = Type::count,
     .get = of_license<&v1::License::used>},
    {.id = LicenseFieldId::free, .name = "Free", .json = "Free", .member = "available", .type = Type::count,
     .get = [](const LicenseView& view) -> Value { return view->total() - std::min(view->total(), view->used()); }},
    {.id = LicenseFieldId::reserved, .name = "Reserved", .json = "Reserved", .member = "reserved", .type = Type::count,
     .get = of_license<&v1::License::reserved>},
    {.id = LicenseFieldId::remote, .name = "Remote", .json = "Remote", .member = "remote", .type = Type::yes_no,
     .absent = {.record = "no"}, .get = nothing},
};
// clang-format on
static_assert(covers_all(rows) && covers_all(license_rows), "a field without a row would be invisible");

}  // namespace

std::span<const ReservationField> reservation_fields() { return rows; }
const ReservationField& reservation_field(ReservationFieldId id) { return rows[static_cast<std::size_t>(id)]; }
std::span<const LicenseField> license_fields() { return license_rows; }

}  // namespace spur::records
