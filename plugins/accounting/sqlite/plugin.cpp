// accounting/sqlite, the boundary. What storing means is in plugins/accounting/common, SQLite itself in sqlite.hpp.
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "plugins/accounting/common/boundary.hpp"
#include "plugins/accounting/sqlite/sqlite.hpp"

namespace {

using namespace spur::accounting;
using spur::plugin::host_fact;
using spur::plugin::option;

constexpr std::size_t readers = 4;

std::string path_of(const spur_host* host, const spur_config* config) {
    const std::string configured = option(config, "database").text;
    if (!configured.empty()) return configured;
    const auto state_dir = host_fact(host, "state_dir");
    if (state_dir.empty()) throw Failure(SPUR_E_INVALID, "no place for the database: set the option \"database\" to a path");
    return state_dir + "/accounting.db";
}

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : store{[path = path_of(host, config)](const Stop& stop) { return std::make_unique<Sqlite>(path, stop); }, readers} {}
    Store store;
};

constexpr spur_option options[] = {
    {"database", SPUR_OPTION_PATH, 0, nullptr, "the file; by default accounting.db in the state directory", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_ACCOUNTING_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "accounting/sqlite",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "history in one file, no server",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = spur::plugin::create<Instance>,
                                .destroy = spur::plugin::destroy<Instance>,
                                .query = Ops<Instance>::find};

}  // namespace

SPUR_PLUGIN(&desc)
