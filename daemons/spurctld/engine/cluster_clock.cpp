// How fast the cluster's time runs while it differs from the wall clock.
#include "daemons/spurctld/engine/cluster_clock.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

namespace spur::ctld {

namespace {

ClusterClock::Nanoseconds read_clock(clockid_t clock) {
    timespec moment{};
    clock_gettime(clock, &moment);
    return moment.tv_sec * ClusterClock::second + moment.tv_nsec;
}

}  // namespace

ClusterClock::Sources ClusterClock::machine() {
    return {[] { return read_clock(CLOCK_REALTIME); }, [] { return read_clock(CLOCK_BOOTTIME); }};
}

ClusterClock::ClusterClock(Sources sources, Log log)
    : sources_{std::move(sources)},
      log_{std::move(log)},
      time_{sources_.wall()},
      steady_{sources_.steady()},
      wall_{time_} {}

UnixSeconds ClusterClock::now() {
    const std::lock_guard lock{mutex_};
    return advance() / second;
}

void ClusterClock::not_before(UnixSeconds moment) {
    const std::lock_guard lock{mutex_};
    if (advance() >= moment * second) return;
    time_ = moment * second;
    if (const auto ahead = (time_ - wall_) / second; ahead > jump / second && !slewing_) {
        slewing_ = true;
        log_(fmt::format(
            "the cluster's time is {} s ahead of this machine's clock, from an earlier leader; it runs {} % "
            "slower until they agree",
            ahead, 100 / slew));
    }
}

std::int64_t ClusterClock::ahead_s() {
    const std::lock_guard lock{mutex_};
    return (advance() - wall_) / second;
}

// Small differences are NTP's work and are followed within its own pace; large ones are made up for slowly.
ClusterClock::Nanoseconds ClusterClock::advance() {
    const auto steady = sources_.steady();
    const auto wall = sources_.wall();
    const auto elapsed = std::max<Nanoseconds>(steady - steady_, 0);
    if (const auto leap = (wall - wall_) - elapsed; std::abs(leap) > jump)
        log_(fmt::format("this machine's clock was set {} by {} s; the cluster's time does not jump with it",
                         leap > 0 ? "forward" : "back", std::abs(leap) / second));
    steady_ = steady;
    wall_ = wall;
    const auto behind = wall - (time_ + elapsed);  // how far the wall clock is ahead of us
    if (std::abs(behind) <= jump) {
        if (slewing_) log_("the cluster's time and this machine's clock agree again");
        slewing_ = false;
    } else {
        slewing_ = true;
    }
    time_ += elapsed + std::clamp(behind, -elapsed / slew, elapsed / slew);
    return time_;
}

}  // namespace spur::ctld
