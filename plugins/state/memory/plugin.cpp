// state/memory, the boundary. The log itself is in store.hpp.
#include <spur/plugin/state.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "store.hpp"

namespace {

using spur::memory::Log;
using spur::plugin::fail;
using spur::plugin::guard;
using spur::plugin::option;

Log& log_of(spur_plugin* self) { return spur::plugin::self_cast<Log>(self); }

template <class Call>
spur_status answer(spur_error* err, Call&& call) {
    return guard(err, [&] {
        std::string why;
        const spur_status status = call(why);
        return status < 0 ? fail(err, status, why) : status;
    });
}

spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    return guard(err, [&] {
        spur::memory::Settings settings;
        settings.store = option(config, "store").text;
        settings.latency = std::chrono::microseconds(option(config, "latency_us").integer);
        settings.snapshot_threshold = static_cast<std::uint64_t>(option(config, "snapshot_threshold").integer);
        settings.self = spur::plugin::host_fact(host, "listen_addr", "127.0.0.1:6817");
        *out = spur::plugin::as_plugin(new Log(std::move(settings)));
        return SPUR_OK;
    });
}

void destroy(spur_plugin* self) { delete &log_of(self); }

spur_status open(spur_plugin* self, const spur_state_listener* listener, const spur_stop*, spur_error* err) {
    return answer(err, [&](std::string& why) { return log_of(self).open(listener, why); });
}

spur_status propose(spur_plugin* self, const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket,
                    spur_error* err) {
    return answer(err, [&](std::string& why) { return log_of(self).propose(entries, count, ticket, why); });
}

spur_status status(spur_plugin* self, spur_state_status* out, spur_error* err) {
    return guard(err, [&] {
        spur::plugin::put(out, log_of(self).status());
        return SPUR_OK;
    });
}

spur_status snapshot(spur_plugin* self, std::uint64_t index, const spur_source* source, const spur_stop*,
                     spur_error* err) {
    return answer(err, [&](std::string& why) { return log_of(self).snapshot(index, source, why); });
}

spur_status barrier(spur_plugin* self, std::uint64_t ticket, spur_error* err) {
    return answer(err, [&](std::string& why) { return log_of(self).barrier(ticket, why); });
}

spur_status members(spur_plugin* self, void* context, void (*each)(void*, const spur_state_member*), spur_error* err) {
    return guard(err, [&] {
        const spur_state_member member{
            sizeof(spur_state_member), SPUR_STATE_LEADER, 1, 1, 0, spur::plugin::str(log_of(self).self())};
        each(context, &member);
        return SPUR_OK;
    });
}

constexpr spur_state_ops ops{
    .size = sizeof(spur_state_ops),
    .features = SPUR_STATE_VOLATILE,
    .open = open,
    .propose = propose,
    .status = status,
    .snapshot = snapshot,
    .barrier = barrier,
    .members = members,
    .add_member = nullptr,
    .remove_member = nullptr,
    .transfer = nullptr,
};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_STATE_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {.key = "store",
     .kind = SPUR_OPTION_STRING,
     .fallback = nullptr,
     .help = "Name of a store that keeps its content while the process lives; without one it goes with the instance"},
    {.key = "latency_us",
     .kind = SPUR_OPTION_INT,
     .fallback = "0",
     .help = "How long a commit takes, to play a disk",
     .minimum = 0,
     .maximum = 10'000'000},
    {.key = "snapshot_threshold",
     .kind = SPUR_OPTION_INT,
     .fallback = "20000",
     .help = "Entries after which a snapshot is asked for",
     .minimum = 10,
     .maximum = 1'000'000'000},
};

const char* const interfaces[] = {SPUR_STATE_IFACE, nullptr};

const spur_plugin_desc desc{
    .size = sizeof(spur_plugin_desc),
    .reserved = 0,
    .type = "state/memory",
    .version = spur::program_version,
    .vendor = "Spur",
    .summary = "Keeps the state in memory only: for tests and simulations, nothing survives the process",
    .options = options,
    .option_count = std::size(options),
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

}  // namespace

SPUR_PLUGIN(&desc)
