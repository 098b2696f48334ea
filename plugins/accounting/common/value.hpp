// A value on its way into or out of a database.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace spur::accounting {

struct Bytes {
    std::string data;
    auto operator<=>(const Bytes&) const = default;
};

// JSON is a text here; nothing stands for SQL's NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, Bytes>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

}  // namespace spur::accounting
