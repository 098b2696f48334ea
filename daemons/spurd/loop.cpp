// The agent's loop, on Boost.Asio.
#include "daemons/spurd/loop.hpp"

#include <sys/epoll.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <unordered_map>
#include <utility>

namespace spur::agent {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
using boost::system::error_code;

namespace {

// A watched descriptor. Pending waits keep it alive; what they find once it has been forgotten is ignored.
struct Watch : std::enable_shared_from_this<Watch> {
    Watch(asio::io_context& context, int fd, Loop::Ready handler)
        : descriptor{context, fd}, ready{std::move(handler)} {}

    void want(std::uint32_t events) {
        wanted = events;
        wait(EPOLLIN, Descriptor::wait_read, reading);
        wait(EPOLLOUT, Descriptor::wait_write, writing);
    }

    void wait(std::uint32_t event, Descriptor::wait_type type, bool& waiting) {
        if ((wanted & event) == 0 || std::exchange(waiting, true)) return;
        descriptor.async_wait(type, [self = shared_from_this(), event, type, &waiting](const error_code& error) {
            waiting = false;
            if (error || (self->wanted & event) == 0) return;
            self->ready(event);
            self->wait(event, type, waiting);
        });
    }

    Descriptor descriptor;
    Loop::Ready ready;
    std::uint32_t wanted{0};
    bool reading{false}, writing{false};
};

}  // namespace

struct Loop::Impl {
    std::unordered_map<int, std::shared_ptr<Watch>> watches;
    std::unordered_map<TimerId, asio::steady_timer> timers;
    TimerId next_timer{1};
    asio::io_context context{1};  // the first to go: work that is dropped with it may forget and cancel
};

Loop::Loop() : impl_{std::make_unique<Impl>()} {}

Loop::~Loop() {
    while (!impl_->watches.empty()) forget(impl_->watches.begin()->first);  // their owners close them
    impl_->timers.clear();
}

void Loop::watch(int fd, std::uint32_t events, Ready ready) {
    const auto watch = std::make_shared<Watch>(impl_->context, fd, std::move(ready));
    impl_->watches[fd] = watch;
    watch->want(events);
}

void Loop::change(int fd, std::uint32_t events) {
    if (const auto found = impl_->watches.find(fd); found != impl_->watches.end()) found->second->want(events);
}

void Loop::forget(int fd) {
    const auto found = impl_->watches.find(fd);
    if (found == impl_->watches.end()) return;
    found->second->wanted = 0;
    found->second->descriptor.release();
    impl_->watches.erase(found);
}

Loop::TimerId Loop::after(Clock::duration delay, Work work) {
    const auto id = impl_->next_timer++;
    auto& timer = impl_->timers.try_emplace(id, impl_->context, delay).first->second;
    timer.async_wait([this, id, work = std::move(work)](const error_code&) {
        if (impl_->timers.erase(id) != 0) work();  // else it was cancelled, perhaps when it was already due
    });
    return id;
}

void Loop::cancel(TimerId& timer) { impl_->timers.erase(std::exchange(timer, 0)); }

void Loop::post(Work work) { asio::post(impl_->context, std::move(work)); }

void Loop::stop() {
    post([this] { impl_->context.stop(); });
}

void Loop::run() {
    const auto until_stopped = asio::make_work_guard(impl_->context);
    impl_->context.run();
}

}  // namespace spur::agent
