// The epoll loop, its timers and the queue of posted work.
#include "daemons/spurd/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

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
    close(wake_);
    close(epoll_);
}

void Loop::watch(int fd, std::uint32_t events, Ready ready) {
    const auto generation = ++generation_;
    watches_[fd] = {generation, std::make_shared<Ready>(std::move(ready))};
    epoll_event event{events, {.u64 = tag(fd, generation)}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void Loop::change(int fd, std::uint32_t events) {
    const auto found = watches_.find(fd);
    if (found == watches_.end()) return;
    epoll_event event{events, {.u64 = tag(fd, found->second.generation)}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd) {
    if (watches_.erase(fd) != 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
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
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto rung = write(wake_, &one, sizeof one);
}

void Loop::stop() {
    post([this] { stopping_ = true; });
}

void Loop::run() {
    while (!stopping_) {
        wait();
        run_posted();
        run_timers();
    }
}

void Loop::wait() {
    int wait_ms = -1;
    if (!timers_.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
        wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
    }
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_ms);
    for (int i = 0; i < count; ++i) {
        const auto fd = static_cast<int>(static_cast<std::uint32_t>(events[i].data.u64));
        const auto found = watches_.find(fd);
        if (found == watches_.end() || found->second.generation != events[i].data.u64 >> 32) continue;
        const auto ready = found->second.ready;  // kept alive: the handler may forget its descriptor
        (*ready)(events[i].events);
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
