// What may be written for each kind of value.
#include "daemons/common/config/reader.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/endpoint.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/suggest.hpp"
#include "core/text/timefmt.hpp"

namespace spur::config {
namespace {

constexpr std::string_view address_hint = "an address such as \"host:6817\" or \"[::]:6817\"";

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// "30s", "5m", "2h", "1d": what operators write for timeouts.
std::optional<std::uint64_t> find_suffixed_seconds(std::string_view text) {
    if (text.size() < 2) return std::nullopt;
    const auto number = find_unsigned(text.substr(0, text.size() - 1));
    const char unit = text.back();
    const std::uint64_t scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3'600 : unit == 'd' ? 86'400 : 0;
    std::uint64_t seconds = 0;
    if (!number || scale == 0 || __builtin_mul_overflow(*number, scale, &seconds)) return std::nullopt;
    return seconds;
}

}  // namespace

std::vector<ConfigProblem> Problems::take() {
    std::ranges::stable_sort(all_, {}, &ConfigProblem::line);
    return std::move(all_);
}

bool is_unlimited(const TomlValue& value) {
    if (const auto* const text = value.find<std::string>())
        return equal_nocase(*text, "UNLIMITED") || equal_nocase(*text, "INFINITE") || *text == "-1";
    const auto* const number = value.find<std::int64_t>();
    return number != nullptr && *number == -1;
}

std::optional<std::string> Reading::plain_text() const {
    const auto* const text = value_.find<std::string>();
    if (text == nullptr) return refuse_as("a text in quotes"), std::nullopt;
    if (has_control(*text)) return refuse("must be one line of printable characters"), std::nullopt;
    return *text;
}

void Reading::text(std::string& out) const {
    if (auto read = plain_text()) out = *std::move(read);
}

void Reading::path(std::string& out) const {
    auto read = plain_text();
    if (!read) return;
    if (!read->empty() && read->front() != '/') return refuse("must be an absolute path, not {}", spur::quoted(*read));
    out = *std::move(read);
}

void Reading::address(std::string& out) const {
    auto read = plain_text();
    if (!read) return;
    if (!Endpoint::parse(*read, 0)) return refuse("must be {}, not {}", address_hint, spur::quoted(*read));
    out = *std::move(read);
}

void Reading::words(std::vector<std::string>& out) const {
    std::vector<std::string> read;
    if (const auto* const text = value_.find<std::string>()) {
        for (const auto word : split(*text, ','))
            if (!trim(word).empty()) read.emplace_back(trim(word));
    } else if (const auto* const list = value_.find<TomlList>()) {
        for (const auto& item : *list) {
            const auto* const word = item.find<std::string>();
            if (word == nullptr) return refuse("must be a list of texts, and {} is none", item.describe());
            read.push_back(*word);
        }
    } else {
        return refuse_as("a list of texts");
    }
    for (const auto& word : read)
        if (word.empty() || has_control(word)) return refuse("must not contain {}", spur::quoted(word));
    out = std::move(read);
}

void Reading::hosts(std::vector<std::string>& out) const {
    std::vector<std::string> read, expanded;
    if (const auto* const text = value_.find<std::string>())
        read = {*text};
    else
        words(read);
    for (const auto& part : read) {
        const auto names = expand_hosts(part);
        if (!names) return refuse("is {}: {}", spur::quoted(part), names.error().text);
        expanded.insert(expanded.end(), names->begin(), names->end());
    }
    if (!read.empty()) out = std::move(expanded);
}

void Reading::yes_no(bool& out) const {
    if (const auto* const yes = value_.find<bool>()) {
        out = *yes;
        return;
    }
    const auto* const text = value_.find<std::string>();
    if (text != nullptr && (equal_nocase(*text, "yes") || equal_nocase(*text, "true")))
        out = true;
    else if (text != nullptr && (equal_nocase(*text, "no") || equal_nocase(*text, "false")))
        out = false;
    else
        refuse_as("true or false");
}

void Reading::seconds(std::uint32_t& out) const {
    constexpr std::int64_t most = no_value;
    if (is_unlimited(value_)) {
        out = unlimited;
        return;
    }
    if (value_.find<std::string>() == nullptr) {
        if (value_.find<std::int64_t>() == nullptr)
            return refuse_as("seconds, or a duration such as \"5m\" or \"1-00:00:00\"");
        if (const auto number = whole(0, most)) out = static_cast<std::uint32_t>(*number);
        return;
    }
    const auto& text = *value_.find<std::string>();
    if (const auto suffixed = find_suffixed_seconds(text); suffixed && *suffixed <= static_cast<std::uint64_t>(most)) {
        out = static_cast<std::uint32_t>(*suffixed);
        return;
    }
    const auto parsed = parse_duration_s(text);
    if (!parsed || *parsed < 0 || *parsed > most || text.find(':') == std::string::npos)
        return refuse_as("seconds, or a duration such as \"5m\" or \"1-00:00:00\"");
    out = static_cast<std::uint32_t>(*parsed);
}

void Reading::limit_minutes(std::uint32_t& out) const {
    if (is_unlimited(value_)) {
        out = unlimited;
        return;
    }
    if (const auto* const text = value_.find<std::string>()) {
        if (const auto suffixed = find_suffixed_seconds(*text); suffixed && *suffixed / 60 < no_value - 1) {
            out = static_cast<std::uint32_t>((*suffixed + 59) / 60);
            return;
        }
        const auto parsed = parse_limit_min(*text);
        if (!parsed) return refuse_as("a time limit such as 90 (minutes), \"1-12:00:00\" or \"UNLIMITED\"");
        out = *parsed;
        return;
    }
    if (value_.find<std::int64_t>() == nullptr)
        return refuse_as("a time limit such as 90 (minutes), \"1-12:00:00\" or \"UNLIMITED\"");
    if (const auto number = whole(0, no_value - 1)) out = static_cast<std::uint32_t>(*number);
}

void Reading::mib(std::uint64_t& out) const {
    if (const auto* const text = value_.find<std::string>()) {
        const auto parsed = parse_mib(*text);
        if (!parsed) return refuse_as("a number of MiB, or a size such as \"4G\"");
        out = *parsed;
        return;
    }
    if (value_.find<std::int64_t>() == nullptr) return refuse_as("a number of MiB, or a size such as \"4G\"");
    if (const auto number = whole(0, std::int64_t{1} << 50)) out = static_cast<std::uint64_t>(*number);
}

void Reading::real(double& out, double least, double most) const {
    double number = 0;
    if (const auto* const whole_number = value_.find<std::int64_t>())
        number = static_cast<double>(*whole_number);
    else if (const auto* const real_number = value_.find<double>())
        number = *real_number;
    else
        return refuse_as("a number");
    if (!(number >= least && number <= most))
        return refuse("must lie between {} and {}, and {} does not", least, most, number);
    out = number;
}

std::optional<std::int64_t> Reading::whole(std::int64_t least, std::int64_t most) const {
    const auto* const number = value_.find<std::int64_t>();
    if (number == nullptr) return refuse_as("a whole number"), std::nullopt;
    if (*number < least || *number > most)
        return refuse("must lie between {} and {}, and {} does not", least, most, *number), std::nullopt;
    return *number;
}

std::optional<std::size_t> Reading::choice(std::span<const std::string_view> choices) const {
    const auto read = plain_text();
    if (!read) return std::nullopt;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (equal_nocase(*read, choices[i])) return i;
    refuse("must be one of {}, not {}{}", fmt::join(choices, ", "), spur::quoted(*read), suggestion(*read, choices));
    return std::nullopt;
}

std::string section_name(std::string_view section) {
    if (section.empty()) return "the top level of the file";
    if (section == "nodes" || section == "partitions" || section == "switches") return fmt::format("[[{}]]", section);
    return fmt::format("[{}]", section);
}

std::string hint_for(std::string_view section, std::string_view key, std::span<const std::string_view> known) {
    if (const auto slip = find_nearest(key, known, 1)) return fmt::format("; did you mean \"{}\"?", *slip);
    for (const auto& other : config_keys())
        if (other.key == key && other.section != section)
            return fmt::format("; it belongs in {}", section_name(other.section));
    if (auto near = suggestion(key, known); !near.empty()) return near;
    return fmt::format("; it knows {}", fmt::join(known, ", "));
}

}  // namespace spur::config
