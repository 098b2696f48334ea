// Reading values by kind, judging declarations, and finding the corners of each kind.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

namespace spur::check {
namespace {

using Parsed = std::expected<Value, std::string>;

Parsed no(std::string why) { return std::unexpected(std::move(why)); }

Parsed in_range(const spur_option& option, Value value, double number) {
    const bool bounded = option.minimum != 0 || option.maximum != 0;
    const bool inside = number >= static_cast<double>(option.minimum) && number <= static_cast<double>(option.maximum);
    if (bounded && !inside) return no(fmt::format("is not in [{}, {}]", option.minimum, option.maximum));
    return value;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

std::expected<std::int64_t, std::string> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::unexpected("is not a whole number");
    return number;
}

Parsed parse_number(const spur_option& option, const std::string& text) {
    const auto number = whole_number(text);
    if (!number) return no(number.error());
    return in_range(option, {.integer = *number}, static_cast<double>(*number));
}

Parsed parse_real(const spur_option& option, const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(number)) return no("is not a finite number");
    return in_range(option, {.real = number}, number);
}

Parsed whole_in_range(const spur_option& option, Parsed value) {
    return value ? in_range(option, *value, static_cast<double>(value->integer)) : value;
}

// "1h30m": numbers with units; nothing if it is not made of those.
std::optional<std::int64_t> with_units(std::string_view text) {
    std::int64_t total = 0;
    while (!text.empty()) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto digits = static_cast<std::size_t>(end - text.data());
        if (error != std::errc{} || number < 0 || digits == text.size()) return std::nullopt;
        const auto unit = std::string_view("smhdw").find(text[digits]);
        if (unit == std::string_view::npos) return std::nullopt;
        constexpr std::int64_t seconds[] = {1, 60, 3600, 86400, 604800};
        total += number * seconds[unit];
        text.remove_prefix(digits + 1);
    }
    return total;
}

// "30s", "1h30m", "90" (minutes), "MM:SS", "HH:MM:SS", "D-HH[:MM[:SS]]"
Parsed parse_duration(const std::string& text) {
    const auto bad = [] { return no("is not a duration such as 30s, 90, 1:30:00 or 2-00:00:00"); };
    if (const auto seconds = with_units(text); seconds && !text.empty()) return Value{.integer = *seconds};
    const auto dash = text.find('-');
    std::int64_t days = 0;
    if (dash != std::string::npos) {
        const auto number = whole_number(std::string_view(text).substr(0, dash));
        if (!number || *number < 0) return bad();
        days = *number;
    }
    std::vector<std::int64_t> fields;
    for (const auto& part : split(text.substr(dash == std::string::npos ? 0 : dash + 1), ':')) {
        const auto number = whole_number(part);
        if (!number || *number < 0) return bad();
        fields.push_back(*number);
    }
    if (fields.empty() || fields.size() > 3) return bad();
    if (dash != std::string::npos) {  // from the left: hours, minutes, seconds
        fields.resize(3);
    } else {  // from the right: minutes alone, or minutes and seconds
        if (fields.size() == 1) fields.push_back(0);
        if (fields.size() == 2) fields.insert(fields.begin(), 0);
    }
    return Value{.integer = ((days * 24 + fields[0]) * 60 + fields[1]) * 60 + fields[2]};
}

Parsed parse_size(const std::string& text) {
    static constexpr std::string_view units = "KMGTPE";
    auto digits = text;
    int shift = 0;
    if (!digits.empty() && digits.back() == 'B' && digits.size() > 1) digits.pop_back();
    if (!digits.empty())
        if (const auto unit = units.find(digits.back()); unit != std::string_view::npos) {
            shift = static_cast<int>(unit + 1) * 10;
            digits.pop_back();
        }
    const auto number = whole_number(digits);
    if (!number || *number < 0 || *number > (std::numeric_limits<std::int64_t>::max() >> shift))
        return no("is not a size such as 512M or 2G");
    return Value{.integer = *number << shift};
}

Parsed parse_choice(const spur_option& option, const std::string& text) {
    const auto choices = split(option.choices != nullptr ? option.choices : "", '|');
    if (std::ranges::find(choices, text) == choices.end())
        return no(fmt::format("is not one of {}", option.choices != nullptr ? option.choices : "(no choices)"));
    return Value{.text = text};
}

}  // namespace

Parsed parse_value(const spur_option& option, const std::string& text) {
    switch (option.kind) {
        case SPUR_OPTION_STRING:
        case SPUR_OPTION_SECRET:
            return Value{.text = text};
        case SPUR_OPTION_INT:
            return parse_number(option, text);
        case SPUR_OPTION_FLOAT:
            return parse_real(option, text);
        case SPUR_OPTION_BOOL:
            if (text != "true" && text != "false") return no("is neither true nor false");
            return Value{.integer = text == "true"};
        case SPUR_OPTION_DURATION:
            return whole_in_range(option, parse_duration(text));
        case SPUR_OPTION_SIZE:
            return whole_in_range(option, parse_size(text));
        case SPUR_OPTION_PATH:
            if (!text.empty() && text.front() != '/') return no("is not an absolute path");
            return Value{.text = text};
        case SPUR_OPTION_LIST: {
            auto items = text;
            if (items.starts_with('[') && items.ends_with(']')) items = items.substr(1, items.size() - 2);
            return Value{.list = split(items, ',')};
        }
        case SPUR_OPTION_CHOICE:
            return parse_choice(option, text);
        default:
            return no(fmt::format("is of kind {}, which this release does not know", option.kind));
    }
}

// ---- the declaration -----------------------------------------------------------------------------------------------

namespace {

bool is_key(std::string_view key) {
    const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    return !key.empty() && key.front() >= 'a' && key.front() <= 'z' && std::ranges::all_of(key, good);
}

std::vector<std::string> option_faults(const spur_option& option, const std::string& key) {
    std::vector<std::string> faults;
    const auto fault = [&](const std::string& text) { faults.push_back(fmt::format("option \"{}\" {}", key, text)); };
    if (!is_key(key)) fault("is not named in lower_case_words");
    if (option.kind < SPUR_OPTION_STRING || option.kind > SPUR_OPTION_SECRET)
        fault(fmt::format("is of unknown kind {}", option.kind));
    if (option.help == nullptr || *option.help == '\0') fault("has no help line");
    if (option.help != nullptr && std::string_view(option.help).find('\n') != std::string_view::npos)
        fault("has help of more than one line");
    if (option.minimum > option.maximum)
        fault(fmt::format("has minimum {} > maximum {}", option.minimum, option.maximum));
    if ((option.kind == SPUR_OPTION_CHOICE) != (option.choices != nullptr))
        fault(option.choices != nullptr ? "has choices but is of another kind" : "is a choice without choices");
    const bool required = (option.flags & SPUR_OPTION_REQUIRED) != 0;
    if (required && option.fallback != nullptr) fault("is required and has a default: it cannot be both");
    if (option.fallback != nullptr)
        if (const auto value = parse_value(option, option.fallback); !value)
            fault(fmt::format("has default \"{}\", which {}", option.fallback, value.error()));
    return faults;
}

}  // namespace

std::vector<std::string> schema_faults(const spur_plugin_desc& desc) {
    std::vector<std::string> faults;
    if (desc.option_count == 0) return faults;
    require(desc.options != nullptr, "option_count is {} but options is NULL", desc.option_count);
    require(desc.option_count <= 1024, "option_count is {}: that cannot be meant", desc.option_count);
    require(desc.option_stride >= first_size<spur_option>,
            "option_stride is {}, the first release had {}: set it to sizeof(spur_option)", desc.option_stride,
            first_size<spur_option>);
    std::set<std::string> seen;
    for (const auto& option : options_of(desc)) {
        const auto key = text_of(option.key, "the key of an option");
        if (!seen.insert(key).second) faults.push_back(fmt::format("option \"{}\" is declared twice", key));
        std::ranges::copy(option_faults(option, key), std::back_inserter(faults));
    }
    return faults;
}

// ---- corners -------------------------------------------------------------------------------------------------------

namespace {

std::vector<Extreme> texts(std::initializer_list<std::pair<const char*, std::string>> all) {
    std::vector<Extreme> extremes;
    for (const auto& [words, text] : all) extremes.push_back({words, Value{.text = text}});
    return extremes;
}

std::vector<Extreme> integers(const spur_option& option, std::vector<std::int64_t> numbers) {
    if (option.minimum != 0 || option.maximum != 0) {
        std::erase_if(numbers, [&](auto number) { return number < option.minimum || number > option.maximum; });
        numbers.push_back(option.minimum);
        numbers.push_back(option.maximum);
    }
    std::vector<Extreme> extremes;
    for (const auto number : numbers) extremes.push_back({std::to_string(number), Value{.integer = number}});
    return extremes;
}

std::vector<Extreme> reals(const spur_option& option) {
    constexpr double most = std::numeric_limits<double>::max();
    std::vector<double> numbers{0, -0.0, 1, -1, 5e-324, most, -most};
    if (option.minimum != 0 || option.maximum != 0) {
        const auto low = static_cast<double>(option.minimum), high = static_cast<double>(option.maximum);
        std::erase_if(numbers, [&](auto number) { return number < low || number > high; });
        numbers.insert(numbers.end(), {low, high});
    }
    std::vector<Extreme> extremes;
    for (const auto number : numbers) extremes.push_back({fmt::format("{}", number), Value{.real = number}});
    return extremes;
}

std::vector<Extreme> lists() {
    return {{"an empty list", Value{}},
            {"a list of one empty text", Value{.list = {""}}},
            {"a list of 1,000 items", Value{.list = std::vector<std::string>(1000, "x")}},
            {"a list of odd texts", Value{.list = {"%s%n", "../..", "\xff\xfe", std::string(65536, 'l')}}}};
}

}  // namespace

std::vector<Extreme> extremes_of(const spur_option& option) {
    constexpr auto lowest = std::numeric_limits<std::int64_t>::min(),
                   highest = std::numeric_limits<std::int64_t>::max();
    switch (option.kind) {
        case SPUR_OPTION_STRING:
        case SPUR_OPTION_SECRET:
            return texts({{"an empty text", ""},
                          {"64 KiB of text", std::string(65536, 'x')},
                          {"format directives", "%s%n%d%99999x"},
                          {"bytes that are no UTF-8", "\xff\xfe\x80"},
                          {"control characters", "\x01\x1b[2J\r\n\t"}});
        case SPUR_OPTION_PATH:
            // None of these can be written to, whoever runs the checker.
            return texts({{"an empty path", ""},
                          {"/proc", "/proc"},
                          {"a path that does not exist", "/proc/no/such/place"},
                          {"a path through a file", "/dev/null/x"},
                          {"a path of 64 KiB", "/" + std::string(65535, 'p')}});
        case SPUR_OPTION_INT:
            return integers(option, {0, 1, -1, lowest, highest});
        case SPUR_OPTION_BOOL:
            return {{"true", Value{.integer = 1}}, {"false", Value{.integer = 0}}};
        case SPUR_OPTION_DURATION:
        case SPUR_OPTION_SIZE:
            return integers(option, {0, 1, highest});
        case SPUR_OPTION_FLOAT:
            return reals(option);
        case SPUR_OPTION_LIST:
            return lists();
        case SPUR_OPTION_CHOICE: {
            std::vector<Extreme> extremes;
            for (const auto& choice : split(option.choices, '|')) extremes.push_back({choice, Value{.text = choice}});
            return extremes;
        }
        default:
            return {};
    }
}

// ---- configurations ------------------------------------------------------------------------------------------------

Configuration::Configuration(const spur_plugin_desc& desc, const Subject& subject) : desc_(desc) {
    for (const auto& [key, value] : subject.settings) {
        bool declared = false;
        for (const auto& option : options_of(desc)) declared = declared || key == option.key;
        require(declared, "{} has no option \"{}\", given with --set", desc.type, key);
    }
    for (const auto& option : options_of(desc)) {
        const auto given = subject.settings.find(option.key);
        if (given == subject.settings.end() && (option.flags & SPUR_OPTION_REQUIRED) != 0)
            skip("option \"{}\" is required; give it with --set {}=VALUE", option.key, option.key);
        const auto text = given != subject.settings.end() ? given->second
                          : option.fallback != nullptr    ? option.fallback
                                                          : "";
        const bool empty = given == subject.settings.end() && option.fallback == nullptr;
        auto value = empty ? Parsed(Value{}) : parse_value(option, text);
        if (!value) fail("option \"{}\": \"{}\" {}", option.key, text, value.error());
        value->is_default = given == subject.settings.end();
        values_.push_back(*std::move(value));
    }
}

const spur_config* Configuration::in(Memory& memory) const {
    std::vector<spur_config_value> records;
    std::uint32_t line = 1;
    for (const auto& option : options_of(desc_)) {
        const auto& value = values_[records.size()];
        std::vector<const char*> list;
        for (const auto& item : value.list) list.push_back(memory.c_str(item));
        records.push_back({.key = memory.c_str(option.key),
                           .kind = option.kind,
                           .is_default = value.is_default,
                           .integer = value.integer,
                           .real = value.real,
                           .text = memory.c_str(value.text),
                           .list = memory.copy(list.data(), list.size()),
                           .list_count = static_cast<std::uint32_t>(list.size()),
                           .line = value.is_default ? 0 : ++line});
    }
    return memory.one(spur_config{0, 0, memory.span(records), memory.c_str("check.conf")});
}

}  // namespace spur::check
