// What users type as the value of a change.
#include "daemons/common/records/change.hpp"

#include <charconv>

namespace spur::records {
namespace {

template <class T>
Result<T> read(const Setting& setting) {
    T value{};
    const auto* const end = setting.value.data() + setting.value.size();
    const auto [rest, error] = std::from_chars(setting.value.data(), end, value);
    if (error != std::errc{} || rest != end)
        return fail(ErrorCode::invalid, "{}={} is not a number", setting.key, setting.value);
    return value;
}

}  // namespace

Result<std::uint32_t> read_count(const Setting& setting) {
    for (const auto* word : {"UNLIMITED", "INFINITE", "-1"})
        if (setting.value == word) return unlimited;
    SPUR_TRY(const auto value, read<std::uint64_t>(setting));
    if (value > UINT32_MAX) return fail(ErrorCode::invalid, "{}={} is too large", setting.key, setting.value);
    return static_cast<std::uint32_t>(value);
}

Result<std::int32_t> read_number(const Setting& setting) { return read<std::int32_t>(setting); }

Result<bool> read_flag(const Setting& setting) {
    for (const auto* word : {"yes", "1", "true"})
        if (equal_nocase(setting.value, word)) return true;
    for (const auto* word : {"no", "0", "false"})
        if (equal_nocase(setting.value, word)) return false;
    return fail(ErrorCode::invalid, "{}={} is neither yes nor no", setting.key, setting.value);
}

Result<std::uint32_t> read_seconds(const Setting& setting) {
    SPUR_TRY(const auto minutes, parse_limit_min(setting.value));
    return minutes == unlimited ? unlimited : minutes * 60;
}

std::vector<Text> read_names(std::string_view list) {
    std::vector<Text> names;
    for (const auto name : split(list, ','))
        if (!name.empty()) names.emplace_back(name);
    return names;
}

}  // namespace spur::records
