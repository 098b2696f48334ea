// select/linear, the boundary. The choosing itself is in linear.hpp.
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "linear.hpp"

struct spur_select_cycle {
    spur::linear::Cycle cycle;
};

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
    spur_select_cycle only;  // one cycle at a time; its memory is reused
};

spur_status begin(spur_plugin* self, const spur_cluster_view* view, spur_select_cycle** out, spur_error* err) {
    return guard(err, [&] {
        auto& cycle = self_cast<Instance>(self).only;
        cycle.cycle.begin(*view);
        *out = &cycle;
        return SPUR_OK;
    });
}
void end(spur_plugin*, spur_select_cycle*) {}
uint32_t slots(spur_select_cycle*) { return spur::linear::Cycle::slot_count; }
spur_status copy(spur_select_cycle* cycle, uint32_t from, uint32_t to) {
    return guard(nullptr, [&] {
        cycle->cycle.copy(from, to);
        return SPUR_OK;
    });
}
// Suspended jobs keep nobody out.
void take(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t flags) {
    if ((flags & SPUR_JOB_SUSPENDED) == 0) cycle->cycle.take(slot, spur_shares(placement), 1);
}
void give(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t flags) {
    if ((flags & SPUR_JOB_SUSPENDED) == 0) cycle->cycle.take(slot, spur_shares(placement), -1);
}
spur_status pick(spur_select_cycle* cycle, const spur_pick* pick, spur_placement* out) {
    return guard(nullptr, [&] { return cycle->cycle.pick(*pick, out); });
}
void idle_nodes(spur_select_cycle* cycle, uint32_t slot, uint64_t* words) { cycle->cycle.idle_nodes(slot, words); }

constexpr std::uint64_t wishes = SPUR_WISH_CONTIGUOUS | SPUR_WISH_ALTERNATIVES | SPUR_WISH_QUOTAS | SPUR_WISH_GRES |
                                 SPUR_WISH_GRES_PER_SOCKET | SPUR_WISH_TASKS_PER_SOCKET | SPUR_WISH_TASKS_PER_CORE;

constexpr spur_select_ops ops{.size = sizeof(spur_select_ops),
                              .reserved = 0,
                              .understands = wishes,
                              .begin = begin,
                              .end = end,
                              .slots = slots,
                              .copy = copy,
                              .take = take,
                              .give = give,
                              .pick = pick,
                              .screen = nullptr,
                              .idle_nodes = idle_nodes,
                              .explain = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_SELECT_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_SELECT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "select/linear",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Whole nodes, one job each",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
