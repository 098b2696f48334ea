// How the values of sections are read, and written for `scontrol show config`. For section_keys.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "core/text/lexical.hpp"
#include "daemons/common/config/section_keys.hpp"

namespace spur::config {

inline bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return is_digit(c) || is_alpha(c) || c == '_' || c == '-' || c == '.';
    });
}

// "backfill" in [scheduler] or [plugins] sched means "sched/backfill".
inline std::string full_type(std::string_view axis, const std::string& name) {
    return name.find('/') == std::string::npos ? fmt::format("{}/{}", axis, name) : name;
}

inline void read_choice(const Reading& in, Draft& to, std::string_view axis) {
    std::vector<std::string> names;
    in.words(names);
    for (auto& name : names) {
        name = full_type(axis, name);
        if (!is_type_of(axis, name))
            return in.refuse("must name a plugin of the axis {}, such as \"{}/name\", not {}", axis, axis,
                             spur::quoted(name));
    }
    if (!names.empty()) to.config.plugins[std::string{axis}] = std::move(names);
}

inline void read_licenses(const Reading& in, std::vector<LicenseCount>& out) {
    std::vector<LicenseCount> read;
    const auto add = [&](std::string_view name, std::int64_t count) {
        if (!is_name(name) || count < 0 || count > 0x7fff'ffff) return false;
        read.push_back({Text{name}, static_cast<std::uint32_t>(count)});
        return true;
    };
    if (const auto* const table = in.value().find<TomlTable>()) {
        for (const auto& entry : *table) {
            const auto* const count = entry.value.find<std::int64_t>();
            if (count == nullptr || !add(entry.key, *count))
                return in.refuse("must give {} a count", spur::quoted(entry.key));
        }
    } else {
        std::vector<std::string> words;
        in.words(words);
        for (const auto& word : words) {
            const auto colon = word.find_first_of(":=*");
            const auto count = colon == std::string::npos ? std::optional<std::uint64_t>{1}
                                                          : find_unsigned(std::string_view{word}.substr(colon + 1));
            if (!count || *count > 0x7fff'ffff ||
                !add(std::string_view{word}.substr(0, colon), static_cast<std::int64_t>(*count)))
                return in.refuse("must be written as \"name:count\", not {}", spur::quoted(word));
        }
    }
    out = std::move(read);
}

inline void read_exit_codes(const Reading& in, std::vector<std::uint32_t>& out) {
    const auto* const list = in.value().find<TomlList>();
    if (list == nullptr) return in.refuse_as("a list of exit codes");
    std::vector<std::uint32_t> read;
    for (const auto& item : *list) {
        const auto* const code = item.find<std::int64_t>();
        if (code == nullptr || *code < 0 || *code > 255) return in.refuse("must be a list of exit codes from 0 to 255");
        read.push_back(static_cast<std::uint32_t>(*code));
    }
    out = std::move(read);
}

using FlagWord = std::pair<std::string_view, std::uint32_t>;

// A list of words, each of which stands for bits.
inline void read_flags(const Reading& in, std::uint32_t& out, std::span<const FlagWord> flags) {
    std::vector<std::string> words;
    in.words(words);
    std::uint32_t read = 0;
    for (const auto& word : words) {
        const auto found =
            std::ranges::find_if(flags, [&](const auto& flag) { return equal_nocase(flag.first, word); });
        if (found == flags.end()) {
            std::string known;
            for (const auto& flag : flags)
                known.append(known.empty() ? "" : &flag == &flags.back() ? " and " : ", ").append(flag.first);
            return in.refuse("knows {}, not {}", known, spur::quoted(word));
        }
        read |= found->second;
    }
    out = read;
}

inline void read_enforce(const Reading& in, std::uint32_t& out) {
    constexpr std::array<FlagWord, 7> flags{{
        {"associations", enforce_flag::associations},
        {"limits", enforce_flag::associations | enforce_flag::limits},
        {"qos", enforce_flag::associations | enforce_flag::qos},
        {"safe", enforce_flag::associations | enforce_flag::limits | enforce_flag::safe},
        {"wckeys", enforce_flag::associations | enforce_flag::wckeys},
        {"all", enforce_flag::associations | enforce_flag::limits | enforce_flag::qos | enforce_flag::safe |
                    enforce_flag::wckeys},
        {"none", 0},
    }};
    read_flags(in, out, flags);
}

inline constexpr std::array<FlagWord, 4> store_flags{{
    {"job_comment", store_flag::job_comment},
    {"job_env", store_flag::job_env},
    {"job_script", store_flag::job_script},
    {"none", 0},
}};

inline constexpr std::array<FlagWord, 10> private_data_flags{{
    {"accounts", private_data::accounts},
    {"events", private_data::events},
    {"jobs", private_data::jobs},
    {"nodes", private_data::nodes},
    {"partitions", private_data::partitions},
    {"reservations", private_data::reservations},
    {"usage", private_data::usage},
    {"users", private_data::users},
    {"all", 0xff},
    {"none", 0},
}};

// ---- how `scontrol show config` writes a value ---------------------------------------------------------------------

inline std::string shown_private_data(const Config& config) {
    const auto flags = config.cluster.policies.private_data;
    std::string text;
    for (const auto& [word, flag] : private_data_flags) {
        if (!std::has_single_bit(flag) || !(flags & flag)) continue;
        text.append(text.empty() ? "" : ",").append(word);
    }
    return text.empty() ? "none" : text;
}
inline std::string shown_store_flags(const Config& config) {
    std::string text;
    for (const auto& [word, flag] : store_flags)
        if (config.accounting.store_flags & flag) text.append(text.empty() ? "" : ",").append(word);
    return text.empty() ? "(null)" : text;
}
template <auto Member>
std::string number(const Config& config) {
    return fmt::format("{:d}", config.cluster.policies.*Member);
}
template <auto Member>
std::string seconds(const Config& config) {
    return fmt::format("{} sec", config.cluster.policies.*Member);
}
template <auto Member>
std::string minutes(const Config& config) {
    const auto value = config.cluster.policies.*Member;
    return value == unlimited ? "UNLIMITED" : fmt::format("{} min", value);
}

// A shorthand for an option of whichever auth plugin is chosen; put in place once the choice is known.
inline void keep_option(const Reading& in, Draft& to, const char* key) {
    std::string value;
    in.path(value);
    if (!value.empty()) to.config.plugin_options["auth/"].push_back({key, value, in.line()});
}

}  // namespace spur::config
