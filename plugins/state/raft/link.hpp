// One connection to another controller: proof, greeting, then a relay between the network and libraft.
//
// libraft reads and writes a plain uv_stream_t. It gets one end of a socket pair; the link holds the other and carries
// bytes between it and the encrypted connection, one buffer per direction at a time, so a slow side slows the other
// instead of filling memory.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>
#include <string>

#include "greeting.hpp"
#include "secure_session.hpp"

namespace spur::raftlog {

class Link {
public:
    struct Handlers {
        std::function<Greeting()> own_greeting;
        // Once, with the other side's greeting or the reason why there is none. After a fault the link is gone.
        std::function<void(Link&, Outcome<Greeting>)> greeted;
        std::function<void(Link&)> gone;  // last; the owner deletes the link
    };
    static constexpr unsigned patience_ms = 5000;  // for connecting, proving and greeting together

    Link(uv_loop_t* loop, const SecureContext& secure, Side side, Handlers handlers);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    uv_tcp_t* socket() { return &net_; }
    void connect(const sockaddr* to);  // client; begin() follows by itself
    void begin();                      // the socket is connected
    void close(Fault why);             // `greeted`, if still due, and `gone` follow later
    bool is_closing() const { return closing_; }
    bool has_greeted() const { return phase_ == Phase::greeted; }

    // From within `greeted`: the end libraft reads and writes. It must uv_close() and raft_free() it.
    Outcome<uv_stream_t*> hand_over();

private:
    enum class Phase { proving, greeting, greeted };

    void on_net(ssize_t length, const uv_buf_t* buffer);
    void on_local(ssize_t length, const uv_buf_t* buffer);
    void advance();
    void take_greeting();
    void forward_to_local();
    void write(uv_stream_t* to, std::string bytes, std::function<void()> then);
    void flush();
    void tune_socket();
    void start_reading_net();
    void start_reading_local();
    void on_handle_closed();

    Handlers handlers_;
    Side side_;
    SecureSession session_;
    Phase phase_ = Phase::proving;
    std::string inbox_;
    uv_tcp_t net_{};
    uv_pipe_t local_{};
    uv_timer_t timer_{};
    uv_connect_t connect_{};
    bool relaying_ = false;
    bool closing_ = false;
    int open_handles_ = 0;
    std::optional<Fault> reason_;
    std::string net_buffer_;
    std::string local_buffer_;
};

}  // namespace spur::raftlog
