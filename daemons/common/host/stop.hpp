// The host's side of spur_stop: asks calls that may wait to give up.
#pragma once

#include <spur/plugin/abi.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace spur::host {

// Stops when told, when its deadline has passed, or with its parent. One may serve any number of calls at once.
class StopSource {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr auto no_deadline = Clock::time_point::max();

    explicit StopSource(Clock::time_point deadline = no_deadline);
    explicit StopSource(StopSource& parent, Clock::time_point deadline = no_deadline);  // the parent outlives it
    ~StopSource();
    StopSource(const StopSource&) = delete;
    StopSource& operator=(const StopSource&) = delete;

    const spur_stop* get() const { return &table_; }
    void stop() noexcept;
    bool stopped() const noexcept;
    // After a call that was given this: says so in the log where it did not give up in time.
    void report_if_late(const std::string& plugin, const char* op) const;

private:
    StopSource(StopSource* parent, Clock::time_point deadline);
    void add(StopSource* child);
    void remove(StopSource* child);

    Clock::time_point deadline_;
    StopSource* parent_;
    std::atomic<Clock::rep> stopped_at_{0};  // 0: not yet
    spur_stop table_{};
    std::mutex mutex_;
    std::vector<StopSource*> children_;
};

// Stops once `is_time` says so; for places where nobody could call stop(). Has no descriptor.
class StopWhen {
public:
    explicit StopWhen(std::function<bool()> is_time);
    StopWhen(const StopWhen&) = delete;
    StopWhen& operator=(const StopWhen&) = delete;
    const spur_stop* get() const { return &table_; }

private:
    std::function<bool()> is_time_;
    std::atomic<bool> stopped_{false};
    spur_stop table_{};
};

// Does SIGTERM or SIGINT wait to be read? While a daemon starts, nobody reads them yet.
bool is_stop_signal_pending();

}  // namespace spur::host
