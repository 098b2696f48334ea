// The spur_stop of a caller that has so much time and no more.
#pragma once

#include <spur/plugin/abi.h>

#include <chrono>
#include <cstdint>

namespace spur::step {

inline spur_stop stop_after(std::chrono::nanoseconds patience) {
    using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
    const auto stopped = [](const spur_stop* stop) -> std::uint32_t {
        return Clock::now().time_since_epoch().count() >= stop->deadline_ns ? 1 : 0;
    };
    return {sizeof(spur_stop), -1, (Clock::now() + patience).time_since_epoch().count(), nullptr, stopped};
}

}  // namespace spur::step
