// What generic resources are beyond a count. A name that is not in the table is a count and nothing else.
#pragma once

#include <algorithm>
#include <string_view>

namespace spur {

struct GresKind {
    std::string_view name;
    std::string_view device;          // whose devices it is given as: its own, or those that it is a part of
    std::string_view count_variable;  // how many of them a job or step has on a node
};

inline constexpr std::string_view gpu_gres = "gpu";
inline constexpr GresKind gres_kinds[]{
    {gpu_gres, gpu_gres, "SLURM_GPUS_ON_NODE"},
    {"shard", gpu_gres, "SLURM_SHARDS_ON_NODE"},
};

constexpr const GresKind* find_gres_kind(std::string_view name) {
    const auto* const found = std::ranges::find(gres_kinds, name, &GresKind::name);
    return found == std::end(gres_kinds) ? nullptr : found;
}
// Given as devices of the node, which have numbers and places.
constexpr bool is_device_gres(std::string_view gres) {
    const auto* const kind = find_gres_kind(gres);
    return kind != nullptr && kind->device == kind->name;
}
// Given as parts of another resource's devices, as shards are of gpus.
constexpr bool is_part_gres(std::string_view gres) {
    const auto* const kind = find_gres_kind(gres);
    return kind != nullptr && kind->device != kind->name;
}

}  // namespace spur
