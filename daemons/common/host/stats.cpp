// Ticks to nanoseconds.
#include "daemons/common/host/stats.hpp"

#include <time.h>

namespace spur::host {
namespace {

struct Moment {
    std::uint64_t ticks, ns;
    static Moment now() {
        timespec time{};
        ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
        return {ticks_now(),
                static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec)};
    }
};
const Moment process_start = Moment::now();

}  // namespace

double ns_per_tick() {
    constexpr std::uint64_t enough_ns = 1'000'000;  // over less the two clock reads themselves would show
    auto now = Moment::now();
    while (now.ns - process_start.ns < enough_ns) now = Moment::now();
    const auto ticks = now.ticks - process_start.ticks;
    return ticks == 0 ? 1.0 : static_cast<double>(now.ns - process_start.ns) / static_cast<double>(ticks);
}

OpStats OpCounter::read(std::string op) const {
    const double ns = ns_per_tick();
    const auto in_ns = [&](const std::atomic<std::uint64_t>& ticks) {
        return static_cast<std::uint64_t>(static_cast<double>(ticks.load(std::memory_order_relaxed)) * ns);
    };
    OpStats stats{std::move(op), calls_.load(std::memory_order_relaxed),    in_ns(total_),
                  in_ns(max_),   failures_.load(std::memory_order_relaxed), overruns_.load(std::memory_order_relaxed)};
    const auto begun = begun_.load(std::memory_order_relaxed);
    if (begun <= stats.calls) return stats;
    stats.running = begun - stats.calls;
    const auto since = busy_since_.load(std::memory_order_relaxed), now = ticks_now();
    stats.running_ns = now > since ? static_cast<std::uint64_t>(static_cast<double>(now - since) * ns) : 0;
    return stats;
}

}  // namespace spur::host
