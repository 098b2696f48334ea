// How much of a node is in use: what fits, what is taken and given back.
#include "core/model/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/gres_kind.hpp"
#include "core/model/node.hpp"

namespace spur {

namespace {

// The pool that `share` draws from: same name and, if it names one, same type.
std::optional<std::size_t> find_pool(const Node& node, const GresShare& share) {
    for (std::size_t i = 0; i < node.gres.size(); ++i)
        if (node.gres[i].name == share.name && (share.type.empty() || node.gres[i].type == share.type)) return i;
    return std::nullopt;
}

Bitset pool_devices(const GresPool& pool) {
    return pool.has_devices ? Bitset::range(pool.first_index, static_cast<std::uint32_t>(pool.count)) : Bitset{};
}

std::uint32_t shards_on(const NodeUse& use, std::uint32_t gpu) { return gpu < use.shards.size() ? use.shards[gpu] : 0; }

// Calls f(gpu, how many) for each gpu that shards of `share` lie on.
template <class F>
void for_each_shard_gpu(const GresShare& share, F&& f) {
    std::size_t i = 0;
    share.devices.for_each([&](std::uint32_t gpu) {
        if (i < share.per_device.size()) f(gpu, share.per_device[i]);
        ++i;
    });
}

std::optional<std::string> find_device_lack(const Node& node, const GresShare& share, std::size_t index) {
    const auto& pool = node.gres[index];
    if (share.devices.count() != share.count)
        return fmt::format("{} devices of {} are named for a count of {}", share.devices.count(), share.name,
                           share.count);
    if (!pool_devices(pool).contains(share.devices))
        return fmt::format("{} has no {} numbered {}", node.name, pool.name, share.devices.to_ranges());
    if (is_device_gres(pool.name.view()))
        for (const auto& place : node.gpu_places)
            if (place.failed && share.devices.has(place.index))
                return fmt::format("gpu {} of {} has failed", place.index, node.name);
    if (index < node.use.devices.size() && node.use.devices[index].intersects(share.devices))
        return fmt::format("{} {} of {} is in use", pool.name, (node.use.devices[index] & share.devices).to_ranges(),
                           node.name);
    if (is_device_gres(pool.name.view())) {
        std::optional<std::uint32_t> cut;
        share.devices.for_each([&](std::uint32_t gpu) {
            if (shards_on(node.use, gpu) && !cut) cut = gpu;
        });
        if (cut) return fmt::format("gpu {} of {} is in use by shards", *cut, node.name);
    }
    return std::nullopt;
}

std::optional<std::string> find_shard_lack(const Node& node, const GresShare& share) {
    const auto per_gpu = shards_per_gpu(node);
    std::uint64_t placed = 0;
    std::optional<std::uint32_t> crowded;
    for_each_shard_gpu(share, [&](std::uint32_t gpu, std::uint32_t here) {
        placed += here;
        if (std::uint64_t{shards_on(node.use, gpu)} + here > per_gpu && !crowded) crowded = gpu;
    });
    if (placed != share.count) return fmt::format("{} shards are placed for a count of {}", placed, share.count);
    if (crowded) return fmt::format("gpu {} of {} has too few free shards", *crowded, node.name);
    for (std::size_t i = 0; i < node.gres.size(); ++i)
        if (is_device_gres(node.gres[i].name.view()) && i < node.use.devices.size() &&
            node.use.devices[i].intersects(share.devices))
            return fmt::format("a gpu of {} named for shards is given whole to another job", node.name);
    return std::nullopt;
}

// Two entries of one share may draw from the same pool, or name the same gpu.
std::optional<std::string> find_gres_lack(const Node& node, const std::vector<GresShare>& shares) {
    std::vector<std::uint64_t> wanted(node.gres.size());
    std::vector<Bitset> named(node.gres.size());
    Bitset whole_gpus;
    Bitset cut_gpus;
    for (const auto& share : shares) {
        const auto index = find_pool(node, share);
        if (!index)
            return fmt::format("{} has no {}{}{}", node.name, share.name, share.type.empty() ? "" : ":", share.type);
        const auto& pool = node.gres[*index];
        const auto used = *index < node.use.gres.size() ? node.use.gres[*index] : 0;
        const auto free = pool.count - std::min(used, pool.count);
        if (share.count > free || wanted[*index] > free - share.count)
            return fmt::format("{} has {} of {} {} in use", node.name, used, pool.count, share.name);
        wanted[*index] += share.count;
        if (pool.has_devices)
            if (auto lack = find_device_lack(node, share, *index)) return lack;
        if (is_part_gres(share.name.view()) && shards_per_gpu(node))
            if (auto lack = find_shard_lack(node, share)) return lack;
        if (named[*index].intersects(share.devices))
            return fmt::format("a {} of {} is named twice", share.name, node.name);
        named[*index] |= share.devices;
        if (is_part_gres(share.name.view())) cut_gpus |= share.devices;
        if (is_device_gres(share.name.view())) whole_gpus |= share.devices;
    }
    if (whole_gpus.intersects(cut_gpus)) return fmt::format("a gpu of {} is named whole and for shards", node.name);
    return std::nullopt;
}

void count_gres(Node& node, const NodeShare& share, bool taking) {
    auto& use = node.use;
    use.gres.resize(node.gres.size());
    use.devices.resize(node.gres.size());
    for (const auto& part : share.gres) {
        const auto index = find_pool(node, part);
        if (!index) continue;
        use.gres[*index] =
            taking ? use.gres[*index] + part.count : use.gres[*index] - std::min(use.gres[*index], part.count);
        if (node.gres[*index].has_devices) {
            if (taking)
                use.devices[*index] |= part.devices;
            else
                use.devices[*index] -= part.devices;
        }
        for_each_shard_gpu(part, [&](std::uint32_t gpu, std::uint32_t here) {
            if (use.shards.size() <= gpu) use.shards.resize(gpu + 1);
            use.shards[gpu] = taking ? use.shards[gpu] + here : use.shards[gpu] - std::min(use.shards[gpu], here);
        });
    }
}

}  // namespace

std::uint32_t shards_per_gpu(const Node& node) {
    std::uint64_t shards = 0, gpus = 0;
    for (const auto& pool : node.gres) {
        if (is_part_gres(pool.name.view())) shards += pool.count;
        if (is_device_gres(pool.name.view())) gpus += pool.count;
    }
    return gpus ? static_cast<std::uint32_t>(shards / gpus) : 0;
}

std::optional<std::string> find_core_lack(const Node& node, const NodeShare& share, Sharing sharing) {
    if (!node.usable_cores().contains(share.cores))
        return fmt::format("{} has no cores {} for jobs", node.name, (share.cores - node.usable_cores()).to_ranges());
    if (node.use.own_cores.intersects(share.cores))
        return fmt::format("cores {} of {} are in use", (node.use.own_cores & share.cores).to_ranges(), node.name);
    std::optional<std::uint32_t> crowded;
    share.cores.for_each([&](std::uint32_t core) {
        const auto jobs = core < node.use.core_jobs.size() ? node.use.core_jobs[core] : 0;
        if (jobs >= sharing.jobs_per_core && !crowded) crowded = core;
    });
    if (crowded) return fmt::format("core {} of {} is shared by as many jobs as may", *crowded, node.name);
    return std::nullopt;
}

Bitset NodeUse::busy_cores() const {
    Bitset busy = own_cores;
    for (std::uint32_t core = 0; core < core_jobs.size(); ++core)
        if (core_jobs[core]) busy.add(core);
    return busy;
}

std::optional<std::string> find_lack(const Node& node, const NodeShare& share, Sharing sharing) {
    if (share.cores.empty()) return fmt::format("no cores are named on {}", node.name);
    if (auto lack = find_core_lack(node, share, sharing)) return lack;
    if (share.cpus > share.cores.count() * std::uint64_t{node.topology.threads_per_core})
        return fmt::format("{} cpus do not fit on {} cores of {}", share.cpus, share.cores.count(), node.name);
    const auto free_mib = node.usable_memory_mib() - std::min(node.usable_memory_mib(), node.use.memory_mib);
    if (share.memory_mib > free_mib)
        return fmt::format("{} MiB of memory are wanted on {}, {} are free", share.memory_mib, node.name, free_mib);
    return find_gres_lack(node, share.gres);
}

void take_cores(Node& node, const NodeShare& share, Sharing sharing) {
    node.use.cpus += share.cpus;
    if (sharing.jobs_per_core <= 1) {
        node.use.own_cores |= share.cores;
        return;
    }
    node.use.core_jobs.resize(std::max<std::size_t>(node.use.core_jobs.size(), node.topology.cores()));
    share.cores.for_each([&](std::uint32_t core) { ++node.use.core_jobs[core]; });
}

void give_cores(Node& node, const NodeShare& share, Sharing sharing) {
    node.use.cpus -= std::min(node.use.cpus, share.cpus);
    if (sharing.jobs_per_core <= 1) {
        node.use.own_cores -= share.cores;
        return;
    }
    share.cores.for_each([&](std::uint32_t core) {
        if (core < node.use.core_jobs.size() && node.use.core_jobs[core]) --node.use.core_jobs[core];
    });
    if (std::ranges::all_of(node.use.core_jobs, [](auto jobs) { return jobs == 0; })) node.use.core_jobs.clear();
}

void take_rest(Node& node, const NodeShare& share) {
    node.use.memory_mib += share.memory_mib;
    if (!share.gres.empty()) count_gres(node, share, true);
}

void give_rest(Node& node, const NodeShare& share) {
    node.use.memory_mib -= std::min(node.use.memory_mib, share.memory_mib);
    if (!share.gres.empty()) count_gres(node, share, false);
}

void take(Node& node, const NodeShare& share, Sharing sharing) {
    take_cores(node, share, sharing);
    take_rest(node, share);
}

void give(Node& node, const NodeShare& share, Sharing sharing) {
    give_cores(node, share, sharing);
    give_rest(node, share);
}

}  // namespace spur
