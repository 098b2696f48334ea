// net/none, the whole of it: a member's addresses are the endpoints it was given.
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.hpp>

#include <map>
#include <mutex>
#include <string>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
    std::mutex mutex;
    std::map<std::string, std::string, std::less<>> addresses;  // by name, a line each; "" is this member
    std::uint64_t generation{};
};

std::string lines_of(const spur_net_member& member) {
    std::string lines;
    for (const auto& endpoint : Records<spur_str>{member.endpoints})
        lines += (lines.empty() ? "" : "\n") + std::string{view(endpoint)};
    return lines;
}

// Nothing is set up, so an invitation says nothing, and joining and adopting are the same.
spur_status invite(spur_plugin*, const spur_net_member*, std::int64_t, const spur_sink* invitation, const spur_stop*,
                   spur_error*) {
    return push(invitation, "none");
}
spur_status adopt(spur_plugin* self, const spur_net_member* me, const spur_net_listener* listener, const spur_stop*,
                  spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        {
            const std::lock_guard lock{instance.mutex};
            instance.addresses[""] = lines_of(*me);
        }
        listener->token(listener, str(""));
        return SPUR_OK;
    });
}
spur_status join(spur_plugin* self, const spur_net_member* me, spur_str, const spur_net_listener* listener,
                 const spur_stop* stop, spur_error* err) {
    return adopt(self, me, listener, stop, err);
}
spur_status leave(spur_plugin* self, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        instance.addresses.clear();
        instance.generation = 0;
        return SPUR_OK;
    });
}
spur_status change(spur_plugin* self, std::uint64_t generation, std::uint32_t complete, spur_span changed,
                   spur_span gone, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        if (generation <= instance.generation) return SPUR_OK;
        auto& known = instance.addresses;
        if (complete != 0) std::erase_if(known, [](const auto& entry) { return !entry.first.empty(); });
        for (const auto& member : Records<spur_net_member>{changed})
            known[std::string{view(member.name)}] = lines_of(member);
        for (const auto& name : Records<spur_str>{gone}) known.erase(std::string{view(name)});
        instance.generation = generation;
        return SPUR_OK;
    });
}
spur_status addresses(spur_plugin* self, spur_str name, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        const auto found = instance.addresses.find(view(name));
        if (found == instance.addresses.end())
            return fail(err, SPUR_E_NOT_FOUND, "there is no member \"" + std::string{view(name)} + "\"");
        return push(sink, found->second);
    });
}
spur_status status(spur_plugin* self, spur_str, spur_net_status* out, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const std::lock_guard lock{instance.mutex};
        spur_net_status answer{};
        answer.state = SPUR_NET_UNKNOWN;  // nobody is looked after
        answer.generation = instance.generation;
        answer.peers = static_cast<std::uint32_t>(instance.addresses.size() - instance.addresses.count(""));
        put(out, answer);
        return SPUR_OK;
    });
}

constexpr spur_net_ops ops{.size = sizeof(spur_net_ops),
                           .reserved = 0,
                           .invite = invite,
                           .join = join,
                           .adopt = adopt,
                           .leave = leave,
                           .change = change,
                           .addresses = addresses,
                           .status = status};

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
