// spurd's end of the connection to one step daemon.
#pragma once

#include <functional>
#include <string_view>

#include "daemons/spurd/loop.hpp"
#include "daemons/spurstepd/frame.hpp"

namespace spur::agent {

class StepLink {
public:
    struct Events {
        std::function<void(const step::Frame&)> on_frame;
        std::function<void()> on_closed;   // the step daemon has gone. The last call; it may destroy the link
        std::function<void()> on_drained;  // all that was queued has been sent; may be empty
    };
    StepLink(Loop& loop, step::FrameSocket socket);
    ~StepLink();
    StepLink(const StepLink&) = delete;
    StepLink& operator=(const StepLink&) = delete;

    void listen(Events events);  // from now on; what arrived before is not lost
    void send(step::FrameType type, std::string_view payload);
    void pause(bool paused);  // reading: while whoever the output is for cannot take it
    [[nodiscard]] bool is_paused() const { return paused_; }
    // The process at the other end, as the kernel knows it; 0: it has not said anything yet.
    [[nodiscard]] pid_t sender() const { return socket_.sender(); }
    [[nodiscard]] std::size_t unsent() const { return socket_.unsent(); }

private:
    void ready(std::uint32_t events);
    void update();

    Loop& loop_;
    step::FrameSocket socket_;
    Events events_;
    bool paused_{false}, broken_{false};
    std::uint32_t wanted_{0};
    std::shared_ptr<bool> alive_;  // false once this object has gone
};

}  // namespace spur::agent
