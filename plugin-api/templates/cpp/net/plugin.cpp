// @TYPE@, all of it: there is no more to it than this.
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.hpp>

#include <mutex>
#include <string>

namespace {

using namespace spur::plugin;

struct Net {
    Net(const spur_host*, const spur_config* config) : suffix(option(config, "suffix").text) {}

    std::string address_of(const spur_net_member& member) const {
        return std::string(suffix.empty() ? view(member.endpoint) : view(member.name)) + suffix;
    }

    const std::string suffix;
    std::mutex lock;
    std::string mine;  // "" until join()
};

spur_status join(spur_plugin* self, const spur_net_member* me, const spur_sink* token, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        const std::scoped_lock hold(net.lock);
        net.mine = net.address_of(*me);
        return push(token, "");
    });
}

spur_status leave(spur_plugin* self, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        const std::scoped_lock hold(net.lock);
        net.mine.clear();
        return SPUR_OK;
    });
}

spur_status peers(spur_plugin*, spur_span, spur_error*) { return SPUR_OK; }

spur_status address(spur_plugin* self, const spur_net_member* member, const spur_sink* out, spur_error* err) {
    return guard(err, [&] {
        auto& net = self_cast<Net>(self);
        if (member != nullptr) return push(out, net.address_of(*member));
        const std::scoped_lock hold(net.lock);
        if (net.mine.empty()) return fail(err, SPUR_E_INVALID, "this member has not joined yet, so it has no address");
        return push(out, net.mine);
    });
}

constexpr spur_net_ops ops{
    .size = sizeof(spur_net_ops), .reserved = 0, .join = join, .leave = leave, .peers = peers, .address = address};

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
