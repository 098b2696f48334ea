// Reading a job's request into amounts.
#include "need.hpp"

#include <algorithm>
#include <utility>

#include "bits.hpp"

namespace spur::select_gpu {

namespace {

GresNeed* find_kind(Need& need, std::uint32_t name, std::uint32_t type) {
    for (std::uint32_t i = 0; i < need.gres_count; ++i)
        if (need.gres[i].name == name && need.gres[i].type == type) return &need.gres[i];
    if (need.gres_count == most_kinds) return nullptr;
    auto& fresh = need.gres[need.gres_count++];
    fresh = {};
    fresh.name = name;
    fresh.type = type;
    return &fresh;
}

void add_gres(Need& need, const spur_job_view& job) {
    for (std::uint32_t i = 0; i < job.gres.count; ++i) {
        const auto& wanted = *SPUR_AT(spur_gres_request, job.gres, i);
        if (wanted.count == 0) continue;
        auto* const kind = find_kind(need, wanted.name, wanted.type);
        if (kind == nullptr || wanted.count > UINT32_MAX) {
            need.possible = false;
            return;
        }
        auto& amount = wanted.scope == SPUR_GRES_PER_JOB      ? kind->per_job
                       : wanted.scope == SPUR_GRES_PER_TASK   ? kind->per_task
                       : wanted.scope == SPUR_GRES_PER_SOCKET ? kind->per_socket
                                                              : kind->per_node;
        amount += wanted.count;
    }
}

// Typed wishes first: what is left over serves those that take any type.
void put_typed_first(Need& need) {
    std::uint32_t typed = 0;
    for (std::uint32_t i = 0; i < need.gres_count; ++i)
        if (need.gres[i].type != 0) std::swap(need.gres[typed++], need.gres[i]);
}

void find_gpu(Need& need, const Picture& picture, const spur_job_view& job) {
    const auto name = picture.gpu_name();
    for (std::uint32_t i = 0; i < need.gres_count && need.gpu < 0; ++i)
        if (need.gres[i].name == name) need.gpu = static_cast<std::int32_t>(i);
    for (std::uint32_t i = 0; i < need.gres_count; ++i)  // a gpu is whole or cut, and a job wants one or the other
        if (need.gpu >= 0 && need.gres[i].name == picture.shard_name()) need.possible = false;
    if (job.tasks_per_gpu != 0) {
        if (need.gpu < 0 && name != SPUR_NONE && find_kind(need, name, 0) != nullptr)
            need.gpu = static_cast<std::int32_t>(need.gres_count) - 1;  // --ntasks-per-gpu alone asks for them
        if (need.gpu < 0)
            need.possible = false;
        else
            need.gres[static_cast<std::size_t>(need.gpu)].tasks_each = job.tasks_per_gpu;
    }
    if ((job.cpus_per_gpu != 0 || job.mem_per_gpu_mib != 0) && need.gpu < 0) need.possible = false;
}

// Tasks that nobody counted follow from devices: --gpus=8 --gpus-per-task=2 are four.
void count_tasks(Need& need, const spur_job_view& job) {
    need.tasks = job.tasks;
    if (need.tasks != 0) return;
    if (job.tasks_per_node != 0) need.tasks_each_node = job.tasks_per_node;
    for (std::uint32_t i = 0; i < need.gres_count && job.tasks_per_node == 0; ++i) {
        const auto& kind = need.gres[i];
        if (kind.tasks_each != 0 && kind.per_job != 0)
            need.tasks =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(kind.per_job * kind.tasks_each, UINT32_MAX));
        else if (kind.tasks_each != 0 && kind.per_node != 0)
            need.tasks_each_node =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(kind.per_node * kind.tasks_each, UINT32_MAX));
        else if (kind.per_task != 0 && kind.per_job != 0)
            need.tasks = static_cast<std::uint32_t>(std::max<std::uint64_t>(kind.per_job / kind.per_task, 1));
        else if (kind.per_task != 0 && kind.per_node != 0)
            need.tasks_each_node =
                static_cast<std::uint32_t>(std::max<std::uint64_t>(kind.per_node / kind.per_task, 1));
    }
}

void count_nodes(Need& need, const spur_job_view& job, const spur_partition_view& partition) {
    need.min_nodes = std::max({job.min_nodes, partition.min_nodes, count(job.required_nodes), 1U});
    need.max_nodes = std::min(job.max_nodes == 0 ? SPUR_UNLIMITED : job.max_nodes, partition.max_nodes);
    if (need.tasks != 0 && job.tasks_per_node != 0)
        need.min_nodes = std::max(need.min_nodes, (need.tasks + job.tasks_per_node - 1) / job.tasks_per_node);
    for (std::uint32_t i = 0; i < need.gres_count; ++i) {
        const auto& kind = need.gres[i];
        if (kind.per_job == 0) continue;
        if (need.pooled >= 0) need.possible = false;  // two kinds for the whole job at once
        need.pooled = static_cast<std::int32_t>(i);
        if (kind.per_node != 0)
            need.min_nodes = std::max(need.min_nodes,
                                      static_cast<std::uint32_t>((kind.per_job + kind.per_node - 1) / kind.per_node));
    }
    if (need.tasks != 0 && need.tasks < need.min_nodes) need.tasks = need.min_nodes;  // as Slurm does: one a node
    // A node without a task is no use, nor one without a device where they are asked for the job.
    if (need.tasks != 0) need.max_nodes = std::min(need.max_nodes, std::max(need.tasks, need.min_nodes));
    if (need.pooled >= 0) {
        const auto units = need.gres[static_cast<std::size_t>(need.pooled)].per_job;
        if (units >= need.min_nodes)
            need.max_nodes = static_cast<std::uint32_t>(std::min<std::uint64_t>(need.max_nodes, units));
    }
    need.possible = need.possible && need.min_nodes <= need.max_nodes;
}

}  // namespace

Need need_of(const Picture& picture, const spur_job_view& job, std::uint32_t partition_index, const NeedRules& rules) {
    const auto& partition = *SPUR_AT(spur_partition_view, picture.view().partitions, partition_index);
    Need need;
    need.partition = partition_index;
    need.uid = job.uid;
    need.cpus_per_task = std::max(job.cpus_per_task, 1U);
    need.tasks_per_core = job.tasks_per_core;
    need.tasks_per_socket = job.tasks_per_socket;
    need.min_cpus = job.min_cpus_per_node;
    need.cpus_per_gpu = job.cpus_per_gpu;
    need.sockets = std::max(job.min_sockets, 1U);
    if (job.tasks_per_node != 0) need.most_tasks = job.tasks_per_node;
    if (job.min_threads_per_core != 0) need.threads = job.min_threads_per_core;
    if ((job.flags & SPUR_JOB_ONE_THREAD_PER_CORE) != 0) need.threads = 1;
    need.most_cpus = partition.max_cpus_per_node == 0 ? SPUR_UNLIMITED : partition.max_cpus_per_node;
    need.whole = (job.flags & SPUR_JOB_EXCLUSIVE) != 0 || partition.oversubscribe == 0;
    need.own_user = (job.flags & SPUR_JOB_EXCLUSIVE_USER) != 0 || partition.exclusive_user != 0;
    if ((job.flags & SPUR_JOB_OVERSUBSCRIBE) != 0 && !need.whole && !need.own_user && partition.oversubscribe > 1)
        need.jobs_per_core = partition.oversubscribe;
    need.overcommit = (job.flags & SPUR_JOB_OVERCOMMIT) != 0;
    need.spread = (job.flags & SPUR_JOB_SPREAD) != 0;
    need.least_loaded = partition.least_loaded != 0;
    need.cyclic_cores = job.spread_sockets == SPUR_SPREAD_CYCLIC || (job.flags & SPUR_JOB_MEMORY_BOUND) != 0;
    need.mem_per_node = job.mem_per_node_mib;
    need.mem_per_cpu = job.mem_per_cpu_mib;
    need.mem_per_gpu = job.mem_per_gpu_mib;
    need.all_memory = (job.flags & SPUR_JOB_MEM_ALL) != 0;
    if (rules.memory_unsaid_is_all && need.mem_per_node == 0 && need.mem_per_cpu == 0 && need.mem_per_gpu == 0)
        need.all_memory = true;
    add_gres(need, job);
    put_typed_first(need);
    find_gpu(need, picture, job);
    count_tasks(need, job);
    count_nodes(need, job, partition);
    return need;
}

std::uint32_t Need::least_cores(std::uint32_t threads_per_core) const {
    const auto usable = std::max(1U, std::min(threads, threads_per_core));
    const std::uint64_t by_tasks = overcommit ? 1 : std::uint64_t{least_tasks()} * cpus_per_task;
    const auto cpus = std::max({by_tasks, std::uint64_t{min_cpus}, cpus_per_gpu * least_gpus()});
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((cpus + usable - 1) / usable, UINT32_MAX));
}

std::uint64_t Need::least_gpus() const {
    if (gpu < 0) return 0;
    const auto& kind = gres[static_cast<std::size_t>(gpu)];
    auto least = std::max({kind.per_node, kind.per_task * least_tasks(), kind.per_socket * sockets});
    if (kind.tasks_each != 0)
        least = std::max<std::uint64_t>(least, (least_tasks() + kind.tasks_each - 1) / kind.tasks_each);
    if (kind.per_job >= min_nodes) least = std::max<std::uint64_t>(least, 1);
    return least;
}

std::uint64_t Need::least_memory() const {
    return std::max({mem_per_node, mem_per_cpu * (overcommit ? 1 : least_tasks() * std::uint64_t{cpus_per_task}),
                     mem_per_gpu * least_gpus()});
}

}  // namespace spur::select_gpu
