// A stop for a call that may wait: it comes when the call's time is up. Made on the stack, without a descriptor.
#pragma once

#include <spur/plugin/abi.h>

#include <time.h>

#include <chrono>
#include <cstdint>

namespace spur::host {

class TimeLimit {
public:
    explicit TimeLimit(std::chrono::nanoseconds patience)
        : stop_{sizeof(stop_), -1, now_ns() + patience.count(), nullptr, is_over} {}

    const spur_stop* get() const { return &stop_; }

    static std::int64_t now_ns() noexcept {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }

private:
    static std::uint32_t is_over(const spur_stop* stop) noexcept { return now_ns() >= stop->deadline_ns ? 1 : 0; }

    spur_stop stop_;
};

}  // namespace spur::host
