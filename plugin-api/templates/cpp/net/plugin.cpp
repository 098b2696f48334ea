// @TYPE@, all of it: there is no more to it than this.
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.hpp>

#include <map>
#include <mutex>
#include <string>

namespace {

using namespace spur::plugin;

struct Net {
    Net(const spur_host*, const spur_config* config) : suffix(option(config, "suffix").text) {}

    std::string address_of(const spur_net_member& member) const {
        const bool named = !suffix.empty() || member.endpoints.count == 0;
        return std::string(view(named ? member.name : *SPUR_AT(spur_str, member.endpoints, 0))) + suffix;
    }

    const std::string suffix;
    std::mutex lock;
    std::map<std::string, std::string> known;  // member: address; "" is ourselves
    std::uint64_t generation = 0;
};

// Nothing is set up outside this process, so taking over and joining are the same.
spur_status adopt(spur_plugin* self, const spur_net_member* me, const spur_net_listener* listener, const spur_stop*,
                  spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        {
            const std::scoped_lock hold(net.lock);
            net.known[""] = net.address_of(*me);
        }
        listener->token(listener, str(""));  // others need nothing to talk to us
        return SPUR_OK;
    });
}

spur_status join(spur_plugin* self, const spur_net_member* me, spur_str, const spur_net_listener* listener,
                 const spur_stop* stop, spur_error* err) {
    return adopt(self, me, listener, stop, err);
}

spur_status leave(spur_plugin* self, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        const std::scoped_lock hold(net.lock);
        net.known.clear();
        net.generation = 0;
        return SPUR_OK;
    });
}

spur_status change(spur_plugin* self, std::uint64_t generation, std::uint32_t complete, spur_span changed,
                   spur_span gone, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        const std::scoped_lock hold(net.lock);
        if (generation <= net.generation) return SPUR_OK;
        if (complete != 0) std::erase_if(net.known, [](const auto& entry) { return !entry.first.empty(); });
        for (const auto& member : Records<spur_net_member>(changed))
            net.known[std::string(view(member.name))] = net.address_of(member);
        for (const auto& name : Records<spur_str>(gone)) net.known.erase(std::string(view(name)));
        net.generation = generation;
        return SPUR_OK;
    });
}

spur_status addresses(spur_plugin* self, spur_str name, const spur_sink* out, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        const std::scoped_lock hold(net.lock);
        const auto found = net.known.find(std::string(view(name)));
        if (found == net.known.end())
            return fail(err, SPUR_E_NOT_FOUND, "there is no member \"" + std::string(view(name)) + "\"");
        return push(out, found->second);
    });
}

constexpr spur_net_ops ops{.size = sizeof(spur_net_ops),
                           .reserved = 0,
                           .invite = nullptr,
                           .join = join,
                           .adopt = adopt,
                           .leave = leave,
                           .change = change,
                           .addresses = addresses,
                           .status = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_NET_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"suffix", SPUR_OPTION_STRING, 0, "", "added to a member's name to get its address; empty: use its endpoint",
     nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_NET_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "members are reached under their name with a suffix",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Net>,
                                .destroy = destroy<Net>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
