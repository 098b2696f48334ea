// Jobs, nodes and partitions as the wire carries them, for tests of what commands print. The cluster is the one the
// expected texts were observed on: n[1-3] with 8 CPUs, n4 with 16 and four GPUs; partitions main, gpu, hid and down.
#pragma once

#include "spur/v1/controller.pb.h"

#include <cstdint>
#include <string>

namespace spur::test {

inline constexpr std::int64_t listing_time = 1'794'864'872;  // 2026-11-16T21:34:32 UTC

inline v1::Job pending_job(std::uint32_t id, const std::string& partition = "main") {
    v1::Job job;
    job.set_id(id);
    job.set_reason("Resources");
    job.set_partition(partition);
    job.set_time_limit_min(60);
    job.set_priority(4'294'901'760U - id);
    job.set_submit_time(listing_time - 6);
    job.set_user_name("root");
    job.set_group_name("root");
    job.set_cpus(1);
    job.set_node_count(1);
    job.set_task_count(1);
    job.mutable_spec()->set_name("wrap");
    job.mutable_spec()->set_work_dir("/home/root");
    return job;
}

inline v1::Job running_job(std::uint32_t id, const std::string& nodes, std::int64_t since_s = 5,
                           const std::string& partition = "main") {
    auto job = pending_job(id, partition);
    job.set_state_bits(1);
    job.set_reason("None");
    job.set_start_time(listing_time - since_s);
    job.set_end_time(job.start_time() + 3600);
    job.set_node_list(nodes);
    job.set_batch_host(nodes.substr(0, nodes.find('[')) + (nodes.find('[') == std::string::npos ? "" : "2"));
    return job;
}

inline v1::ListJobsReply listing(std::initializer_list<v1::Job> jobs) {
    v1::ListJobsReply reply;
    for (const auto& job : jobs) *reply.add_jobs() = job;
    reply.set_now(listing_time);
    reply.set_cluster("bench");
    return reply;
}

inline v1::Node node(const std::string& name, const std::string& state, std::initializer_list<const char*> partitions) {
    v1::Node node;
    node.set_name(name);
    node.set_hostname(name);
    node.set_addr("127.0.0.1");
    node.set_state(state);
    node.set_cpus(8);
    node.set_sockets(2);
    node.set_cores_per_socket(4);
    node.set_threads_per_core(1);
    node.set_memory_mib(256000);
    node.set_tmp_mib(1000);
    node.set_weight(1);
    node.add_features("a");
    node.add_features("b");
    node.set_version("22.05.8");
    for (const auto* partition : partitions) node.add_partitions(partition);
    return node;
}

inline v1::Partition partition(const std::string& name, std::uint32_t max_time_min, bool is_default = false) {
    v1::Partition partition;
    partition.set_name(name);
    partition.set_is_default(is_default);
    partition.set_state("UP");
    partition.set_max_time_min(max_time_min);
    partition.set_max_nodes(0xffffffffU);
    partition.set_priority_tier(1);
    partition.set_priority_job_factor(1);
    partition.set_oversubscribe("NO");
    partition.set_preempt_mode("OFF");
    return partition;
}

}  // namespace spur::test
