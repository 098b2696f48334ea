// A job step as Slurm's users know it.
#pragma once

#include <span>

#include "daemons/common/records/record.hpp"
#include "spur/v1/job.pb.h"

namespace spur::records {

// clang-format off
enum class StepFieldId : std::uint16_t {
    array_job_id, array_task_id, cluster, container, cpu_frequency, cpu_frequency_requested, cpus, cpus_listed, cpus_per_tres, distribution,
    job_id, memory_per_tres, name, network, node_count, nodes, partition, reserved_ports, srun_host_pid, start_time, state, step_id, tasks,
    time_limit, time_used, tres, tres_bind, tres_freq, tres_per_job, tres_per_node, tres_per_socket, tres_per_step, tres_per_task, user_id,
    user_name,
    system_cpu, total_cpu, user_cpu, max_memory, usage_in, usage_out,
    count_
};
// clang-format on

struct StepView {
    const v1::Step& step;
    const v1::Job& job;
    const Context& in;
    const v1::Step* operator->() const { return &step; }
};

using StepField = Field<StepView, StepFieldId>;

std::span<const StepField> step_fields();
const StepField& step_field(StepFieldId id);
std::string step_id_text(const v1::Job& job, const v1::Step& step);  // "12_3.batch"

}  // namespace spur::records
