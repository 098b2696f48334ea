// A libuv loop on a thread of its own, and the ways other threads hand it work.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace spur::raftlog {

class Loop {
public:
    struct Handlers {
        std::function<void()> woken;   // after wake(), post() or wake_after(), once for any number of calls
        std::function<void()> turned;  // at the end of every turn of the loop
        std::function<void()> tick;    // every tick_ms
    };
    static constexpr unsigned tick_ms = 500;

    explicit Loop(Handlers handlers);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    uv_loop_t* get() { return &loop_; }
    void start();
    void wake();                            // any thread
    bool post(std::function<void()> task);  // any thread; tasks run in order, before `woken`; false after stop()
    void wake_after(std::uint64_t ns);      // loop thread; replaces the last one. libuv's timers know milliseconds only
    void join();                            // waits for the thread to end
    void stop();                            // loop thread: the thread ends when the last foreign handle is closed

private:
    void run();
    void run_tasks();

    Handlers handlers_;
    uv_loop_t loop_{};
    uv_async_t wake_{};
    uv_check_t turn_{};
    uv_timer_t timer_{};
    uv_poll_t alarm_{};
    int alarm_fd_ = -1;
    std::mutex mutex_;
    std::vector<std::function<void()>> tasks_;
    bool stopped_ = false;
    std::thread thread_;
};

}  // namespace spur::raftlog
