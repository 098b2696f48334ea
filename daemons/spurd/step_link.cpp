// Reading and writing frames without blocking the loop.
#include "daemons/spurd/step_link.hpp"

#include <sys/epoll.h>

#include <memory>

namespace spur::agent {

StepLink::StepLink(Loop& loop, step::FrameSocket socket)
    : loop_{loop}, socket_{std::move(socket)}, alive_{std::make_shared<bool>(true)} {
    socket_.watch_sender();
}

StepLink::~StepLink() {
    *alive_ = false;
    if (socket_.is_open()) loop_.forget(socket_.fd());
}

void StepLink::listen(Events events) {
    events_ = std::move(events);
    wanted_ = EPOLLIN;
    loop_.watch(socket_.fd(), wanted_, [this](std::uint32_t happened) { ready(happened); });
    update();
}

void StepLink::send(step::FrameType type, std::string_view payload) {
    if (!socket_.send(type, payload)) broken_ = true;  // the end shows in the next read
    update();
}

void StepLink::pause(bool paused) {
    if (paused_ == paused) return;
    paused_ = paused;
    update();
}

void StepLink::update() {
    const std::uint32_t wanted = (paused_ ? 0U : EPOLLIN) | (socket_.unsent() > 0 && !broken_ ? EPOLLOUT : 0U);
    if (wanted == wanted_ || !events_.on_frame) return;
    wanted_ = wanted;
    loop_.change(socket_.fd(), wanted);
}

void StepLink::ready(std::uint32_t events) {
    const auto alive = alive_;
    if (events & EPOLLOUT) {
        if (!socket_.flush()) broken_ = true;
        update();
        if (socket_.unsent() == 0 && events_.on_drained) events_.on_drained();
        if (!*alive) return;
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0 || paused_) return;
    const auto read = socket_.receive();
    while (const auto frame = socket_.next()) {
        events_.on_frame(*frame);
        if (!*alive) return;
    }
    if (read != step::FrameSocket::Read::closed && !socket_.is_broken()) return;
    loop_.forget(socket_.fd());
    const auto closed = events_.on_closed;
    closed();
}

}  // namespace spur::agent
