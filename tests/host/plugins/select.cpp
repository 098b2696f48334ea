// select/stub: everything fits.
#include <spur/plugin/select.h>
#include <spur/plugin/plugin.hpp>

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

int the_cycle;

constexpr spur_select_ops ops{
    .size = sizeof(spur_select_ops),
    .reserved = 0,
    .understands = 0,
    .begin = [](spur_plugin*, const spur_cluster_view*, spur_select_cycle** out, spur_error*) -> spur_status {
        *out = reinterpret_cast<spur_select_cycle*>(&the_cycle);
        return SPUR_OK;
    },
    .end = [](spur_plugin*, spur_select_cycle*) {},
    .slots = [](spur_select_cycle*) -> std::uint32_t { return 4; },
    .copy = [](spur_select_cycle*, std::uint32_t, std::uint32_t) -> spur_status { return SPUR_OK; },
    .take = [](spur_select_cycle*, std::uint32_t, const spur_placement*, std::uint32_t) {},
    .give = [](spur_select_cycle*, std::uint32_t, const spur_placement*, std::uint32_t) {},
    .pick = [](spur_select_cycle*, const spur_pick*, spur_placement*) -> spur_status { return SPUR_FITS; },
    .screen = nullptr,
    .idle_nodes = nullptr,
    .explain = nullptr,
};

constexpr const char* interfaces[] = {SPUR_SELECT_IFACE, nullptr};
constexpr spur_plugin_desc desc{sizeof(spur_plugin_desc),
                                0,
                                "select/stub",
                                "1.0",
                                "tests",
                                "all fits",
                                nullptr,
                                0,
                                sizeof(spur_option),
                                interfaces,
                                create<Instance>,
                                destroy<Instance>,
                                [](spur_plugin*, const char* id) -> const void* {
                                    return std::string_view{id} == SPUR_SELECT_IFACE ? &ops : nullptr;
                                }};

}  // namespace

SPUR_PLUGIN(&desc)
