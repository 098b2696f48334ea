// state/raft, the boundary. What it does is in node.hpp.
#include <spur/plugin/state.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "key.hpp"
#include "node.hpp"
#include "settings.hpp"

namespace {

using namespace spur::raftlog;
using spur::plugin::as_plugin;
using spur::plugin::fail;
using spur::plugin::guard;
using spur::plugin::Stop;
using spur::plugin::view;

Node& node_of(spur_plugin* self) { return spur::plugin::self_cast<Node>(self); }

spur_status answer(const Outcome<void>& result, spur_error* err) {
    return result ? SPUR_OK : fail(err, result.error().code, result.error().text);
}
spur_status answer(const Outcome<spur_status>& result, spur_error* err) {
    return result ? *result : fail(err, result.error().code, result.error().text);
}

spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    return guard(err, [&] {
        auto settings = load_settings(host, config);
        if (!settings) return fail(err, settings.error().code, settings.error().text);
        // Several prove themselves to each other: better told by a trial of the configuration than by the first start.
        if (settings->hosts.size() > 1)
            if (const auto key = load_key(settings->key_file, false); !key)
                return fail(err, key.error().code, key.error().text);
        *out = as_plugin(new Node(std::move(*settings), host));
        return SPUR_OK;
    });
}

void destroy(spur_plugin* self) { delete &node_of(self); }

spur_status open(spur_plugin* self, const spur_state_listener* listener, const spur_stop* stop, spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).open(listener, Stop{stop}), err); });
}

spur_status propose(spur_plugin* self, const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket,
                    spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).propose(entries, count, ticket), err); });
}

spur_status status(spur_plugin* self, spur_state_status* out, spur_error* err) {
    return guard(err, [&] {
        spur::plugin::put(out, node_of(self).status());
        return SPUR_OK;
    });
}

spur_status snapshot(spur_plugin* self, std::uint64_t index, const spur_source* source, const spur_stop* stop,
                     spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).snapshot(index, source, Stop{stop}), err); });
}

spur_status barrier(spur_plugin* self, std::uint64_t ticket, spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).barrier(ticket), err); });
}

spur_status members(spur_plugin* self, void* context, void (*each)(void*, const spur_state_member*), spur_error* err) {
    return guard(err, [&] {
        node_of(self).members([&](const spur_state_member& member) { each(context, &member); });
        return SPUR_OK;
    });
}

spur_status add_member(spur_plugin* self, spur_str address, std::uint64_t ticket, spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).add_member(view(address), ticket), err); });
}

spur_status remove_member(spur_plugin* self, spur_str address, std::uint64_t ticket, spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).remove_member(view(address), ticket), err); });
}

spur_status transfer(spur_plugin* self, spur_str address, std::uint64_t ticket, spur_error* err) {
    return guard(err, [&] { return answer(node_of(self).transfer(view(address), ticket), err); });
}

constexpr spur_state_ops ops{
    .size = sizeof(spur_state_ops),
    .features = 0,
    .open = open,
    .propose = propose,
    .status = status,
    .snapshot = snapshot,
    .barrier = barrier,
    .members = members,
    .add_member = add_member,
    .remove_member = remove_member,
    .transfer = transfer,
};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_STATE_IFACE ? &ops : nullptr; }

const char* const interfaces[] = {SPUR_STATE_IFACE, nullptr};

const spur_plugin_desc desc{
    .size = sizeof(spur_plugin_desc),
    .reserved = 0,
    .type = "state/raft",
    .version = spur::program_version,
    .vendor = "Spur",
    .summary =
        "Replicates the cluster's state among 1, 3 or 5 controllers with Raft; durable before it is acknowledged",
    .options = options.data(),
    .option_count = options.size(),
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

}  // namespace

SPUR_PLUGIN(&desc)
