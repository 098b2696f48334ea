// The agent's loop: one thread that waits for descriptors, timers and work handed over by other threads. Everything
// that spurd knows about jobs belongs to it, so nothing there needs a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace spur::agent {

class Loop {
public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void()>;
    using Ready = std::function<void(std::uint32_t events)>;  // EPOLLIN or EPOLLOUT; an end shows as EPOLLIN
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
    struct Impl;  // Boost.Asio's types take long to compile
    std::unique_ptr<Impl> impl_;
};

}  // namespace spur::agent
