// select/gpu, the boundary. The choosing itself begins in cycle.hpp.
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "cycle.hpp"

struct spur_select_cycle {
    spur::select_gpu::Cycle cycle;
};

namespace {

using namespace spur::plugin;
using spur::select_gpu::Options;

Options options_of(const spur_config* config) {
    return {.first_fit = std::string_view{option(config, "gpu_choice").text} == "first_fit",
            .rules = {.memory_unsaid_is_all = std::string_view{option(config, "memory_unsaid").text} == "node"}};
}

struct Instance {
    Instance(const spur_host*, const spur_config* config) : only{spur::select_gpu::Cycle{options_of(config)}} {}
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
uint32_t slots(spur_select_cycle* cycle) { return cycle->cycle.slots(); }
spur_status copy(spur_select_cycle* cycle, uint32_t from, uint32_t to) {
    return cycle->cycle.copy(from, to) ? SPUR_OK : SPUR_E_INVALID;
}
void take(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t job_flags) {
    cycle->cycle.take(slot, spur_shares(placement), job_flags);
}
void give(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t job_flags) {
    cycle->cycle.give(slot, spur_shares(placement), job_flags);
}
spur_status pick(spur_select_cycle* cycle, const spur_pick* pick, spur_placement* out) {
    return guard(nullptr, [&] { return cycle->cycle.pick(*pick, out); });
}
void screen(spur_select_cycle* cycle, uint32_t slot, const uint32_t* jobs, uint32_t count, spur_status* verdicts) {
    cycle->cycle.screen(slot, jobs, count, verdicts);
}
void idle_nodes(spur_select_cycle* cycle, uint32_t slot, uint64_t* words) { cycle->cycle.idle_nodes(slot, words); }
spur_status explain(spur_select_cycle* cycle, const spur_pick* pick, const spur_sink* text) {
    return guard(nullptr, [&] { return push(text, cycle->cycle.explain(*pick)); });
}

constexpr std::uint64_t wishes = SPUR_WISH_CONTIGUOUS | SPUR_WISH_SWITCHES | SPUR_WISH_ALTERNATIVES | SPUR_WISH_QUOTAS |
                                 SPUR_WISH_GRES | SPUR_WISH_GRES_PER_SOCKET | SPUR_WISH_TASKS_PER_SOCKET |
                                 SPUR_WISH_TASKS_PER_CORE | SPUR_WISH_TASKS_PER_GPU | SPUR_WISH_CPUS_PER_GPU |
                                 SPUR_WISH_MEM_PER_GPU;

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
                              .screen = screen,
                              .idle_nodes = idle_nodes,
                              .explain = explain};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_SELECT_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"gpu_choice", SPUR_OPTION_CHOICE, 0, "topology",
     "devices by links and fragmentation, or the first ones that are free", "topology|first_fit", 0, 0},
    {"memory_unsaid", SPUR_OPTION_CHOICE, 0, "none",
     "what a job holds that asks for no memory and has no default: nothing, or all of each node", "none|node", 0, 0},
};

constexpr const char* interfaces[] = {SPUR_SELECT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "select/gpu",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Consumable cores, memory, GPUs and generic resources, by topology",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
