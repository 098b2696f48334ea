// Parsing and printing numbers with units.
#include "core/text/quantity.hpp"

#include <limits>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::string_view units = "KMGTPE";

// K is 0, M is 1, ...; empty for anything else.
std::optional<std::size_t> find_unit(char c) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const auto at = units.find(upper);
    return at == std::string_view::npos ? std::nullopt : std::optional{at};
}

std::optional<std::uint64_t> scaled(std::uint64_t value, std::size_t powers) {
    for (; powers > 0; --powers) {
        if (value > std::numeric_limits<std::uint64_t>::max() / kibi) return std::nullopt;
        value *= kibi;
    }
    return value;
}

std::optional<std::uint32_t> find_node_count(std::string_view text) {
    const auto value = find_scaled(trim(text));
    if (!value || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
}

}  // namespace

Result<std::uint64_t> parse_mib(std::string_view text) {
    const auto refuse = [&] {
        return fail(ErrorCode::invalid,
                    "{} is not a memory size; write a number of megabytes, or one with K, M, G or T", quoted(text));
    };
    auto digits = trim(text);
    if (digits.size() > 1 && (digits.back() == 'B' || digits.back() == 'b') && find_unit(digits[digits.size() - 2]))
        digits.remove_suffix(1);
    std::size_t unit = 1;
    if (!digits.empty() && !is_digit(digits.back())) {
        const auto found = find_unit(digits.back());
        if (!found || *found > 3) return refuse();
        unit = *found;
        digits.remove_suffix(1);
    }
    const auto value = find_unsigned(digits);
    if (!value) return refuse();
    const auto mib = unit == 0 ? std::optional{*value / kibi + (*value % kibi != 0)} : scaled(*value, unit - 1);
    constexpr std::uint64_t largest = std::uint64_t{1} << 52;  // beyond that a double cannot hold it
    if (!mib || *mib > largest) return refuse();
    return *mib;
}

std::string print_mib(std::uint64_t mib) {
    if (mib == 0) return "0";
    std::size_t unit = 1;
    while (mib >= kibi && mib % kibi == 0 && unit + 1 < units.size()) mib /= kibi, ++unit;
    if (mib >= kibi && mib % (kibi / 2) == 0 && unit + 1 < units.size())
        return fmt::format("{:.2f}{}", static_cast<double>(mib) / kibi, units[unit + 1]);
    return fmt::format("{}{}", mib, units[unit]);
}

std::string print_mib_unconverted(std::uint64_t mib) { return mib == 0 ? "0" : fmt::format("{}M", mib); }

std::optional<std::uint64_t> find_scaled(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto unit = find_unit(text.back());
    if (unit) text.remove_suffix(1);
    const auto value = find_unsigned(text);
    return value ? scaled(*value, unit ? *unit + 1 : 0) : std::nullopt;
}

Result<std::uint32_t> parse_count(std::string_view text, std::string_view option) {
    const auto value = find_scaled(trim(text));
    if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max())
        return fail(ErrorCode::invalid, "Invalid numeric value {} for {}.", quoted(text), option);
    return static_cast<std::uint32_t>(*value);
}

Result<NodeCount> NodeCount::parse(std::string_view text) {
    const auto dash = text.find('-');
    const auto low_text = text.substr(0, dash);
    const auto high_text = dash == std::string_view::npos ? low_text : text.substr(dash + 1);
    const bool starts_at_one = dash != std::string_view::npos && trim(low_text).empty();
    const auto low = starts_at_one ? std::optional<std::uint32_t>{1} : find_node_count(low_text);
    const auto high = find_node_count(high_text);
    if (!low) return fail(ErrorCode::invalid, "{} is not a valid node count", quoted(low_text));
    if (!high) return fail(ErrorCode::invalid, "{} is not a valid node count", quoted(high_text));
    if (*high < *low)
        return fail(ErrorCode::invalid, "Maximum node count {} is less than minimum node count {}", *high, *low);
    return NodeCount{*low, *high};
}

std::string NodeCount::str() const { return min == max ? fmt::format("{}", min) : fmt::format("{}-{}", min, max); }

}  // namespace spur
