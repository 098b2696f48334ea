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
    std::optional<std::uint32_t> sample_s;  // --acctg-freq: how often its tasks are measured; 0: when they end

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

// Every member of a request, with its number in the log and the snapshots: append with the next number; never change,
// reuse or remove one. The archive, the conversion from and to the wire, and the limits of length are made from this.
//   TEXT(number, member, longest)  a text; request_limits.cpp says how long each word is
//   PLAIN(number, member)          the wire has it in the same form
//   HAND(number, member)           the wire has it in another form, or not at all: convert_spec.cpp says how
// clang-format off
#define SPUR_JOB_SPEC(TEXT, PLAIN, HAND) \
    TEXT(1, name, short_text) HAND(2, script) PLAIN(3, argv) HAND(4, environment) TEXT(5, work_dir, path)              \
    TEXT(6, std_in, path) TEXT(7, std_out, path) TEXT(8, std_err, path) PLAIN(9, open_mode_append) HAND(10, umask)     \
    HAND(11, rlimits) PLAIN(12, partitions) TEXT(13, account, short_text) TEXT(14, qos, short_text)                    \
    TEXT(15, reservation, small_expression) TEXT(16, features, small_expression) TEXT(17, prefer, small_expression)    \
    TEXT(18, node_list, expression) TEXT(19, exclude_nodes, expression) TEXT(20, licenses, small_expression)           \
    TEXT(21, wckey, short_text) TEXT(22, comment, expression) TEXT(23, admin_comment, expression) PLAIN(24, uid)       \
    PLAIN(25, gid) HAND(26, user_name) HAND(27, group_name) TEXT(28, alloc_node, short_text) PLAIN(29, alloc_sid)      \
    PLAIN(30, min_nodes) PLAIN(31, max_nodes) PLAIN(32, tasks) PLAIN(33, cpus_per_task) PLAIN(34, tasks_per_node)      \
    PLAIN(35, tasks_per_socket) PLAIN(36, tasks_per_core) PLAIN(37, tasks_per_gpu) PLAIN(38, min_cpus_per_node)        \
    PLAIN(39, mem_per_node_mib) PLAIN(40, mem_per_cpu_mib) PLAIN(41, mem_per_gpu_mib) PLAIN(42, min_tmp_mib)           \
    TEXT(43, gres_per_node, small_expression) TEXT(44, gres_per_job, small_expression)                                 \
    TEXT(45, gres_per_task, small_expression) TEXT(46, gres_per_socket, small_expression)                              \
    TEXT(47, tres_per_task, small_expression) PLAIN(48, cpus_per_gpu) PLAIN(49, sockets_per_node)                      \
    PLAIN(50, cores_per_socket) PLAIN(51, threads_per_core) HAND(52, exclusive) PLAIN(53, oversubscribe)               \
    PLAIN(54, overcommit) PLAIN(55, contiguous) PLAIN(56, spread) PLAIN(57, use_min_nodes)                             \
    TEXT(58, distribution, short_text) TEXT(59, hint, short_text) PLAIN(60, core_spec) PLAIN(61, switches)             \
    PLAIN(62, switches_wait_s) TEXT(63, cpu_bind, expression) TEXT(64, gpu_bind, expression)                           \
    TEXT(65, mem_bind, expression) PLAIN(66, time_limit_min) PLAIN(67, time_min_min) PLAIN(68, begin)                  \
    PLAIN(69, deadline) TEXT(70, dependency, expression) PLAIN(71, kill_on_invalid_dependency)                         \
    TEXT(72, array, expression) PLAIN(73, priority) PLAIN(74, nice) PLAIN(75, hold) PLAIN(76, requeue)                 \
    PLAIN(77, reboot) PLAIN(78, immediate_s) PLAIN(79, no_kill) PLAIN(80, wait_all_nodes) PLAIN(81, delay_boot_s)      \
    PLAIN(82, kill_on_bad_exit) PLAIN(83, mail_type) TEXT(84, mail_user, small_expression)                             \
    TEXT(85, signal, short_text) TEXT(86, mcs_label, short_text) TEXT(87, burst_buffer, expression)                    \
    TEXT(88, profile, short_text) TEXT(89, container, path) TEXT(90, extra, expression)                                \
    TEXT(91, network, small_expression) PLAIN(92, spank_environment) TEXT(93, submit_line, arguments)                  \
    TEXT(94, std_out_mode, short_text) HAND(95, kind) TEXT(96, command, path) TEXT(97, gres_flags, short_text)  \
    PLAIN(98, sample_s)
// clang-format on

// When a change is possible: while the job waits (or where it changes nothing), until it is over, or after that too.
enum class ChangeWhen : std::uint8_t { waiting, not_over, always };

// What can be changed of a job, with its number in the log, and when.
//   X(number, member, when)          the member of JobSpec of that name
//   OWN(number, member, when, type)  something else; core/machine/cluster_update.cpp says what
// clang-format off
#define SPUR_JOB_CHANGES(X, OWN) \
    X(1, name, not_over) X(2, account, waiting) X(3, qos, waiting) X(4, reservation, waiting) X(5, features, waiting)  \
    X(6, node_list, waiting) X(7, exclude_nodes, waiting) X(8, licenses, waiting) X(9, comment, always)                \
    X(10, admin_comment, always) X(11, dependency, waiting) X(12, gres_per_node, waiting) X(13, std_out, waiting)      \
    X(14, std_err, waiting) X(15, std_in, waiting) X(16, work_dir, waiting) X(17, wckey, always)                       \
    X(18, mail_user, not_over) X(19, extra, always) OWN(20, system_comment, always, Text) X(21, burst_buffer, waiting) \
    X(22, prefer, waiting) X(23, partitions, waiting) X(24, time_limit_min, not_over) X(25, time_min_min, waiting)     \
    X(26, min_nodes, waiting) X(27, max_nodes, waiting) X(28, tasks, waiting) X(29, cpus_per_task, waiting)            \
    X(30, tasks_per_node, waiting) X(31, min_cpus_per_node, waiting) OWN(32, priority, not_over, std::uint32_t)        \
    OWN(33, array_limit, not_over, std::uint32_t) X(34, mail_type, not_over) X(35, switches, waiting)                  \
    X(36, core_spec, waiting) X(37, mem_per_node_mib, waiting) X(38, mem_per_cpu_mib, waiting)                         \
    X(39, min_tmp_mib, waiting) X(40, nice, not_over) X(41, begin, waiting) X(42, deadline, not_over)                  \
    OWN(43, end_time, not_over, UnixSeconds) X(44, requeue, not_over) X(45, contiguous, waiting)                       \
    X(46, oversubscribe, waiting) OWN(47, reset_accrue_time, waiting, bool) X(48, kill_on_invalid_dependency, waiting) \
    X(49, exclusive, waiting) OWN(50, keep_nodes, not_over, std::vector<NodeId>) X(51, switches_wait_s, waiting)       \
    X(52, sockets_per_node, waiting) X(53, cores_per_socket, waiting) X(54, threads_per_core, waiting)                 \
    X(55, delay_boot_s, waiting)
// clang-format on

template <class T>
struct ChangeOf {
    using type = std::optional<T>;
};
template <class T>
struct ChangeOf<std::optional<T>> : ChangeOf<T> {};

// Absent: leave as it is. What may change depends on the job's state and on who asks, as in scontrol(1).
struct JobChanges {
#define SPUR_MEMBER(number, member, when) ChangeOf<decltype(JobSpec::member)>::type member;
#define SPUR_OWN_MEMBER(number, member, when, ...) std::optional<__VA_ARGS__> member;
    SPUR_JOB_CHANGES(SPUR_MEMBER, SPUR_OWN_MEMBER)
#undef SPUR_MEMBER
#undef SPUR_OWN_MEMBER
    bool operator==(const JobChanges&) const = default;
};

}  // namespace spur
