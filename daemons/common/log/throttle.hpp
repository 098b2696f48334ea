// For warnings that outsiders can provoke at will: a few in each interval are logged, the rest are counted.
//
// Words that a user chose go into a line through quote() (core/text/quote.hpp). Control characters that reach the log
// all the same are escaped there, and a line that is too long is cut.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace spur::log {

class Throttle {
public:
    using Clock = std::chrono::steady_clock;
    explicit Throttle(std::uint32_t most = 100, Clock::duration window = std::chrono::minutes{1})
        : most_{most}, window_{window} {}
    void warning(std::string_view line);  // [any thread]

private:
    std::mutex mutex_;
    const std::uint32_t most_;
    const Clock::duration window_;
    Clock::time_point since_{};
    std::uint32_t written_{0};
    std::uint64_t left_out_{0};
};

}  // namespace spur::log
