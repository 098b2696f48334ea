// A partition as Slurm's users know it.
#pragma once

#include <span>

#include "core/model/partition.hpp"
#include "daemons/common/records/change.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/cluster.pb.h"

namespace spur::records {

// clang-format off
enum class PartitionFieldId : std::uint16_t {
    name, name_starred, allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos, alloc_nodes, alternate, is_default, qos, default_time,
    disable_root_jobs, exclusive_user, grace_time, hidden, max_nodes, max_time, min_nodes, job_size, lln, max_cpus_per_node, nodes,
    priority_job_factor, priority_tier, root_only, require_reservation, oversubscribe, over_time_limit, preempt_mode, state, available,
    total_cpus, total_nodes, select_type_parameters, job_defaults, default_memory_per_cpu, default_memory_per_node, max_memory_per_cpu,
    max_memory_per_node, tres, billing_weights,
    count_
};
// clang-format on

struct PartitionView {
    const v1::Partition& partition;
    const Context& in;
    const v1::Partition* operator->() const { return &partition; }
};

using PartitionField = Field<PartitionView, PartitionFieldId, Partition>;

std::span<const PartitionField> partition_fields();
const PartitionField& partition_field(PartitionFieldId id);

}  // namespace spur::records
