// net/none, the whole of it: a member's address is the endpoint it was given.
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.hpp>

#include <mutex>
#include <string>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
    std::mutex mutex;
    std::string own;  // this member's endpoint, once it has joined
};

spur_status join(spur_plugin* self, const spur_net_member* me, const spur_sink*, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        instance.own = view(me->endpoint);
        return SPUR_OK;
    });
}
spur_status leave(spur_plugin* self, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        instance.own.clear();
        return SPUR_OK;
    });
}
spur_status peers(spur_plugin*, spur_span, spur_error*) { return SPUR_OK; }
spur_status address(spur_plugin* self, const spur_net_member* member, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] {
        if (member != nullptr) return push(sink, view(member->endpoint));
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        return push(sink, instance.own);
    });
}

constexpr spur_net_ops ops{
    .size = sizeof(spur_net_ops), .reserved = 0, .join = join, .leave = leave, .peers = peers, .address = address};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_NET_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_NET_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "net/none",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "addresses as configured",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
