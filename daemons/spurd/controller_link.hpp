// The stream to the controller: opened to whichever leads, kept, and opened again for ever when it breaks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "daemons/common/wire/client.hpp"
#include "daemons/spurd/loop.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

class ControllerLink {
public:
    struct Events {
        std::function<void()> on_open;  // say Register now
        std::function<void(const v1::ControllerMessage&)> on_message;
        std::function<void(const std::string& why)> on_closed;
    };
    ControllerLink(Loop& loop, wire::ChannelOptions options, Events events);
    ~ControllerLink();
    ControllerLink(const ControllerLink&) = delete;
    ControllerLink& operator=(const ControllerLink&) = delete;

    void start();
    void send(const v1::AgentMessage& message);  // lost while there is no session
    [[nodiscard]] bool is_open() const { return stream_.has_value(); }
    void welcomed() { failures_ = hops_ = 0; }  // the session is a good one: the next attempt need not wait
    // And open another; at once if the controller said who leads.
    void close(const std::string& why, bool is_sent_on = false);

private:
    void connect();
    void connected(wire::RpcResult<wire::Stream> stream);
    void pump();
    void watch();
    void watch_silence();
    void retry(const std::string& why);

    Loop& loop_;
    Events events_;
    const bool has_alternative_;  // several controllers: one that hangs can be left for another
    wire::Channel channel_;       // used by the connecting thread while there is no stream, by the loop otherwise
    std::optional<wire::Stream> stream_;
    std::jthread connecting_;
    std::shared_ptr<bool> alive_;
    int watched_{-1};
    short events_wanted_{0};
    unsigned failures_{0};
    unsigned hops_{0};  // from one controller to the leader it named, since the last pause
    bool look_pending_{false};
    Loop::TimerId retry_{0}, silence_{0};
};

}  // namespace spur::agent
