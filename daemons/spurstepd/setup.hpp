// What every step on this node has in common: the cgroup plugin, its options, and what the site holds its jobs to. spurd writes it
// into a file without a name that it passes to the step daemons, not on their command lines: options may be secrets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemons/common/host/option_value.hpp"

namespace spur::step {

struct Fact {
    std::string key, value;
    bool operator==(const Fact&) const = default;
};

struct Setup {
    std::string file;         // cgroup_v2.so; empty: no plugin
    std::string type;         // "cgroup/v2"
    std::uint32_t needed{};   // SPUR_CGROUP_* that spurd has seen work here
    std::vector<Fact> facts;  // what spur.config/1 answers
    std::string source;       // of the options: /etc/spur/spur.conf
    std::vector<host::OptionValue> options;
    std::uint32_t patience_ms{20'000};  // for one call
    bool operator==(const Setup&) const = default;
};

std::string encode(const Setup& setup);
// Nothing if the bytes are not what encode() makes.
std::optional<Setup> decode_setup(std::string_view bytes);

// A file in memory with these bytes, to be passed on; -1 with errno set.
int make_setup_file(std::string_view bytes);
std::optional<Setup> read_setup_file(int fd);

}  // namespace spur::step
