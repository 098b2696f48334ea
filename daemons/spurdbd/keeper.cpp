// The schedule.
#include "daemons/spurdbd/keeper.hpp"

#include <chrono>
#include <ctime>

#include "daemons/common/log/log.hpp"

namespace spur::dbd {
namespace {

constexpr std::chrono::seconds between{300};
constexpr UnixSeconds between_purges = hour_s;

}  // namespace

Keeper::Keeper(Database& database, RollUp& roll_up, Retention retention)
    : database_{database}, roll_up_{roll_up}, retention_{std::move(retention)} {
    thread_ = std::jthread{[this](const std::stop_token& stop) { loop(stop); }};
}

void Keeper::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

void Keeper::loop(const std::stop_token& stop) {
    UnixSeconds purged = 0;
    while (!stop.stop_requested()) {
        const auto now = static_cast<UnixSeconds>(std::time(nullptr));
        if (const auto done = roll_up_.run(now); !done && !stop.stop_requested())
            log::warning("usage cannot be rolled up now: {}", done.error().text);
        if (now - purged >= between_purges && !retention_.keep_hours.empty()) {
            purged = now;
            purge(now);
        }
        std::unique_lock lock{mutex_};
        wake_.wait_for(lock, stop, between, [] { return false; });
    }
}

void Keeper::purge(UnixSeconds now) {
    for (const auto& cluster : roll_up_.clusters()) {
        const auto done = purge_old(database_, roll_up_, cluster, retention_, now);
        if (!done) {
            log::warning("history of {} cannot be purged now: {}", cluster, done.error().text);
            continue;
        }
        if (done->rows() != 0) log::info("{} rows of {} were archived and purged", done->rows(), cluster);
    }
}

}  // namespace spur::dbd
