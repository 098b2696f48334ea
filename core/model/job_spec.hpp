// What a user asks for. Expressions with a grammar (features, gres, dependencies, arrays) stay as typed; the job's
// record holds what they mean. An absent optional means "the user did not say".
// Shared between the tasks of an array and with the read model, so it never changes once a job has it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"

namespace spur {

enum class JobKind : std::uint8_t { batch, allocation, step_allocation };  // sbatch, salloc, srun outside a job
enum class Exclusive : std::uint8_t { no, node, user, mcs };

struct ResourceLimit {
    Text name;  // "NOFILE"
    std::uint64_t soft{};
    std::uint64_t hard{};
    bool operator==(const ResourceLimit&) const = default;
};

struct JobSpec {
    Text name;
    Text script;             // the whole batch script; stored once however many jobs have it
    std::vector<Text> argv;  // arguments of the script, or the command of srun
    Text command;            // the script's path, for listings; empty: standard input or --wrap
    Text environment;        // KEY=VALUE, each ended by a NUL; stored once like the script
    Text work_dir;
    Text std_in;  // patterns as typed; empty: the default
    Text std_out;
    Text std_err;
    std::optional<bool> open_mode_append;
    std::uint32_t umask{022};
    std::vector<ResourceLimit> rlimits;

    // where and as whom
    std::vector<Text> partitions;  // empty until validated: the default one
    Text account;
    Text qos;
    Text reservation;
    Text features;  // -C
    Text prefer;
    Text node_list;      // -w
    Text exclude_nodes;  // -x
    Text licenses;
    Text wckey;
    Text comment;
    Text admin_comment;
    Uid uid{};
    Gid gid{};
    Text user_name;
    Text group_name;
    Text alloc_node;  // the submitting host
    std::uint32_t alloc_sid{};

    // how much
    std::optional<std::uint32_t> min_nodes;
    std::optional<std::uint32_t> max_nodes;
    std::optional<std::uint32_t> tasks;
    std::optional<std::uint32_t> cpus_per_task;
    std::optional<std::uint32_t> tasks_per_node;
    std::optional<std::uint32_t> tasks_per_socket;
    std::optional<std::uint32_t> tasks_per_core;
    std::optional<std::uint32_t> tasks_per_gpu;
    std::optional<std::uint32_t> min_cpus_per_node;  // --mincpus
    std::optional<std::uint64_t> mem_per_node_mib;   // --mem; 0 means all of the node
    std::optional<std::uint64_t> mem_per_cpu_mib;
    std::optional<std::uint64_t> mem_per_gpu_mib;
    std::optional<std::uint64_t> min_tmp_mib;
    Text gres_per_node;  // "gpu:mi300x:8,shard:2"
    Text gres_per_job;
    Text gres_per_task;
    Text gres_per_socket;
    Text tres_per_task;
    Text gres_flags;
    std::optional<std::uint32_t> cpus_per_gpu;
    std::optional<std::uint32_t> sockets_per_node;
    std::optional<std::uint32_t> cores_per_socket;
    std::optional<std::uint32_t> threads_per_core;
    std::optional<Exclusive> exclusive;
    std::optional<bool> oversubscribe;
    std::optional<bool> overcommit;
    std::optional<bool> contiguous;
    std::optional<bool> spread;
    std::optional<bool> use_min_nodes;
    Text distribution;
    Text hint;
    std::optional<std::uint32_t> core_spec;
    std::optional<std::uint32_t> switches;
    std::optional<std::uint32_t> switches_wait_s;
    Text cpu_bind;
    Text gpu_bind;
    Text mem_bind;

    // when
    std::optional<std::uint32_t> time_limit_min;  // `unlimited`: none
    std::optional<std::uint32_t> time_min_min;
    std::optional<UnixSeconds> begin;
    std::optional<UnixSeconds> deadline;
    Text dependency;  // "afterok:12:13,singleton"
    std::optional<bool> kill_on_invalid_dependency;
    Text array;                             // "0-99:7%5"
    std::optional<std::uint32_t> priority;  // 0: held
    std::optional<std::int32_t> nice;
    std::optional<bool> hold;
    std::optional<bool> requeue;
    std::optional<bool> reboot;
    std::optional<std::uint32_t> immediate_s;
    std::optional<bool> no_kill;
    std::optional<bool> wait_all_nodes;
    std::optional<std::uint32_t> delay_boot_s;
    std::optional<std::uint32_t> kill_on_bad_exit;

    // what to tell
    std::uint32_t mail_type{};
    Text mail_user;
    Text signal;  // "B:USR2@30"
    Text mcs_label;
    Text burst_buffer;
    Text profile;
    Text container;
    Text extra;
    Text network;
    std::vector<Text> spank_environment;
    Text submit_line;
    Text std_out_mode;
    JobKind kind{JobKind::batch};

    bool operator==(const JobSpec&) const = default;
};

}  // namespace spur
