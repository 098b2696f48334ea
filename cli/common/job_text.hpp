// What the commands say about a job, by the names that the records know it under.
#pragma once

#include "daemons/common/records/job_text.hpp"
#include "daemons/common/records/record.hpp"

namespace spur::cli {

using records::array_task_text;
using records::array_text_limit;
using records::batch_host;
using records::command_text;
using records::cpu_count;
using records::gres_as_tres;
using records::group_name;
using records::job_id_text;
using records::job_state;
using records::min_cpus_per_node;
using records::min_memory_mib;
using records::node_count;
using records::oversubscribe_text;
using records::reason_text;
using records::run_time_s;
using records::StateAndFlags;
using records::task_count;
using records::time_text;
using records::user_name;
using records::waiting_task;

}  // namespace spur::cli
