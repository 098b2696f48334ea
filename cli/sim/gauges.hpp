// How much of the cluster is in use, kept up to date node by node and summed over virtual time.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/sim/outcome.hpp"
#include "cli/sim/trace.hpp"
#include "core/model/node.hpp"

namespace spur::cli::sim {

// GPU fragmentation as the chance that a free GPU cannot serve the next GPU job: for each kind of request in the trace,
// weighed by how often it comes, the free GPUs that lie on nodes where that request does not fit count as stranded.
// (Weng et al., "Beware of Fragmentation", USENIX ATC 2023, for whole GPUs.)
class GpuFragments {
public:
    struct Kind {
        std::uint32_t gpus{}, cpus{};  // on one node
        double share{};                // of all GPU jobs
    };
    explicit GpuFragments(std::vector<Kind> kinds) : kinds_{std::move(kinds)} {}
    static GpuFragments of(const Trace& trace, std::uint32_t most_gpus_per_node);

    // How many of the free GPUs of a node with so many free GPUs and CPUs are stranded.
    double stranded(std::uint32_t free_gpus, std::uint32_t free_cpus) const;
    bool empty() const { return kinds_.empty(); }

private:
    std::vector<Kind> kinds_;
};

class Gauges {
public:
    Gauges(const Trace& trace, const std::vector<Node>& nodes);

    // The node's books have changed.
    void update(const Node& node);
    // Nothing changes before `now`; what is integrated counts as long as jobs are submitted.
    void advance(UnixSeconds now, bool counts);

    std::uint32_t cpus() const { return cpus_; }
    std::uint32_t gpus() const { return gpus_; }
    std::uint32_t total_cpus() const { return total_cpus_; }
    std::uint32_t total_gpus() const { return total_gpus_; }
    double free_gpu_s() const { return free_gpu_s_; }
    double stranded_gpu_s() const { return stranded_gpu_s_; }

private:
    struct Reading {
        std::uint32_t cpus{}, gpus{};
        double stranded{};
    };
    Reading read(const Node& node) const;

    GpuFragments fragments_;
    std::vector<Reading> readings_;  // by node
    std::uint32_t cpus_{}, gpus_{}, total_cpus_{}, total_gpus_{};
    double stranded_{};
    UnixSeconds now_{};
    double free_gpu_s_{}, stranded_gpu_s_{};
};

// The number of GPUs in a list of generic resources; of a node's pools; of those in use.
std::uint32_t gpus_in(std::string_view gres);
std::uint32_t gpus_of(const Node& node);
std::uint32_t used_gpus_of(const Node& node);

}  // namespace spur::cli::sim
