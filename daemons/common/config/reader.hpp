// Reading one table of spur.conf with a list of keys: each key knows its name, what may be written, and where the value
// goes.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/config/config.hpp"
#include "daemons/common/config/toml_tree.hpp"

namespace spur::config {

// Collects what is wrong; reading goes on, so that one run shows all of it.
class Problems {
public:
    template <class... Args>
    void add(std::uint32_t line, fmt::format_string<Args...> text, Args&&... args) {
        all_.push_back({line, fmt::format(text, std::forward<Args>(args)...)});
    }
    bool empty() const { return all_.empty(); }
    std::vector<ConfigProblem> take();  // by line

private:
    std::vector<ConfigProblem> all_;
};

// One value on its way into the configuration; `where` begins the sentence if it is wrong: "partition \"gpu\":
// max_time".
class Reading {
public:
    Reading(const TomlValue& value, std::string where, Problems& problems)
        : value_{value}, where_{std::move(where)}, problems_{problems} {}

    const TomlValue& value() const { return value_; }
    std::uint32_t line() const { return value_.line; }
    template <class... Args>
    void refuse(fmt::format_string<Args...> text, Args&&... args) const {
        problems_.add(value_.line, "{} {}", where_, fmt::format(text, std::forward<Args>(args)...));
    }
    void refuse_as(std::string_view wanted) const { refuse("must be {}, not {}", wanted, value_.describe()); }

    // Each leaves its target alone and reports when the value is no good.
    void text(std::string& out) const;
    void path(std::string& out) const;                // absolute
    void address(std::string& out) const;             // "host:port", ":port", "port", "[::1]:port"
    void words(std::vector<std::string>& out) const;  // ["a", "b"] or "a,b"
    void hosts(std::vector<std::string>& out) const;  // hostlists, expanded
    void yes_no(bool& out) const;                     // true, false, "YES", "NO"
    void seconds(std::uint32_t& out) const;           // 30, "30s", "5m", "1-00:00:00"
    void limit_minutes(std::uint32_t& out) const;     // 90, "1-12:00:00", "UNLIMITED"
    void mib(std::uint64_t& out) const;               // 512 (MiB), "4G"
    void real(double& out, double least, double most) const;
    std::optional<std::int64_t> whole(std::int64_t least, std::int64_t most) const;
    std::optional<std::size_t> choice(std::span<const std::string_view> choices) const;  // case does not matter

    template <class Number>
    void count(Number& out, std::int64_t least = 0,
               std::int64_t most = std::numeric_limits<std::int32_t>::max()) const {
        if (const auto number = whole(least, most)) out = static_cast<Number>(*number);
    }
    template <class Number>
    void count_or_unlimited(Number& out, Number unlimited_value) const;

private:
    std::optional<std::string> plain_text() const;
    const TomlValue& value_;
    std::string where_;
    Problems& problems_;
};

bool is_unlimited(const TomlValue& value);  // "UNLIMITED", "INFINITE", -1

template <class Number>
void Reading::count_or_unlimited(Number& out, Number unlimited_value) const {
    if (is_unlimited(value_))
        out = unlimited_value;
    else
        count(out);
}

template <class Target>
struct Key {
    std::string_view name, kind, fallback, help;
    void (*read)(const Reading& reading, Target& target);
    std::string_view slurm = {}, member = {};  // as ConfigKey has them
    std::string (*show)(const Config& config) = nullptr;
};

// Where a key that does not belong here would belong: "; it belongs in [jobs]", a near miss, or nothing.
std::string hint_for(std::string_view section, std::string_view key, std::span<const std::string_view> known);

// "[controller]", "[[nodes]]", "the top level".
std::string section_name(std::string_view section);

template <class Target>
void read_entries(const TomlTable& table, std::string_view section, const std::string& where,
                  std::span<const Key<Target>> keys, Target& target, Problems& problems) {
    for (const auto& entry : table) {
        const Key<Target>* found = nullptr;
        for (const auto& key : keys)
            if (key.name == entry.key) found = &key;
        if (found == nullptr) {
            std::vector<std::string_view> known;
            for (const auto& key : keys) known.push_back(key.name);
            problems.add(entry.line, "{} has no key {}{}", section_name(section), spur::quoted(entry.key),
                         hint_for(section, entry.key, known));
            continue;
        }
        found->read(Reading{entry.value, where.empty() ? std::string{entry.key} : where + entry.key, problems}, target);
    }
}

}  // namespace spur::config
