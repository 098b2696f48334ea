// Declared options: whether the declaration makes sense, and configurations made from it.
#pragma once

#include "case.hpp"
#include "memory.hpp"
#include "module.hpp"

#include <spur/plugin/module.h>

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace spur::check {

struct Value {
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
    std::vector<std::string> list;
    bool is_default = true;
};

// `text` as it would stand in spur.conf, without quotes. The error is a sentence.
std::expected<Value, std::string> parse_value(const spur_option& option, const std::string& text);

// Everything that is wrong with the declaration, as sentences.
std::vector<std::string> schema_faults(const spur_plugin_desc& desc);

// A value within the option's kind that a careless plugin may not expect, with words for it.
struct Extreme {
    std::string words;
    Value value;
};
std::vector<Extreme> extremes_of(const spur_option& option);

// One value per declared option: the administrator's (--set) or the default.
class Configuration {
public:
    // Skipped if a required option was not given.
    Configuration(const spur_plugin_desc& desc, const Subject& subject);

    void set(std::uint32_t option, Value value) { values_[option] = std::move(value); }
    const spur_config* in(Memory& memory) const;  // as create() gets it

private:
    const spur_plugin_desc& desc_;
    std::vector<Value> values_;
};

}  // namespace spur::check
