// Plugins of other axes, good for being there.
#include <spur/plugin/auth.h>
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/state.h>
#include <spur/plugin/plugin.hpp>

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config* config) : level{option(config, "level").integer} {}
    std::int64_t level;
};

#ifdef STUB_GPU
#define STUB_IFACE SPUR_GPU_IFACE
spur_status scan(spur_plugin*, const spur_gpu_sink*, const spur_stop*, spur_error*) { return SPUR_OK; }
spur_status bind(spur_plugin*, const spur_gpu_binding*, const spur_gpu_env_sink*, spur_error*) { return SPUR_OK; }
constexpr spur_gpu_ops ops{.size = sizeof(spur_gpu_ops), .reserved = 0, .scan = scan, .bind = bind};
#elif defined(STUB_AUTH)  // accepts everything, and never says whose it is
#define STUB_IFACE SPUR_AUTH_IFACE
constexpr spur_auth_ops ops{
    .size = sizeof(spur_auth_ops),
    .features = SPUR_AUTH_ANSWERS,
    .make = [](spur_plugin*, const spur_auth_request*, const spur_sink* sink, const spur_stop*,
               spur_error*) -> spur_status { return push(sink, "anything"); },
    .verify = [](spur_plugin*, const spur_auth_request*, spur_str, spur_identity*, const spur_claims*, const spur_stop*,
                 spur_error*) -> spur_status { return SPUR_OK; },
    .make_answer = [](spur_plugin*, const spur_auth_reply*, const spur_sink* sink, const spur_stop*,
                      spur_error*) -> spur_status { return push(sink, "anything"); },
    .verify_answer = [](spur_plugin*, const spur_auth_reply*, spur_str, spur_identity*, const spur_stop*,
                        spur_error*) -> spur_status { return SPUR_OK; },
    .issue = nullptr,
    .challenge = nullptr,
    .respond = nullptr,
};
#else
#define STUB_IFACE SPUR_STATE_IFACE
constexpr spur_state_ops ops{
    .size = sizeof(spur_state_ops),
    .features = 0,
    .open = [](spur_plugin*, const spur_state_listener*, const spur_stop*,
               spur_error*) -> spur_status { return SPUR_OK; },
    .propose = [](spur_plugin*, const spur_state_entry*, std::uint32_t, std::uint64_t, spur_error*) -> spur_status {
        return SPUR_OK;
    },
    .status = [](spur_plugin*, spur_state_status*, spur_error*) -> spur_status { return SPUR_OK; },
    .snapshot = [](spur_plugin*, std::uint64_t, const spur_source*, const spur_stop*,
                   spur_error*) -> spur_status { return SPUR_OK; },
};
#endif

constexpr spur_option options[] = {{"level", SPUR_OPTION_INT, 0, "1", "a number", nullptr, 0, 0}};
constexpr const char* interfaces[] = {STUB_IFACE, nullptr};
constexpr spur_plugin_desc desc{
    sizeof(spur_plugin_desc),
    0,
    STUB_TYPE,
    "1.0",
    "tests",
    "good for being there",
    options,
    1,
    sizeof(spur_option),
    interfaces,
    create<Instance>,
    destroy<Instance>,
    [](spur_plugin*, const char* id) -> const void* { return std::string_view{id} == STUB_IFACE ? &ops : nullptr; }};

}  // namespace

SPUR_PLUGIN(&desc)
