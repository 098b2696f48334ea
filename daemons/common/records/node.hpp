// A node as Slurm's users know it.
#pragma once

#include <span>

#include "core/machine/command.hpp"
#include "core/model/node.hpp"
#include "daemons/common/records/change.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/cluster.pb.h"

namespace spur::records {

// clang-format off
enum class NodeFieldId : std::uint16_t {
    architecture, broadcast_address, boards, boot_time, clock_skew, cluster, comment, cores, core_spec, cpu_spec_list, memory_spec, cpu_binding, cpu_load, extra,
    free_memory, cpus, cpus_effective, last_busy, features, active_features, gres, gres_drained, gres_used, mcs_label, name, next_state,
    address, hostname, state, state_flags, next_state_flags, full_state, state_complete, state_long, state_compact, operating_system, owner,
    partitions, port, real_memory, reason, reason_shown, reason_changed_at, reason_set_by_user, reason_user_and_uid, start_time,
    sockets, threads, temporary_disk, unenforced, weight, tres, version, alloc_memory, alloc_cpus, idle_cpus, tres_used, tres_weighted,
    cap_watts, current_watts, average_watts, sensors_joules, sensors_watts, sensors_temperature,
    count_
};
// clang-format on

struct NodeView {
    const v1::Node& node;
    const Context& in;
    const v1::Node* operator->() const { return &node; }
};

using NodeField = Field<NodeView, NodeFieldId, UpdateNode>;

std::span<const NodeField> node_fields();
const NodeField& node_field(NodeFieldId id);

inline NodeStateBits node_state(const v1::Node& node) { return parse_full_state(node.state()); }

// "Not enforced on n[1-2]: memory,cores ..." for each kind of node there is; empty if all enforce everything.
std::string unenforced_note(const google::protobuf::RepeatedPtrField<v1::Node>& nodes);

}  // namespace spur::records
