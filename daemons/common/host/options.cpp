// Kinds of options: what may be written for each, and what the plugin is given for it.
#include "daemons/common/host/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/text/lexical.hpp"
#include "core/text/suggest.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/host/secrets.hpp"

namespace spur::host {
namespace {

constexpr std::string_view isolate_key = "isolate";

std::string shown(const ConfigValue& value) {
    struct Show {
        std::string operator()(bool yes) const { return yes ? "true" : "false"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(const std::string& text) const { return spur::quoted(text); }
        std::string operator()(const std::vector<std::string>&) const { return "a list"; }
    };
    return std::visit(Show{}, value);
}

using Delivered = PluginConfig::Delivered;

std::unexpected<Error> not_a(std::string_view wanted, const OptionInfo& option, const ConfigValue& value) {
    return fail(ErrorCode::invalid, "must be {}, not {}", wanted,
                option.kind == SPUR_OPTION_SECRET ? "this" : shown(value));
}

Result<std::int64_t> in_range(const OptionInfo& option, std::int64_t number) {
    if (option.has_range() && (number < option.minimum || number > option.maximum))
        return fail(ErrorCode::invalid, "must lie between {} and {}, and {} does not", option.minimum, option.maximum,
                    number);
    return number;
}

Result<Delivered> as_float(const OptionInfo& option, const ConfigValue& value) {
    double number = 0;
    if (const auto* const whole = std::get_if<std::int64_t>(&value))
        number = static_cast<double>(*whole);
    else if (const auto* const real = std::get_if<double>(&value))
        number = *real;
    else
        return not_a("a number", option, value);
    if (!std::isfinite(number)) return fail(ErrorCode::invalid, "must be a finite number");
    if (option.has_range() &&
        (number < static_cast<double>(option.minimum) || number > static_cast<double>(option.maximum)))
        return fail(ErrorCode::invalid, "must lie between {} and {}, and {} does not", option.minimum, option.maximum,
                    number);
    return number;
}

Result<Delivered> as_text(const OptionInfo& option, const ConfigValue& value) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text == nullptr) return not_a("a text in quotes", option, value);
    if (text->find('\0') != std::string::npos) return fail(ErrorCode::invalid, "must not contain a zero byte");
    if (option.kind == SPUR_OPTION_PATH && !text->empty() && text->front() != '/')
        return fail(ErrorCode::invalid, "must be an absolute path, and {} is not", spur::quoted(*text));
    if (option.kind == SPUR_OPTION_CHOICE) {
        const auto choices = split(option.choices, '|');
        for (const auto choice : choices)
            if (choice == *text) return *text;
        return fail(ErrorCode::invalid, "must be one of {}, not {}{}", option.choices, spur::quoted(*text),
                    suggestion(*text, choices));
    }
    return *text;
}

Result<Delivered> as_list(const OptionInfo& option, const ConfigValue& value) {
    if (const auto* const list = std::get_if<std::vector<std::string>>(&value)) {
        for (const auto& text : *list)
            if (text.find('\0') != std::string::npos) return fail(ErrorCode::invalid, "must not contain a zero byte");
        return *list;
    }
    if (const auto* const text = std::get_if<std::string>(&value)) return std::vector{*text};
    return not_a("a list of texts", option, value);
}

Result<Delivered> deliver(const OptionInfo& option, const ConfigValue& value) {
    const auto* const whole = std::get_if<std::int64_t>(&value);
    const auto* const text = std::get_if<std::string>(&value);
    switch (option.kind) {
        case SPUR_OPTION_INT:
            if (whole == nullptr) return not_a("a whole number", option, value);
            return in_range(option, *whole);
        case SPUR_OPTION_FLOAT:
            return as_float(option, value);
        case SPUR_OPTION_BOOL:
            if (const auto* const yes = std::get_if<bool>(&value)) return std::int64_t{*yes};
            return not_a("true or false", option, value);
        case SPUR_OPTION_DURATION: {
            if (whole == nullptr && text == nullptr)
                return not_a("a duration such as \"2-00:00:00\" or \"30s\"", option, value);
            SPUR_TRY(const auto seconds, parse_option_duration(whole != nullptr ? std::to_string(*whole) : *text));
            return in_range(option, seconds);
        }
        case SPUR_OPTION_SIZE: {
            if (whole == nullptr && text == nullptr) return not_a("a size such as \"512M\"", option, value);
            SPUR_TRY(const auto bytes, parse_option_size(whole != nullptr ? std::to_string(*whole) : *text));
            return in_range(option, bytes);
        }
        case SPUR_OPTION_LIST:
            return as_list(option, value);
        default:
            return as_text(option, value);
    }
}

// A default is text, as it would be written in spur.conf without quotes.
Result<ConfigValue> read_fallback(const OptionInfo& option) {
    const auto& text = option.fallback;
    const auto* const end = text.data() + text.size();
    switch (option.kind) {
        case SPUR_OPTION_INT: {
            std::int64_t number = 0;
            const auto [at, error] = std::from_chars(text.data(), end, number);
            if (text.empty()) return ConfigValue{std::int64_t{0}};
            if (error != std::errc{} || at != end)
                return fail(ErrorCode::invalid, "{} is not a whole number", spur::quoted(text));
            return ConfigValue{number};
        }
        case SPUR_OPTION_FLOAT: {
            double number = 0;
            const auto [at, error] = std::from_chars(text.data(), end, number);
            if (text.empty()) return ConfigValue{0.0};
            if (error != std::errc{} || at != end)
                return fail(ErrorCode::invalid, "{} is not a number", spur::quoted(text));
            return ConfigValue{number};
        }
        case SPUR_OPTION_BOOL:
            if (text != "true" && text != "false" && !text.empty())
                return fail(ErrorCode::invalid, "{} is neither true nor false", spur::quoted(text));
            return ConfigValue{text == "true"};
        case SPUR_OPTION_DURATION:
        case SPUR_OPTION_SIZE:
            return ConfigValue{text.empty() ? std::string{"0"} : text};
        case SPUR_OPTION_LIST: {
            std::vector<std::string> list;
            if (!text.empty())
                for (const auto part : split(text, ',')) list.emplace_back(trim(part));
            return ConfigValue{std::move(list)};
        }
        default:
            return ConfigValue{text};
    }
}

std::string place(const std::string& source, std::uint32_t line) {
    if (line == 0) return {};
    return fmt::format(" ({}:{})", source.empty() ? "spur.conf" : source, line);
}

// The value given to an option nobody set. An empty CHOICE stays empty rather than becoming an error.
Result<Delivered> deliver_fallback(const OptionInfo& option) {
    SPUR_TRY(const auto value, read_fallback(option));
    const bool is_number = option.kind == SPUR_OPTION_INT || option.kind == SPUR_OPTION_FLOAT ||
                           option.kind == SPUR_OPTION_DURATION || option.kind == SPUR_OPTION_SIZE;
    if (!option.has_fallback) {
        if (option.kind == SPUR_OPTION_CHOICE) return std::string{};
        if (is_number) {  // "empty" is outside of the range a given value must keep to
            auto unbounded = option;
            unbounded.minimum = unbounded.maximum = 0;
            return deliver(unbounded, value);
        }
    }
    return deliver(option, value);
}

bool is_in_file(const ConfigOption& given) { return given.key.ends_with(secret_file_suffix); }

// The option that this sets: "password" for `password = { file = ... }`.
std::string_view option_of(const ConfigOption& given) {
    const std::string_view key = given.key;
    return is_in_file(given) ? key.substr(0, key.size() - secret_file_suffix.size()) : key;
}

Result<Delivered> deliver_file(const OptionInfo& option, const ConfigValue& value) {
    const auto* const path = std::get_if<std::string>(&value);
    if (option.kind != SPUR_OPTION_SECRET)
        return fail(ErrorCode::invalid, "is no secret: write its value here, and not the name of a file");
    if (path == nullptr) return fail(ErrorCode::invalid, "must name its file in quotes");
    SPUR_TRY(auto text, read_secret(*path, ::geteuid()));
    return text;
}

}  // namespace

Result<std::int64_t> parse_option_duration(std::string_view text) {
    const auto wanted = lower(trim(text));
    std::int64_t total = 0;
    std::size_t at = 0;
    while (at < wanted.size() && is_digit(wanted[at])) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(wanted.data() + at, wanted.data() + wanted.size(), number);
        const auto unit_at = static_cast<std::size_t>(end - wanted.data());
        if (error != std::errc{} || unit_at >= wanted.size()) break;
        const char unit = wanted[unit_at];
        const std::int64_t scale = unit == 's'   ? 1
                                   : unit == 'm' ? 60
                                   : unit == 'h' ? 3'600
                                   : unit == 'd' ? 86'400
                                   : unit == 'w' ? 604'800
                                                 : 0;
        if (scale == 0 || __builtin_mul_overflow(number, scale, &number) ||
            __builtin_add_overflow(total, number, &total))
            break;
        at = unit_at + 1;
        if (at == wanted.size()) return total;
    }
    const auto seconds = parse_duration_s(wanted);
    if (!seconds)
        return fail(ErrorCode::invalid,
                    "must be a duration such as \"2-00:00:00\", \"90\" (minutes) or \"30s\", not {}",
                    spur::quoted(text));
    return *seconds == unlimited_s ? std::numeric_limits<std::int64_t>::max() : *seconds;
}

Result<std::int64_t> parse_option_size(std::string_view text) {
    const auto wanted = lower(trim(text));
    double number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    std::string_view unit{end, static_cast<std::size_t>(wanted.data() + wanted.size() - end)};
    if (unit.size() > 1 && unit.ends_with('b')) unit.remove_suffix(1);
    if (unit.size() > 1 && unit.ends_with('i')) unit.remove_suffix(1);
    constexpr std::string_view units = "kmgtp";
    const auto power = unit.empty() || unit == "b" ? 0U
                       : unit.size() == 1          ? units.find(unit[0]) + 1
                                                   : std::string_view::npos;
    const bool is_known =
        unit.empty() || unit == "b" || (unit.size() == 1 && units.find(unit[0]) != std::string_view::npos);
    const double bytes = is_known ? number * std::pow(1024.0, static_cast<double>(power)) : 0;
    if (wanted.empty() || !is_digit(wanted[0]) || error != std::errc{} || !is_known || !(bytes >= 0) || bytes >= 9.0e18)
        return fail(ErrorCode::invalid, "must be a size such as \"512M\" or \"2G\", not {}", spur::quoted(text));
    return static_cast<std::int64_t>(bytes);
}

Result<void> check_fallback(const OptionInfo& option) {
    if (option.is_required()) return {};
    SPUR_CHECK(deliver_fallback(option));
    return {};
}

void PluginConfig::add(const OptionInfo& option, const Delivered& delivered, const ConfigOption* given) {
    spur_config_value value{};
    value.key = keep(option.key);
    value.kind = option.kind;
    value.is_default = given == nullptr ? 1 : 0;
    value.text = "";
    value.line = given == nullptr ? 0 : given->line;
    if (const auto* const whole = std::get_if<std::int64_t>(&delivered)) value.integer = *whole;
    if (const auto* const real = std::get_if<double>(&delivered)) value.real = *real;
    if (const auto* const text = std::get_if<std::string>(&delivered)) value.text = keep(*text);
    if (const auto* const list = std::get_if<std::vector<std::string>>(&delivered)) {
        auto& pointers = lists_.emplace_back();
        for (const auto& text : *list) pointers.push_back(keep(text));
        value.list = pointers.data();
        value.list_count = static_cast<std::uint32_t>(pointers.size());
    }
    values_.push_back(value);
}

Result<PluginConfig> PluginConfig::make(const DescriptorInfo& plugin, const std::vector<ConfigOption>& given,
                                        const std::string& source) {
    PluginConfig config;
    config.source_ = source;
    std::string mistakes;
    const auto complain = [&](const std::string& sentence) { mistakes += (mistakes.empty() ? "" : "\n") + sentence; };

    std::vector<std::string> known;
    for (const auto& option : plugin.options) known.push_back(option.key);
    for (const auto& one : given) {
        if (std::ranges::find(known, option_of(one)) != known.end()) continue;
        complain(fmt::format("plugin {} has no option {}{} {}{}", plugin.type, spur::quoted(one.key),
                             suggestion(one.key, known),
                             known.empty() ? "It takes none" : fmt::format("It knows: {}", fmt::join(known, ", ")),
                             place(source, one.line)));
    }
    for (const auto& option : plugin.options) {
        const ConfigOption* set = nullptr;
        for (const auto& one : given)
            if (option_of(one) == option.key) set = &one;
        if (set == nullptr && option.is_required()) {
            complain(fmt::format("plugin {} needs its option {}: add it to [plugin.\"{}\"]{}", plugin.type,
                                 spur::quoted(option.key), plugin.type, source.empty() ? "" : " in " + source));
            continue;
        }
        const auto delivered = set == nullptr        ? deliver_fallback(option)
                               : is_in_file(*set) ? deliver_file(option, set->value)
                                                  : deliver(option, set->value);
        if (!delivered) {
            complain(fmt::format("plugin {}: option {} {}{}", plugin.type, option.key, delivered.error().text,
                                 set != nullptr ? place(source, set->line) : ""));
            continue;
        }
        config.add(option, *delivered, set);
    }
    if (!mistakes.empty()) return fail(ErrorCode::invalid, "{}", mistakes);
    return config;
}

Result<PluginConfig> PluginConfig::restore(const DescriptorInfo& plugin, const std::vector<OptionValue>& values,
                                           const std::string& source) {
    PluginConfig config;
    config.source_ = source;
    for (const auto& option : plugin.options) {
        const auto value = std::ranges::find(values, option.key, &OptionValue::key);
        if (value == values.end() || value->kind != option.kind)
            return fail(ErrorCode::invalid,
                        "plugin {} refused: it declares option {} now and did not when its configuration was checked; "
                        "its file was replaced, restart the daemon",
                        plugin.type, spur::quoted(option.key));
        const ConfigOption given{.key = value->key, .value = {}, .line = value->line};
        Delivered delivered = value->integer;
        if (value->kind == SPUR_OPTION_FLOAT) delivered = value->real;
        if (!value->text.empty()) delivered = value->text;
        if (value->kind == SPUR_OPTION_LIST) delivered = value->list;
        config.add(option, delivered, value->is_default ? nullptr : &given);
    }
    return config;
}

std::vector<OptionValue> PluginConfig::values() const {
    std::vector<OptionValue> all;
    for (const auto& value : values_)
        all.push_back({.key = value.key,
                       .kind = value.kind,
                       .line = value.line,
                       .is_default = value.is_default != 0,
                       .integer = value.integer,
                       .real = value.real,
                       .text = value.text,
                       .list = {value.list, value.list + value.list_count}});
    return all;
}

spur_config PluginConfig::view() const {
    spur_config view{};
    view.size = sizeof(view);
    view.values = {values_.data(), static_cast<std::uint32_t>(values_.size()), sizeof(spur_config_value)};
    view.source = source_.c_str();
    return view;
}

const std::vector<ConfigOption>& options_for(const Config& config, const std::string& type) {
    static const std::vector<ConfigOption> none;
    const auto given = config.plugin_options.find(type);
    return given == config.plugin_options.end() ? none : given->second;
}

Result<bool> wants_isolation(const std::vector<ConfigOption>& given, const std::string& type,
                             const std::string& source) {
    for (const auto& option : given) {
        if (option.key != isolate_key) continue;
        if (const auto* const flag = std::get_if<bool>(&option.value)) return *flag;
        return fail(ErrorCode::invalid, "{}:{}: isolate of [plugin.\"{}\"] is true or false", source, option.line,
                    type);
    }
    return false;
}

std::vector<ConfigOption> without_host_keys(std::vector<ConfigOption> given) {
    std::erase_if(given, [](const ConfigOption& option) { return option.key == isolate_key; });
    return given;
}

}  // namespace spur::host
