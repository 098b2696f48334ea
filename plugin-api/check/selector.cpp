// The template's policy behind an ops table.
#include "selector.hpp"

#include "plugin-api/templates/cpp/select/whole_nodes.hpp"

namespace spur::check {
namespace {

WholeNodes& cycle_cast(spur_select_cycle* cycle) { return *reinterpret_cast<WholeNodes*>(cycle); }

constexpr spur_select_ops ops{
    .size = sizeof(spur_select_ops),
    .reserved = 0,
    .understands = WholeNodes::understands,
    .begin = [](spur_plugin*, const spur_cluster_view* view, spur_select_cycle** out, spur_error*) -> spur_status {
        *out = reinterpret_cast<spur_select_cycle*>(new WholeNodes(*view));
        return SPUR_OK;
    },
    .end = [](spur_plugin*, spur_select_cycle* cycle) { delete &cycle_cast(cycle); },
    .slots = [](spur_select_cycle*) { return WholeNodes::slot_count; },
    .copy = [](spur_select_cycle* cycle, std::uint32_t from, std::uint32_t to) -> spur_status {
        if (from >= WholeNodes::slot_count || to >= WholeNodes::slot_count) return SPUR_E_INVALID;
        cycle_cast(cycle).copy(from, to);
        return SPUR_OK;
    },
    .take = [](spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement,
               std::uint32_t) { cycle_cast(cycle).take(slot, spur_shares(placement)); },
    .give = [](spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement,
               std::uint32_t) { cycle_cast(cycle).give(slot, spur_shares(placement)); },
    .pick = [](spur_select_cycle* cycle, const spur_pick* pick,
               spur_placement* out) { return cycle_cast(cycle).pick(*pick, out); },
    .screen = nullptr,
    .idle_nodes = nullptr,
    .explain = nullptr,
};

}  // namespace

const spur_select_ops& reference_select_ops() { return ops; }
spur_selector reference_selector() { return {sizeof(spur_selector), 0, &ops, nullptr}; }

}  // namespace spur::check
