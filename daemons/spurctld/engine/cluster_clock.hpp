// The time that goes into the log. It follows the machine's wall clock but runs by a clock that nobody sets: when the
// wall clock jumps, the cluster's time does not jump with it but runs a little faster or slower until they agree, so
// that no job is timed out and none gets hours for nothing. It never goes back, and it never stands still.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "core/base/ids.hpp"

namespace spur::ctld {

class ClusterClock {
public:
    using Nanoseconds = std::int64_t;
    struct Sources {
        std::function<Nanoseconds()> wall;    // since 1970; may be set
        std::function<Nanoseconds()> steady;  // since some moment; counts time asleep as well
    };
    static Sources machine();
    using Log = std::function<void(std::string)>;

    static constexpr Nanoseconds second = 1'000'000'000;
    static constexpr Nanoseconds jump = 2 * second;  // more than that at once is no correction but a jump
    static constexpr std::int64_t slew = 20;         // a difference is made up for at one part in so many: 5 %

    ClusterClock(Sources sources, Log log);

    UnixSeconds now();
    // The state has seen this moment already, by another leader's clock: time goes on from there.
    void not_before(UnixSeconds moment);
    // How far the cluster's time is ahead of the wall clock, in seconds.
    std::int64_t ahead_s();

private:
    Nanoseconds advance();

    Sources sources_;
    Log log_;
    std::mutex mutex_;
    Nanoseconds time_;    // the cluster's
    Nanoseconds steady_;  // when that was
    Nanoseconds wall_;
    bool slewing_{false};
};

}  // namespace spur::ctld
