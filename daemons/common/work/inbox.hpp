// What any thread hands to one other: pushed one by one, taken all at once by the thread that owns the box.
//
// A semaphore wakes the owner, not a condition variable: that costs a system call on each side instead of three, and
// none at all while the owner is busy.
#pragma once

#include <semaphore.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace spur::work {

class Doorbell {
public:
    using Clock = std::chrono::steady_clock;
    Doorbell() { ::sem_init(&rings_, 0, 0); }
    ~Doorbell() { ::sem_destroy(&rings_); }
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    void ring() {
        if (!rung_.exchange(true)) ::sem_post(&rings_);
    }
    // Until it is rung, or was since the last wait; or until `deadline`; or sooner, for no reason. What was done before
    // ring() is seen after it.
    void wait(std::optional<Clock::time_point> deadline = {}) {
        deadline ? wait_until(*deadline) : static_cast<void>(::sem_wait(&rings_));
        rung_ = false;
    }

private:
    void wait_until(Clock::time_point deadline) {
        const auto since_boot = std::max(deadline.time_since_epoch(), Clock::duration{0});
        const auto whole = std::chrono::floor<std::chrono::seconds>(since_boot);
        const timespec until{static_cast<time_t>(whole.count()),
                             static_cast<long>(std::chrono::nanoseconds{since_boot - whole}.count())};
        ::sem_clockwait(&rings_, CLOCK_MONOTONIC, &until);
    }

    std::atomic<bool> rung_{false};
    sem_t rings_;
};

template <class Item>
class Inbox {
public:
    void push(Item item) {
        {
            const std::lock_guard lock{mutex_};
            items_.push_back(std::move(item));
        }
        bell_.ring();
    }
    // [owner] Waits for something to be there, until `deadline`; may return with nothing.
    std::vector<Item> take(std::optional<Doorbell::Clock::time_point> deadline = {}) {
        bell_.wait(deadline);
        const std::lock_guard lock{mutex_};
        return std::exchange(items_, {});
    }
    void interrupt() { bell_.ring(); }  // take() returns, even with nothing

private:
    std::mutex mutex_;
    std::vector<Item> items_;
    Doorbell bell_;
};

}  // namespace spur::work
