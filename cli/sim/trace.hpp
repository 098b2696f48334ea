// A workload: which jobs were asked for, when, and how long each runs once it is let. Times are seconds after the
// trace's beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace spur::cli::sim {

// One request. The names are those of sbatch's options; what is empty or absent was not asked for.
struct TraceJob {
    std::string id;  // what the trace calls it; unique
    std::int64_t submit_s{};
    std::int64_t run_s{};                 // until it ends by itself
    std::vector<std::int64_t> task_runs;  // of an array: per task, in the order of their numbers; empty: run_s for all
    std::optional<std::int64_t> limit_s;  // --time
    std::optional<std::int64_t> begin_s;  // --begin, as submit_s
    bool fails{false};                    // ends with a non-zero exit code
    bool exclusive{false};

    std::string name, user, account, qos, partition;
    std::string features;      // --constraint
    std::string gres;          // per node: "gpu:2"
    std::string gres_per_job;  // "gpu:a100:16"
    std::string licenses, node_list, reservation;
    std::string array;       // "0-9%4"
    std::string dependency;  // "afterok:ID", with ids of this trace
    std::optional<std::uint32_t> min_nodes, max_nodes, tasks, tasks_per_node, cpus_per_task;
    std::optional<std::uint64_t> mem_per_node_mib, mem_per_cpu_mib;
    std::optional<std::int32_t> nice;

    std::string follows;     // submitted only after this one has ended ...
    std::int64_t think_s{};  // ... and its user has thought so long
    bool operator==(const TraceJob&) const = default;
};

// Nodes that are kept for somebody, or for nobody, during a time.
struct TraceReservation {
    std::string name;
    std::int64_t start_s{}, end_s{};
    std::string nodes;                         // a hostlist
    std::vector<std::string> users, accounts;  // who may use it; neither: nobody
    bool operator==(const TraceReservation&) const = default;
};

struct Trace {
    std::string source;          // the file
    UnixSeconds begins{};        // what second 0 is
    std::vector<TraceJob> jobs;  // in order of submit_s, then of the file
    std::vector<TraceReservation> reservations;
    bool knows_partitions{true};       // false: a partition that does not exist here means the default one
    std::vector<std::string> remarks;  // what was left out, and why
    bool operator==(const Trace&) const = default;
};

// A Monday, 00:00 UTC: the beginning of traces that do not say.
inline constexpr UnixSeconds default_beginning = 1'767'571'200;

// By its name: *.swf is Standard Workload Format, everything else Spur's own. Mistakes are told with file and line.
Result<Trace> load_trace(const std::string& path);
Result<Trace> parse_swf(std::string_view text, const std::string& source);
Result<Trace> parse_trace_lines(std::string_view text, const std::string& source);
// What parse_trace_lines reads.
std::string print_trace(const Trace& trace);
std::string print_trace_job(const TraceJob& job);  // one line

// The order and the references that every trace keeps to.
Result<void> complete(Trace& trace);

}  // namespace spur::cli::sim
