// The queue of a random cluster: requests of every kind, most of them possible, some of them not.
#include "cluster.hpp"

#include <algorithm>
#include <cstring>

namespace spur::check {

void Cluster::make_pending(std::uint32_t count) {
    spur_job_view empty_slot;
    std::memset(&empty_slot, 0xA5, sizeof empty_slot);  // whoever looks at it regrets it
    std::uint32_t id = 1;
    for (std::uint32_t made = 0; made < count;) {
        if (dice_.one_in(8)) pending_.push_back(empty_slot);
        auto job = make_request(id++);
        // Now and then a few jobs with the same request, or the components of a heterogeneous job.
        const bool components = dice_.one_in(12);
        if (components) job.het_group = job.id, job.array_tasks = 1;
        job.wishes = wishes_of(job);
        for (auto copies = components || dice_.one_in(4) ? dice_.between(2, 4) : 1; copies > 0; --copies) {
            if ((job.wishes & ~wishes_.understood) == 0)
                pending_order_.push_back(static_cast<std::uint32_t>(pending_.size()));
            pending_.push_back(job);
            job.id = id++;
            ++made;
        }
    }
    std::ranges::stable_sort(pending_order_, std::greater{}, [&](auto slot) { return pending_[slot].priority; });
}

std::uint64_t Cluster::wishes_of(const spur_job_view& job) {
    return ((job.flags & SPUR_JOB_CONTIGUOUS) != 0 ? SPUR_WISH_CONTIGUOUS : 0) |
           (job.alternatives.count != 0 ? SPUR_WISH_ALTERNATIVES : 0) | (job.quotas.count != 0 ? SPUR_WISH_QUOTAS : 0) |
           (job.gres.count != 0 ? SPUR_WISH_GRES : 0) | (job.het_group != 0 ? SPUR_WISH_HET_JOB : 0) |
           (job.limit_min_s != 0 ? SPUR_WISH_TIME_MIN : 0) | (job.licenses.count != 0 ? SPUR_WISH_LICENSES : 0) |
           (job.reservation != SPUR_NONE ? SPUR_WISH_RESERVATION : 0);
}

spur_job_view Cluster::make_request(std::uint32_t id) {
    spur_job_view job{};
    job.id = id;
    job.flags = unknown_flag_;
    job.klass = id;
    job.priority = dice_.between(1, 1000);
    job.uid = 1000 + dice_.below(3);
    job.gid = 100;
    job.association = dice_.one_in(5) ? SPUR_NONE : dice_.below(static_cast<std::uint32_t>(associations_.size()));
    job.qos = dice_.below(2);
    job.reservation = SPUR_NONE;
    job.array_tasks = dice_.one_in(5) ? dice_.between(2, 6) : 1;
    job.submitted = now_ - dice_.below(100'000);
    job.eligible = job.submitted + dice_.below(static_cast<std::uint32_t>(now_ - job.submitted) + 1);
    job.limit_s = dice_.one_in(8) ? SPUR_UNLIMITED : dice_.between(60, 20'000);
    if (job.limit_s != SPUR_UNLIMITED && dice_.one_in(6)) job.limit_min_s = job.limit_s / 2;

    std::vector<std::uint32_t> partitions{dice_.below(static_cast<std::uint32_t>(partitions_.size()))};
    if (dice_.one_in(4) && partitions.front() != 0) partitions.push_back(0);
    job.partitions = memory_.numbers(partitions);
    if (!licenses_.empty() && dice_.one_in(5))
        job.licenses = memory_.span(std::vector<spur_license_request>{
            {dice_.below(static_cast<std::uint32_t>(licenses_.size())), dice_.between(1, 3)}});
    if (!reservations_.empty() && dice_.one_in(8))
        job.reservation = dice_.below(static_cast<std::uint32_t>(reservations_.size()));

    ask_for_size(job);
    ask_for_memory(job);
    ask_for_gres(job);
    ask_for_nodes(job);
    if (wishes_.placement_rules && dice_.one_in(4)) ask_for_placement(job);
    return job;
}

void Cluster::ask_for_size(spur_job_view& job) {
    job.min_nodes = dice_.one_in(3) ? dice_.between(1, 4) : 1;
    job.max_nodes = dice_.one_in(3) ? job.min_nodes + dice_.below(2) : SPUR_UNLIMITED;
    if (!dice_.one_in(4)) {
        job.tasks = job.min_nodes * dice_.between(1, 4);
        job.cpus_per_task = dice_.one_in(3) ? dice_.between(1, 4) : 0;
    }
    if (job.tasks > 0 && dice_.one_in(5))
        job.tasks_per_node = dice_.between((job.tasks + job.min_nodes - 1) / job.min_nodes, 8);
    if (dice_.one_in(8)) job.min_cpus_per_node = dice_.between(1, 8);
    if (dice_.one_in(6)) job.flags |= SPUR_JOB_EXCLUSIVE;
    if (dice_.one_in(8)) job.flags |= SPUR_JOB_ONE_THREAD_PER_CORE;
    if (dice_.one_in(4)) job.flags |= SPUR_JOB_REQUEUE;
}

void Cluster::ask_for_memory(spur_job_view& job) {
    switch (dice_.below(5)) {
        case 0:
            job.mem_per_node_mib = dice_.between(1, 32) * 1024u;
            break;
        case 1:
            job.mem_per_cpu_mib = dice_.between(1, 8) * 256u;
            break;
        case 2:
            job.flags |= SPUR_JOB_MEM_ALL;
            break;
        default:
            break;
    }
    if (dice_.one_in(10)) job.tmp_mib = dice_.between(1, 1200);
}

void Cluster::ask_for_gres(spur_job_view& job) {
    std::vector<spur_gres_request> wanted;
    if (dice_.one_in(3)) {
        const std::uint32_t scopes[] = {SPUR_GRES_PER_NODE, SPUR_GRES_PER_JOB, SPUR_GRES_PER_TASK};
        const auto scope = scopes[dice_.below(job.tasks > 0 ? 3 : 2)];
        if (scope == SPUR_GRES_PER_JOB) job.max_nodes = SPUR_UNLIMITED;
        wanted.push_back({gpu_name, dice_.one_in(2) ? 0 : dice_.below(3), scope, 0, dice_.between(1, 4)});
    }
    if (dice_.one_in(6)) wanted.push_back({counted_name, 0, SPUR_GRES_PER_NODE, 0, dice_.between(1, 3)});
    job.gres = memory_.span(wanted);
}

void Cluster::ask_for_nodes(spur_job_view& job) {
    if (dice_.one_in(4)) job.eligible_nodes = memory_.bits(some_nodes(2));
    if (dice_.one_in(8)) {
        std::vector<bool> one(nodes_.size());
        one[dice_.below(static_cast<std::uint32_t>(one.size()))] = true;
        job.required_nodes = memory_.bits(one);
    }
    if (dice_.one_in(8)) job.preferred_nodes = memory_.bits(some_nodes(3));
}

void Cluster::ask_for_placement(spur_job_view& job) {
    switch (dice_.below(3)) {
        case 0:
            job.alternatives =
                memory_.span(std::vector<spur_bits>{memory_.bits(some_nodes(3)), memory_.bits(some_nodes(2))});
            break;
        case 1:
            job.min_nodes = 2;
            job.max_nodes = SPUR_UNLIMITED;
            if (job.tasks == 1) job.tasks = 2;
            job.quotas = memory_.span(std::vector<spur_node_quota>{{memory_.bits(some_nodes(2)), 1, 0}});
            break;
        default:
            job.flags |= SPUR_JOB_CONTIGUOUS;
            break;
    }
}

}  // namespace spur::check
