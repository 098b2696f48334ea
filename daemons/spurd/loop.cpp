// The agent's loop, on epoll: one system call for all that is ready, none to arm a descriptor again (docs/decisions/0001).
#include "daemons/spurd/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace spur::agent {

namespace {

std::uint64_t tag(int fd, std::uint32_t generation) {
    return static_cast<std::uint64_t>(generation) << 32 | static_cast<std::uint32_t>(fd);
}

}  // namespace

Loop::Loop() : epoll_{epoll_create1(EPOLL_CLOEXEC)}, wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    watch(wake_, EPOLLIN, [this](std::uint32_t) {
        std::uint64_t count{};
        [[maybe_unused]] const auto drained = read(wake_, &count, sizeof count);
    });
}

Loop::~Loop() {
    // Each out of its place first: what is dropped with it may still forget and cancel.
    std::exchange(posted_, {}).clear();
    std::exchange(timers_, {}).clear();
    std::exchange(watches_, {}).clear();
    close(wake_);
    close(epoll_);
}

void Loop::watch(int fd, std::uint32_t events, Ready ready) {
    watches_[fd] = {++generation_, 0, std::make_shared<Ready>(std::move(ready))};
    change(fd, events);
}

void Loop::change(int fd, std::uint32_t events) {
    const auto found = watches_.find(fd);
    if (found == watches_.end()) return;
    const auto before = std::exchange(found->second.wanted, events);
    if (before == events) return;
    epoll_event event{events, {.u64 = tag(fd, found->second.generation)}};
    epoll_ctl(epoll_, events == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd) {
    change(fd, 0);
    watches_.erase(fd);
}

Loop::TimerId Loop::after(Clock::duration delay, Work work) {
    const auto id = next_timer_++;
    const auto when = Clock::now() + delay;
    timers_.emplace(std::pair{when, id}, std::move(work));
    timer_times_.emplace(id, when);
    return id;
}

void Loop::cancel(TimerId& timer) {
    const auto id = std::exchange(timer, 0);
    const auto found = timer_times_.find(id);
    if (found == timer_times_.end()) return;
    timers_.erase({found->second, id});
    timer_times_.erase(found);
}

void Loop::post(Work work) {
    {
        const std::lock_guard lock{mutex_};
        posted_.push_back(std::move(work));
        if (posted_.size() > 1) return;  // whoever put the first one in has rung the bell
    }
    if (runs_in_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;  // it looks before it waits
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto rung = write(wake_, &one, sizeof one);
}

void Loop::stop() {
    post([this] { stopping_ = true; });
}

void Loop::run() {
    runs_in_ = std::this_thread::get_id();
    while (!stopping_) {
        wait();
        run_posted();
        run_timers();
    }
}

void Loop::wait() {
    int wait_ms = -1;
    if (const std::lock_guard lock{mutex_}; !posted_.empty()) {
        wait_ms = 0;
    } else if (!timers_.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
        wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
    }
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_ms);
    for (int i = 0; i < count; ++i) {
        const auto fd = static_cast<int>(static_cast<std::uint32_t>(events[i].data.u64));
        const auto found = watches_.find(fd);
        if (found == watches_.end() || found->second.generation != events[i].data.u64 >> 32) continue;
        const bool ended = (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
        const auto what = (ended ? EPOLLIN | EPOLLOUT : events[i].events) & found->second.wanted;
        if (what == 0) continue;
        const auto ready = found->second.ready;  // kept alive: the handler may forget its descriptor
        (*ready)(what);
    }
}

void Loop::run_posted() {
    std::vector<Work> work;
    {
        const std::lock_guard lock{mutex_};
        work.swap(posted_);
    }
    for (auto& each : work) each();
}

void Loop::run_timers() {
    while (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
        auto node = timers_.extract(timers_.begin());
        timer_times_.erase(node.key().second);
        node.mapped()();
    }
}

}  // namespace spur::agent
