// accounting/none, the whole of it: takes everything, keeps nothing.
#include <spur/plugin/draft/accounting.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

spur_status schema(spur_plugin*, spur_schema* out, const spur_stop*, spur_error*) {
    put(out, {sizeof(spur_schema), SPUR_SCHEMA_CURRENT, 0, 0});
    return SPUR_OK;
}
spur_status migrate(spur_plugin*, const spur_progress*, const spur_stop*, spur_error*) { return SPUR_OK; }
spur_status store(spur_plugin*, const spur_batch*, const spur_store_report*, const spur_stop*, spur_error*) {
    return SPUR_OK;
}
// Nobody need send again what is thrown away.
spur_status stored_up_to(spur_plugin*, spur_str, spur_str, std::uint64_t, std::uint64_t* up_to, const spur_stop*,
                         spur_error*) {
    *up_to = UINT64_MAX;
    return SPUR_OK;
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
    return std::string_view{id} == SPUR_ACCOUNTING_IFACE ? &ops : nullptr;
}

constexpr const char* interfaces[] = {SPUR_ACCOUNTING_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "accounting/none",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "keeps no history",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
