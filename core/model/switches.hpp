// The network's switches as a tree: which nodes lie below each, and where a node hangs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/text.hpp"
#include "core/model/config.hpp"

namespace spur {

struct Switch {
    static constexpr std::uint32_t none = UINT32_MAX;
    Text name;
    std::uint32_t parent{none};  // place in the list; none: at the top
    std::uint32_t level{};       // 0: a leaf, its nodes hang off it
    std::vector<Text> nodes;     // all below it
    std::vector<Text> switches;  // directly below it
    bool operator==(const Switch&) const = default;
};

// What a job sees as SLURM_TOPOLOGY_ADDR ("top.s0.n1") and SLURM_TOPOLOGY_ADDR_PATTERN ("switch.switch.node").
struct TopologyAddress {
    std::string address, pattern;
};

class SwitchTree {
public:
    // Refused: two of one name, one with neither nodes nor switches or with both, one that is not described, one or a
    // node below two others, and circles. The sentence begins with the switch.
    static Result<SwitchTree> resolve(const std::vector<SwitchConfig>& written);

    const std::vector<Switch>& all() const { return all_; }  // in the order they were written
    std::uint32_t leaf_of(const std::string& node) const;    // Switch::none: no switch knows it
    TopologyAddress address_of(const std::string& node) const;

private:
    std::vector<Switch> all_;
    std::unordered_map<std::string, std::uint32_t> leaves_;  // by node
};

}  // namespace spur
