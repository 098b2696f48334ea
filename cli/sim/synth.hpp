// Synthetic workloads, in the manner of Lublin and Feitelson's model (JPDC 2003): sizes that favour powers of two, run
// times from two lognormal groups that lengthen with size, a daily cycle of arrivals; and as later studies found, few
// users who submit most, in batches, and time limits that are round and far too long.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/sim/trace.hpp"

namespace spur::cli::sim {

struct SynthOptions {
    std::uint64_t seed{1};
    std::uint32_t jobs{1000};
    std::int64_t duration_s{86'400};
    std::uint32_t cpus{1024};   // of the cluster it is meant for
    std::uint32_t max_cpus{0};  // the widest job; 0: half the cluster
    double load{0.9};           // asked-for cpu time against what the cluster has during duration_s
    std::uint32_t users{32};
    std::uint32_t accounts{8};
    std::optional<double> gpu_share;  // of jobs that want GPUs; unsaid: 0.6 where the cluster has some
    std::uint32_t gpus_per_node{0};
    std::uint32_t cpus_per_node{64};
};

// The same options give the same trace, on every machine.
Trace synthesize(const SynthOptions& options);

}  // namespace spur::cli::sim
