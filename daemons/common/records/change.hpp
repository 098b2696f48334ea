// Setters for the rows' `change.set`: what users type, read into one member of what goes to the state machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/text.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/record.hpp"

namespace spur::records {

Result<std::uint32_t> read_count(const Setting& setting);  // UNLIMITED, INFINITE and -1 are `unlimited`
Result<std::int32_t> read_number(const Setting& setting);
Result<bool> read_flag(const Setting& setting);
Result<std::uint32_t> read_seconds(const Setting& setting);  // typed as a duration
std::vector<Text> read_names(std::string_view list);         // "a,b"

// What the members are of; a target that holds more than those has an overload of its own.
template <class Target>
Target& members(Target& target) {
    return target;
}

template <auto Member, class Target>
Result<void> set_text(Target& target, const Setting& setting) {
    members(target).*Member = Text{setting.value};
    return {};
}
template <auto Member, class Target>
Result<void> set_count(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, read_count(setting));
    return {};
}
template <auto Member, class Target>
Result<void> set_number(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, read_number(setting));
    return {};
}
template <auto Member, class Target>
Result<void> set_flag(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, read_flag(setting));
    return {};
}
template <auto Member, class Target>
Result<void> set_minutes(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, parse_limit_min(setting.value));
    return {};
}
template <auto Member, class Target>
Result<void> set_seconds(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, read_seconds(setting));
    return {};
}
template <auto Member, class Target>
Result<void> set_mib(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, parse_mib(setting.value));
    return {};
}
template <auto Member, class Target>
Result<void> set_names(Target& target, const Setting& setting) {
    members(target).*Member = read_names(setting.value);
    return {};
}
// A list that lets everything through when it is empty: "ALL".
template <auto Member, class Target>
Result<void> set_names_or_all(Target& target, const Setting& setting) {
    members(target).*Member = setting.value == "ALL" ? std::vector<Text>{} : read_names(setting.value);
    return {};
}
// A moment; the target knows the present.
template <auto Member, class Target>
Result<void> set_time(Target& target, const Setting& setting) {
    SPUR_TRY(members(target).*Member, parse_time(setting.value, target.now));
    return {};
}

// A key of a change with what is done to its value: "users", "users+", "users-".
struct SignedKey {
    std::string_view name;
    char sign{};  // '+', '-' or none

    explicit SignedKey(std::string_view key) : name{key} {
        if (!name.ends_with('+') && !name.ends_with('-')) return;
        sign = name.back();
        name.remove_suffix(1);
    }
};

// The row that the controller knows under `key`; nullptr: none.
template <class Row>
const Row* find_full_change(std::span<const Row> rows, std::string_view key) {
    const SignedKey parts{key};
    for (const auto& row : rows)
        if ((row.change.name && row.change.name == parts.name) || (row.change.other && row.change.other == parts.name))
            return parts.sign == 0 || row.change.adds ? &row : nullptr;
    return nullptr;
}

// The row that `typed` names, in full or by enough of its first letters, in any case; nullptr: none. The name that goes
// to the controller is the row's `change.name`.
template <class Row>
const Row* find_change(std::span<const Row> rows, std::string_view typed) {
    const auto small = lower(typed);
    if (const auto* row = find_full_change(rows, small)) return row;
    const auto begins = [&](const char* word, std::size_t least) {
        return word && small.size() >= least && std::string_view(word).starts_with(small);
    };
    for (const auto& row : rows)
        if (begins(row.change.name, row.change.least) || begins(row.change.other, row.change.other_least)) return &row;
    return nullptr;
}

}  // namespace spur::records
