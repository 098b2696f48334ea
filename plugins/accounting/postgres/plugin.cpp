// accounting/postgres, the boundary. What storing means is in plugins/accounting/common, libpq in postgres.hpp.
#include <spur/plugin/plugin.hpp>

#include <chrono>
#include <mutex>

#include "core/version.hpp"
#include "plugins/accounting/common/boundary.hpp"
#include "plugins/accounting/postgres/postgres.hpp"

namespace {

using namespace spur::accounting;
using spur::plugin::option;
using Clock = std::chrono::steady_clock;

// Connects; after a failure not again for a while, longer each time: a server that has just come back is not to be buried.
class Connector {
public:
    explicit Connector(std::string address) : address_{std::move(address)} {}

    std::unique_ptr<Connection> operator()(const Stop& stop) {
        {
            const std::lock_guard lock{mutex_};
            if (Clock::now() < not_before_) throw Failure(SPUR_E_UNAVAILABLE, problem_);
        }
        try {
            auto connection = std::make_unique<Postgres>(address_, stop);
            const std::lock_guard lock{mutex_};
            pause_ = first_pause;
            return connection;
        } catch (const Failure& failure) {
            const std::lock_guard lock{mutex_};
            problem_ = failure.text;
            if (failure.code == SPUR_E_UNAVAILABLE) not_before_ = Clock::now() + pause_;
            pause_ = std::min(pause_ * 2, longest_pause);
            throw;
        }
    }

private:
    static constexpr std::chrono::milliseconds first_pause{100}, longest_pause{5000};
    const std::string address_;
    std::mutex mutex_;
    Clock::time_point not_before_{};
    std::chrono::milliseconds pause_{first_pause};
    std::string problem_;
};

struct Instance {
    Instance(const spur_host*, const spur_config* config)
        : store{[connector = std::make_shared<Connector>(option(config, "database").text)](const Stop& stop) {
                    return (*connector)(stop);
                },
                static_cast<std::size_t>(option(config, "connections").integer)} {}
    Store store;
};

constexpr spur_option options[] = {
    {"database", SPUR_OPTION_STRING, 0, "dbname=spur",
     "as libpq reads it: postgresql://user@host/name, or \"host=... dbname=...\"; passwords belong into PGPASSFILE", nullptr, 0, 0},
    {"connections", SPUR_OPTION_INT, 0, "4", "how many are kept open for queries, beside the one that writes", nullptr, 1, 100},
};
constexpr const char* interfaces[] = {SPUR_ACCOUNTING_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "accounting/postgres",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "history in a PostgreSQL database",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = spur::plugin::create<Instance>,
                                .destroy = spur::plugin::destroy<Instance>,
                                .query = Ops<Instance>::find};

}  // namespace

SPUR_PLUGIN(&desc)
