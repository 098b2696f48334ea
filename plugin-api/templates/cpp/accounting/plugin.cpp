// @TYPE@, the boundary. The journal itself is in journal.hpp.
#include "journal.hpp"

#include <spur/plugin/plugin.hpp>

#include <system_error>

namespace {

using namespace spur::plugin;

std::string path_for(const spur_host* host, const spur_config* config) {
    const std::string configured = option(config, "file").text;
    if (!configured.empty()) return configured;
    const auto state_dir = host_fact(host, "state_dir");
    if (state_dir.empty()) throw Failure(SPUR_E_INVALID, "no place for the journal: set the option \"file\"");
    return state_dir + "/accounting.journal";
}

struct Accounting {
    Accounting(const spur_host* host, const spur_config* config) try : journal(path_for(host, config)) {
    } catch (const std::system_error& error) {
        throw Failure(SPUR_E_IO, error.what());
    }
    Journal journal;
};

spur_status schema(spur_plugin*, spur_schema* out, const spur_stop*, spur_error*) {  // lines have no schema
    put(out, {sizeof(spur_schema), SPUR_SCHEMA_CURRENT, 1, 1});
    return SPUR_OK;
}
spur_status migrate(spur_plugin*, const spur_progress*, const spur_stop*, spur_error*) { return SPUR_OK; }

spur_status store(spur_plugin* self, const spur_batch* batch, const spur_store_report*, const spur_stop*,
                  spur_error* err) {
    return guard(err, [&] {
        try {
            self_cast<Accounting>(self).journal.store(*batch);
        } catch (const std::system_error& error) {
            return fail(err, SPUR_E_IO, error.what());
        }
        return SPUR_OK;
    });
}

spur_status stored_up_to(spur_plugin* self, spur_str cluster, spur_str stream, std::uint64_t from, std::uint64_t* up_to,
                         const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        *up_to = self_cast<Accounting>(self).journal.stored_up_to(view(cluster), view(stream), from);
        return SPUR_OK;
    });
}

spur_status query_rows(spur_plugin*, const spur_query*, const spur_row_sink*, const spur_stop*, spur_error*) {
    return SPUR_OK;
}

constexpr spur_accounting_ops ops{.size = sizeof(spur_accounting_ops),
                                  .features = SPUR_ACCOUNTING_DISCARDS,
                                  .schema = schema,
                                  .migrate = migrate,
                                  .store = store,
                                  .stored_up_to = stored_up_to,
                                  .query = query_rows,
                                  .purge = nullptr};

const void* query(spur_plugin*, const char* id) {
    return std::string_view(id) == SPUR_ACCOUNTING_IFACE ? &ops : nullptr;
}

constexpr spur_option options[] = {
    {"file", SPUR_OPTION_PATH, 0, nullptr, "the journal; by default accounting.journal in the state directory", nullptr,
     0, 0},
};
constexpr const char* interfaces[] = {SPUR_ACCOUNTING_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "appends every row to a journal of text lines",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Accounting>,
                                .destroy = destroy<Accounting>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
