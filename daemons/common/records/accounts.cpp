// Looking accounts, users, QOS and associations up, and what is in force where a record does not say.
#include <algorithm>
#include <charconv>
#include <set>

#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/accounts_values.hpp"

namespace spur::records {
namespace {

template <class List, class Match>
auto find(const List& list, Match&& match) -> decltype(&*list.begin()) {
    const auto found = std::find_if(list.begin(), list.end(), match);
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

const v1::Account* Accounts::account(std::string_view name) const {
    return find(all.accounts(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::AccountUser* Accounts::user(std::string_view name) const {
    return find(all.users(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::Qos* Accounts::qos(std::string_view name) const {
    return find(all.qos(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::Association* Accounts::association(std::string_view account, std::string_view user,
                                             std::string_view partition) const {
    return find(all.associations(), [&](const auto& entry) {
        return entry.account() == account && entry.user() == user && entry.partition() == partition;
    });
}
const v1::Association* Accounts::by_id(std::uint32_t id) const {
    return find(all.associations(), [&](const auto& entry) { return entry.id() == id; });
}

bool Accounts::is_below(const v1::Association& entry, std::string_view account) const {
    for (const auto* up = &entry; up != nullptr; up = parent(*up))
        if (up->account() == account) return true;
    return false;
}

std::vector<const v1::Association*> Accounts::below(std::string_view account) const {
    std::vector<const v1::Association*> found;
    for (const auto& entry : all.associations())
        if (is_below(entry, account)) found.push_back(&entry);
    return found;
}

Names Accounts::qos_of(const v1::Association& entry) const {
    const auto* up = &entry;
    while (up != nullptr && up->qos().empty()) up = parent(*up);
    Names names = up != nullptr ? Names{up->qos().begin(), up->qos().end()} : Names{"normal"};
    std::ranges::sort(names);
    return names;
}

std::string Accounts::default_qos_of(const v1::Association& entry) const {
    const auto* up = &entry;
    while (up != nullptr && up->default_qos().empty()) up = parent(*up);
    return up != nullptr ? up->default_qos() : std::string{};
}

v1::AccountLimits Accounts::limits_of(const v1::Association& entry) const {
    auto limits = entry.limits();
    const auto inherit_tres = [](auto& own, const auto& above) {
        auto list = tres_of(own);
        for (const auto& tres : above)
            if (!list.find(tres.name())) list.set(tres.name(), tres.count());
        set_tres(own, list);
    };
    for (const auto* up = parent(entry); up != nullptr; up = parent(*up)) {
        const auto& above = up->limits();
        if (!limits.has_max_jobs() && above.has_max_jobs()) limits.set_max_jobs(above.max_jobs());
        if (!limits.has_max_submit_jobs() && above.has_max_submit_jobs())
            limits.set_max_submit_jobs(above.max_submit_jobs());
        if (!limits.has_max_wall_min() && above.has_max_wall_min()) limits.set_max_wall_min(above.max_wall_min());
        inherit_tres(*limits.mutable_max_tres_per_job(), above.max_tres_per_job());
        inherit_tres(*limits.mutable_max_tres_per_node(), above.max_tres_per_node());
        inherit_tres(*limits.mutable_max_tres_mins_per_job(), above.max_tres_mins_per_job());
    }
    return limits;
}

Names Accounts::coordinators_of(std::string_view account) const {
    std::set<std::string> names;
    for (const auto* up = own(account); up != nullptr; up = parent(*up))
        if (const auto* record = this->account(up->account()))
            names.insert(record->coordinators().begin(), record->coordinators().end());
    return {names.begin(), names.end()};
}

TresList tres_of(const TresCounts& wire) {
    TresList list;
    for (const auto& entry : wire) list.set(entry.name(), entry.count());
    return list;
}

void set_tres(TresCounts& wire, const TresList& list) {
    wire.Clear();
    for (const auto& entry : list.entries()) {
        auto& out = *wire.Add();
        out.set_name(entry.name);
        out.set_count(entry.count);
    }
}

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ",")); }
bool is_in(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

Names read_list(std::string_view text) {
    Names names;
    for (const auto item : split(text, ','))
        if (!trim(item).empty()) names.push_back(lower(trim(item)));
    return names;
}

namespace accounts_value {

Result<Number> read_limit(const Setting& setting) {
    if (setting.value == "-1") return Number{};
    const auto number = find_unsigned(setting.value);
    if (!number || *number >= 0xfffffffd)
        return fail(ErrorCode::invalid, "Invalid value for {} ({})", setting.key, setting.value);
    return Number{static_cast<std::uint32_t>(*number)};
}

Result<Number> read_wall(const AccountsChange& change, const Setting& setting) {
    if (setting.value == "-1") return Number{};
    const auto minutes = parse_limit_min(setting.value);
    if (!minutes || *minutes == unlimited)
        return fail(ErrorCode::invalid, " Bad {} time format: {}", setting.key, change.typed);
    return Number{*minutes};
}

Result<std::optional<double>> read_real(const Setting& setting) {
    if (setting.value == "-1") return std::optional<double>{};
    double value = -1;
    const auto* const end = setting.value.data() + setting.value.size();
    const auto [rest, error] = std::from_chars(setting.value.data(), end, value);
    if (error != std::errc{} || rest != end || !(value >= 0 && value < 1e9))
        return fail(ErrorCode::invalid, "Invalid value for {} ({})", setting.key, setting.value);
    return std::optional{value};
}

Result<void> change_tres(const AccountsChange& change, std::string_view typed, TresCounts& list) {
    auto counts = tres_of(list);
    Names cleared;
    const auto& known = change.accounts.all.tres();
    for (const auto part : split(typed, ',')) {
        const auto equals = part.find('=');
        const auto name = lower(trim(part.substr(0, equals)));
        if (std::ranges::find(known, name) == known.end())
            return fail(ErrorCode::invalid, "slurmdb_format_tres_str: no TRES known by type {}", name);
        const auto value = equals == std::string_view::npos ? std::string_view{} : trim(part.substr(equals + 1));
        const auto mib = name == "mem" ? parse_mib(value) : Result<std::uint64_t>{0};
        const auto number = name == "mem" ? (mib ? std::optional{*mib} : std::nullopt) : find_scaled(value);
        if (value == "-1")
            cleared.push_back(name);
        else if (!number)
            return fail(ErrorCode::invalid, "{} is no amount of {}", quoted(value), name);
        else
            counts.set(name, *number);
    }
    TresList kept;
    for (const auto& entry : counts.entries())
        if (!is_in(cleared, entry.name)) kept.set(entry.name, entry.count);
    set_tres(list, kept);
    return {};
}

Result<Names> read_qos(const AccountsChange& change, const Setting& setting) {
    Names valid;
    for (const auto& qos : change.accounts.all.qos()) valid.push_back(qos.name());
    auto named = read_list(setting.value);
    for (const auto& name : named)
        if (!is_in(valid, name))
            return fail(ErrorCode::invalid, "You gave a bad qos '{}'. Valid QOS's are {}", name, joined(valid));
    return named;
}

void change_names(char operation, const Names& named, Names& names) {
    if (operation == '=') names.clear();
    for (const auto& name : named) {
        std::erase(names, name);
        if (operation != '-') names.push_back(name);
    }
}

}  // namespace accounts_value
}  // namespace spur::records
