// The value of one option in the form that create() is given it: what travels from one process's host to another's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spur::host {

struct OptionValue {
    std::string key;
    std::uint32_t kind{};  // SPUR_OPTION_*
    std::uint32_t line{};  // in the configuration; 0: a default
    bool is_default{false};
    std::int64_t integer{};
    double real{};
    std::string text;
    std::vector<std::string> list;
    bool operator==(const OptionValue&) const = default;
};

}  // namespace spur::host
