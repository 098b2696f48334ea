// What several commands say about a node: its state in Slurm's three spellings, its gres, its load.
#pragma once

#include "core/model/node.hpp"
#include "spur/v1/cluster.pb.h"

#include <cstdint>
#include <string>

namespace spur::cli {

struct NodeStateBits {
    NodeState state{NodeState::unknown};
    std::uint32_t flags{};

    std::uint32_t number() const { return static_cast<std::uint32_t>(state) | flags; }
    bool is_busy() const { return state == NodeState::allocated || state == NodeState::mixed; }
    bool is_out() const {
        return state == NodeState::down || state == NodeState::unknown || state == NodeState::future ||
               (flags & (node_flag::drain | node_flag::fail | node_flag::invalid_reg)) != 0;
    }
};
NodeStateBits node_state(const v1::Node& node);  // from "MIXED+DRAIN"

std::string long_state(const v1::Node& node);     // "draining", "idle*"
std::string compact_state(const v1::Node& node);  // "drng", "idle*"
std::string full_state(const v1::Node& node);     // "mixed+drain"

std::string gres_text(const v1::Node& node);        // "gpu:mi300x:4"; empty: none
std::string gres_used_text(const v1::Node& node);   // "gpu:mi300x:2(IDX:0-1)"
std::string unenforced_text(const v1::Node& node);  // "memory,cores": what it does not hold jobs to; empty: nothing
std::string load_text(double load);                 // "0.28"
// "Not enforced on n[1-2]: memory,cores ..." for each kind of node there is; empty if all enforce everything.
std::string unenforced_note(const google::protobuf::RepeatedPtrField<v1::Node>& nodes);
std::string joined(const google::protobuf::RepeatedPtrField<std::string>& items);

}  // namespace spur::cli
