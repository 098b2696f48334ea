// What is worked out from a job's message: its id as users know it, its state, how long it has run, its command.
#pragma once

#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "spur/v1/job.pb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spur::records {

struct StateAndFlags {
    JobState state{JobState::pending};
    std::uint32_t flags{};
    bool is_finished() const { return state > JobState::suspended; }
};
StateAndFlags job_state(const v1::Job& job);

// The array's tasks that are still one record: "1,4,7,10%2", at most `max_chars` long (0: any length); or one task's
// number; empty if the job is no part of an array.
std::string array_task_text(const v1::Job& job, std::size_t max_chars);

// One waiting task of an array that is still one record, as if it were a record of its own.
v1::Job waiting_task(const v1::Job& array, std::uint32_t task);

// "12", "12_3", "12_[4-9]", "12+1".
std::string job_id_text(const v1::Job& job, std::size_t max_chars);

std::int64_t run_time_s(const v1::Job& job, std::int64_t now);
std::uint32_t node_count(const v1::Job& job);
std::uint32_t cpu_count(const v1::Job& job);
std::uint32_t task_count(const v1::Job& job);
std::uint32_t min_cpus_per_node(const v1::Job& job);
std::string reason_text(const v1::Job& job);
std::string command_text(const v1::Job& job);  // empty: --wrap or standard input
std::string_view oversubscribe_text(const v1::Job& job);
std::string batch_host(const v1::Job& job);  // the first node for jobs without a script; empty: none yet
std::string user_name(const v1::Job& job);
std::string group_name(const v1::Job& job);

// Memory per node or per CPU, whichever the job asked for; nullopt: neither.
std::optional<std::uint64_t> min_memory_mib(const v1::Job& job);

// "gres:gpu:2" for what the user typed as "gpu:2"; empty for nothing.
std::string gres_as_tres(const std::string& gres);

// How long an array's task list may get in a listing: SLURM_BITSTR_LEN, or 64.
std::size_t array_text_limit();

}  // namespace spur::records
