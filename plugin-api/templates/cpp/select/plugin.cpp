// @TYPE@, the boundary. The policy itself is in whole_nodes.hpp.
#include "whole_nodes.hpp"

namespace {

using spur::plugin::guard;

struct Selector {
    Selector(const spur_host*, const spur_config*) {}
};
WholeNodes& cycle_cast(spur_select_cycle* cycle) { return *reinterpret_cast<WholeNodes*>(cycle); }

spur_status begin(spur_plugin*, const spur_cluster_view* view, spur_select_cycle** out, spur_error* err) {
    return guard(err, [&] {
        *out = reinterpret_cast<spur_select_cycle*>(new WholeNodes(*view));
        return SPUR_OK;
    });
}
void end(spur_plugin*, spur_select_cycle* cycle) { delete &cycle_cast(cycle); }

std::uint32_t slots(spur_select_cycle*) { return WholeNodes::slot_count; }

spur_status copy(spur_select_cycle* cycle, std::uint32_t from, std::uint32_t to) {
    if (from >= WholeNodes::slot_count || to >= WholeNodes::slot_count) return SPUR_E_INVALID;
    cycle_cast(cycle).copy(from, to);
    return SPUR_OK;
}
void take(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement, std::uint32_t) {
    cycle_cast(cycle).take(slot, spur_shares(placement));
}
void give(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement, std::uint32_t) {
    cycle_cast(cycle).give(slot, spur_shares(placement));
}
spur_status pick(spur_select_cycle* cycle, const spur_pick* pick, spur_placement* out) {
    return cycle_cast(cycle).pick(*pick, out);
}

constexpr spur_select_ops ops{.size = sizeof(spur_select_ops),
                              .reserved = 0,
                              .understands = WholeNodes::understands,
                              .begin = begin,
                              .end = end,
                              .slots = slots,
                              .copy = copy,
                              .take = take,
                              .give = give,
                              .pick = pick,
                              .screen = nullptr,
                              .idle_nodes = nullptr,
                              .explain = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_SELECT_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_SELECT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "whole idle nodes, light ones first",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = spur::plugin::create<Selector>,
                                .destroy = spur::plugin::destroy<Selector>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
