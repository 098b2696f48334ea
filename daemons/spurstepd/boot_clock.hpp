// The clock that time limits run by on a node: nobody sets it, and it goes on while the machine sleeps.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace spur::step {

// Seconds of CLOCK_BOOTTIME.
inline std::int64_t boot_now() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
}

// When `left` seconds will have passed; never 0, which means no limit.
inline std::int64_t boot_after(std::int64_t left) { return std::max<std::int64_t>(boot_now() + left, 1); }

// A moment of the wall clock, as far as that can be trusted now; 0 stays 0.
inline std::int64_t boot_of(std::int64_t unix_time) {
    return unix_time == 0 ? 0 : boot_after(unix_time - static_cast<std::int64_t>(::time(nullptr)));
}

}  // namespace spur::step
