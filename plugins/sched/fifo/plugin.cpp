// sched/fifo, the boundary. The policy itself is in fifo.hpp.
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "fifo.hpp"

namespace {

using namespace spur::plugin;
using spur::fifo::Fifo;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
    Fifo fifo;
};

spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                 const spur_plan_sink* sink, spur_error* err) {
    return guard(err, [&] { return self_cast<Instance>(self).fifo.plan(*view, *select, *sink, err); });
}

constexpr spur_sched_ops ops{
    .size = sizeof(spur_sched_ops),
    .reserved = 0,
    // Without components of heterogeneous jobs: it cannot start them together.
    .understands = SPUR_WISH_TIME_MIN | SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
    .plan = plan};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_SCHED_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_SCHED_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "sched/fifo",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Strict priority order, nothing overtakes",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
