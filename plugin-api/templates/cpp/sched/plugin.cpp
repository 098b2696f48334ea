// @TYPE@, the boundary. The policy itself is in first_come.hpp.
#include "first_come.hpp"

namespace {

using spur::plugin::guard;

struct Planner {
    Planner(const spur_host*, const spur_config*) {}
};

spur_status plan(spur_plugin*, const spur_cluster_view* view, const spur_selector* select, const spur_plan_sink* sink,
                 spur_error* err) {
    return guard(err, [&] { return FirstCome(*view, *select, *sink).plan(err); });
}

// Jobs that ask for more, components of heterogeneous jobs for one, are not shown to it: they wait and say for whom.
constexpr spur_sched_ops ops{
    .size = sizeof(spur_sched_ops),
    .reserved = 0,
    .understands = SPUR_WISH_TIME_MIN | SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
    .plan = plan};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_SCHED_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_SCHED_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "first come, first served, a partition at a time",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = spur::plugin::create<Planner>,
                                .destroy = spur::plugin::destroy<Planner>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
