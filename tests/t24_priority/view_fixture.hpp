// A view of a small cluster in the shape of the ABI, for tests of priorities.
#pragma once

#include <spur/plugin/priority.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spur::fairshare::testing {

using plugin::span_of;
using plugin::str;

// Two nodes with 8 cpus and 4 GPUs each in one partition, "main"; a second, "gold", has the first node only.
struct ViewFixture {
    ViewFixture() {
        gpus = {0, 0, 4, 0, {}, {}};
        for (auto& node : nodes) {
            node = {};
            node.cpus = 8;
            node.memory_mib = 1000;
            node.gres = span_of(&gpus, 1);
        }
        partitions[0].name = str("main");
        partitions[0].nodes = {&both, 2, 0};
        partitions[0].job_factor = 1;
        partitions[1].name = str("gold");
        partitions[1].nodes = {&first, 2, 0};
        partitions[1].job_factor = 4;
        qos[0].name = str("normal");
        qos[1].name = str("high");
        qos[1].priority = 100;
        add_association("root", "", SPUR_NONE, 1, 0);
        names[0] = str("gpu");
    }

    std::uint32_t add_association(const char* account, const char* user, std::uint32_t parent, std::uint32_t shares,
                                  double usage, std::uint32_t priority = 0) {
        associations.push_back({str(account), str(user), parent, shares, SPUR_NONE, priority, usage});
        return static_cast<std::uint32_t>(associations.size() - 1);
    }
    std::uint32_t add_job() {
        spur_job_view job{};
        job.id = static_cast<std::uint32_t>(jobs.size() + 1);
        job.association = job.qos = job.reservation = SPUR_NONE;
        job.submitted = job.eligible = now;
        job.min_nodes = 1;
        job.limit_s = 3600;
        jobs.push_back(job);
        order.push_back(job.id - 1);
        return job.id - 1;
    }
    const spur_cluster_view& view() {
        made = {};
        made.size = sizeof made;
        made.now = now;
        made.nodes = span_of(nodes, 2);
        made.pending = span_of(jobs);
        made.pending_order = span_of(order);
        made.partitions = span_of(partitions, 2);
        made.qos = span_of(qos, 2);
        made.associations = span_of(associations);
        made.gres_names = span_of(names, 1);
        return made;
    }

    std::int64_t now = 1'000'000'000;
    std::uint64_t both = 3, first = 1;
    spur_gres_view gpus{};
    spur_node_view nodes[2];
    spur_partition_view partitions[2]{};
    spur_qos_view qos[2]{};
    spur_str names[1]{};
    std::vector<spur_association_view> associations;
    std::vector<spur_job_view> jobs;
    std::vector<std::uint32_t> order;
    spur_cluster_view made{};
};

}  // namespace spur::fairshare::testing
