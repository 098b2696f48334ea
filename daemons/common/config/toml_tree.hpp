// A TOML document as plain values that know their lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemons/common/config/config.hpp"

namespace spur::config {

struct TomlEntry;
struct TomlValue {
    struct Other {};  // a date or a time: nothing in spur.conf is one
    std::variant<bool, std::int64_t, double, std::string, std::vector<TomlValue>, std::vector<TomlEntry>, Other> value;
    std::uint32_t line{};

    template <class T>
    const T* find() const {
        return std::get_if<T>(&value);
    }
    std::string describe() const;  // "the number 3", "a list": for "must be ..., not ..."
};
struct TomlEntry {
    std::string key;
    std::uint32_t line{};
    TomlValue value;
};
using TomlTable = std::vector<TomlEntry>;  // in the order of the lines
using TomlList = std::vector<TomlValue>;

// A syntax error is one problem: nothing after it can be trusted.
std::expected<TomlTable, ConfigProblem> parse_toml(std::string_view text);

}  // namespace spur::config
