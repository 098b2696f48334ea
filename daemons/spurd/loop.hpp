// The agent's loop: one thread that waits for descriptors, timers and work handed over by other threads. Everything
// that spurd knows about jobs belongs to it, so nothing there needs a lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spur::agent {

class Loop {
public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void()>;
    using Ready = std::function<void(std::uint32_t events)>;  // EPOLLIN or EPOLLOUT; an end shows as what is wanted
    using TimerId = std::uint64_t;                            // 0: none

    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void watch(int fd, std::uint32_t events, Ready ready);
    void change(int fd, std::uint32_t events);
    void forget(int fd);  // before closing it; safe inside its own handler

    TimerId after(Clock::duration delay, Work work);
    void cancel(TimerId& timer);  // and sets it to 0

    void post(Work work);  // [any thread] soon, in order
    void run();            // until stop()
    void stop();           // [any thread]

private:
    struct Watch {
        std::uint32_t generation{};
        std::uint32_t wanted{};  // 0: epoll does not know it, since it would tell of an end again and again
        std::shared_ptr<Ready> ready;
    };
    void wait();
    void run_posted();
    void run_timers();

    int epoll_{-1}, wake_{-1};
    std::uint32_t generation_{0};
    std::unordered_map<int, Watch> watches_;
    std::map<std::pair<Clock::time_point, TimerId>, Work> timers_;
    std::unordered_map<TimerId, Clock::time_point> timer_times_;
    TimerId next_timer_{1};
    std::mutex mutex_;
    std::vector<Work> posted_;
    std::atomic<std::thread::id> runs_in_;
    bool stopping_{false};
};

}  // namespace spur::agent
