// A selector with one fault, chosen when it is compiled; the rest of it is the template's.
#include "plugin-api/templates/cpp/select/whole_nodes.cpp"

#include <cstdlib>

namespace {

using namespace spur::plugin;

struct Selector {
    Selector(const spur_host*, const spur_config*) {}
};
struct Cycle : WholeNodes {
    explicit Cycle(const spur_cluster_view& view) : WholeNodes(view), view(view) {}
    const spur_cluster_view& view;
    unsigned picks = 0;
};
Cycle& cycle_cast(spur_select_cycle* cycle) { return *reinterpret_cast<Cycle*>(cycle); }

spur_status begin(spur_plugin*, const spur_cluster_view* view, spur_select_cycle** out, spur_error* err) {
    return guard(err, [&] { return *out = reinterpret_cast<spur_select_cycle*>(new Cycle(*view)), SPUR_OK; });
}
void end(spur_plugin*, spur_select_cycle* cycle) { delete &cycle_cast(cycle); }
std::uint32_t slots(spur_select_cycle*) { return WholeNodes::slot_count; }
spur_status copy(spur_select_cycle* cycle, std::uint32_t from, std::uint32_t to) {
#ifndef FAULT_SELECT_COPIES_NOTHING
    cycle_cast(cycle).copy(from, to);
#else
    (void)cycle, (void)from, (void)to;
#endif
    return SPUR_OK;
}
void take(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement, std::uint32_t) {
#ifndef FAULT_SELECT_FORGETS_WHAT_IS_TAKEN
    cycle_cast(cycle).take(slot, spur_shares(placement));
#else
    (void)cycle, (void)slot, (void)placement;
#endif
}
void give(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement, std::uint32_t) {
    auto shares = spur_shares(placement);
#ifdef FAULT_SELECT_GIVES_HALF
    shares.count = (shares.count + 1) / 2 - (shares.count == 1);
#endif
    cycle_cast(cycle).give(slot, shares);
}

spur_status pick(spur_select_cycle* cycle, const spur_pick* question, spur_placement* out) {
    auto asked = *question;
#ifdef FAULT_SELECT_HANDS_OUT_BUSY_NODES
    asked.flags |= SPUR_PICK_EMPTY;
#endif
#ifdef FAULT_SELECT_ALLOCATES
    static void* volatile kept;
    kept = std::malloc(1);
    std::free(kept);
#endif
    auto verdict = cycle_cast(cycle).pick(asked, out);
#ifdef FAULT_SELECT_GIVES_ONE_NODE_TOO_FEW
    if (verdict == SPUR_FITS && out != nullptr && out->share_count > 1) --out->share_count;
#endif
#ifdef FAULT_SELECT_SAYS_NEVER_TOO_SOON
    if (verdict == SPUR_NOT_NOW) verdict = SPUR_NEVER;
#endif
#ifdef FAULT_SELECT_IGNORES_BUFFERS
    if (verdict == SPUR_NO_ROOM) verdict = SPUR_FITS;
#endif
    return verdict;
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
                                .type = FAULT_TYPE,
                                .version = "1.0.0",
                                .vendor = "Spur's tests",
                                .summary = "a selector with a fault",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Selector>,
                                .destroy = destroy<Selector>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
