// What calls into plugins cost: counted on every call, so made of two clock reads and a few relaxed additions.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace spur::host {

// A clock in ticks of its own: the CPU's counter where there is one (a third of the cost of clock_gettime).
inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}
double ns_per_tick();  // measured between the start of the process and now

struct OpStats {
    std::string op;
    std::uint64_t calls{}, total_ns{}, max_ns{}, failures{}, overruns{};
    std::uint64_t running{}, running_ns{};  // calls that have not returned, and for how long the first of them has not
    bool operator==(const OpStats&) const = default;
};

class OpCounter {
public:
    void begin(std::uint64_t now) noexcept {
        if (begun_.fetch_add(1, std::memory_order_relaxed) == calls_.load(std::memory_order_relaxed))
            busy_since_.store(now, std::memory_order_relaxed);
    }
    // The end of what begin() began.
    void record(std::uint64_t ticks, bool failed) noexcept {
        calls_.fetch_add(1, std::memory_order_relaxed);
        total_.fetch_add(ticks, std::memory_order_relaxed);
        if (failed) failures_.fetch_add(1, std::memory_order_relaxed);
        auto longest = max_.load(std::memory_order_relaxed);
        while (ticks > longest && !max_.compare_exchange_weak(longest, ticks, std::memory_order_relaxed)) {
        }
    }
    // Begin and end in one, where only one thread at a time records: no locked instruction. What such a call is part of
    // is itself counted as running.
    void record_alone(std::uint64_t ticks, bool failed) noexcept {
        bump(begun_, 1);
        bump(calls_, 1);
        bump(total_, ticks);
        if (failed) bump(failures_, 1);
        if (ticks > max_.load(std::memory_order_relaxed)) max_.store(ticks, std::memory_order_relaxed);
    }
    void record_overrun() noexcept { overruns_.fetch_add(1, std::memory_order_relaxed); }
    OpStats read(std::string op) const;

private:
    static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
        counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
    std::atomic<std::uint64_t> begun_{}, busy_since_{}, calls_{}, total_{}, max_{}, failures_{}, overruns_{};
};

}  // namespace spur::host
