// The loop thread.
#include "loop.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace spur::raftlog {

Loop::Loop(Handlers handlers) : handlers_(std::move(handlers)) {
    if (uv_loop_init(&loop_) != 0) throw std::bad_alloc();
    uv_async_init(&loop_, &wake_, [](uv_async_t* handle) {
        auto* loop = static_cast<Loop*>(handle->data);
        loop->run_tasks();
        loop->handlers_.woken();
    });
    uv_check_init(&loop_, &turn_);
    uv_timer_init(&loop_, &timer_);
    alarm_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (alarm_fd_ < 0 || uv_poll_init(&loop_, &alarm_, alarm_fd_) != 0) throw std::bad_alloc();
    wake_.data = turn_.data = timer_.data = alarm_.data = this;
}

Loop::~Loop() {
    if (!stopped_) {  // never started
        stop();
        run();
    }
    join();
    uv_loop_close(&loop_);
    close(alarm_fd_);
}

void Loop::join() {
    if (thread_.joinable()) thread_.join();
}

void Loop::start() {
    uv_check_start(&turn_, [](uv_check_t* handle) { static_cast<Loop*>(handle->data)->handlers_.turned(); });
    uv_timer_start(
        &timer_, [](uv_timer_t* handle) { static_cast<Loop*>(handle->data)->handlers_.tick(); }, tick_ms, tick_ms);
    uv_poll_start(&alarm_, UV_READABLE, [](uv_poll_t* handle, int, int) {
        auto* loop = static_cast<Loop*>(handle->data);
        std::uint64_t expirations = 0;
        if (read(loop->alarm_fd_, &expirations, sizeof expirations) > 0) loop->handlers_.woken();
    });
    // Signals belong to the daemon's own threads, and a peer that hangs up must not raise SIGPIPE.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "spur-raft");
        run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Loop::wake_after(std::uint64_t ns) {
    const itimerspec when{{}, {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}};
    timerfd_settime(alarm_fd_, 0, &when, nullptr);
}

void Loop::run() { uv_run(&loop_, UV_RUN_DEFAULT); }

void Loop::wake() { uv_async_send(&wake_); }

bool Loop::post(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopped_) return false;
        tasks_.push_back(std::move(task));
    }
    wake();
    return true;
}

void Loop::run_tasks() {
    std::vector<std::function<void()>> tasks;
    {
        const std::lock_guard lock(mutex_);
        tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
}

void Loop::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    run_tasks();
    uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&turn_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&alarm_), nullptr);
}

}  // namespace spur::raftlog
