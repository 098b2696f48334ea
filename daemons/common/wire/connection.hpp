// One HTTP/2 connection of the client and the streams on it. Single-threaded; client.cpp decides when to make one and
// what to try again.
#pragma once

#include "daemons/common/wire/client.hpp"
#include "daemons/common/wire/framing.hpp"
#include "daemons/common/wire/socket.hpp"
#include "daemons/common/wire/tls_engine.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct nghttp2_session;

namespace spur::wire {

// What is known of one call. The connection fills it, Channel and Stream read it.
struct StreamState {
    explicit StreamState(std::size_t max_message_bytes) : reader(max_message_bytes) {}

    std::string method;
    std::int32_t id{-1};
    bool streaming{false};

    std::deque<OutgoingMessage> outgoing;
    std::size_t unsent{0};
    bool half_closed{false};  // no further message will be queued
    bool proven{false};       // a stream's server has shown who it is, or need not
    std::optional<std::uint64_t>
        acted_upon_from;  // once the socket has taken more bytes than this, the server may have acted

    MessageReader reader;
    std::vector<std::string> messages;  // arrived, not yet taken; the first `taken` of them are
    std::size_t taken{0};
    std::size_t unconsumed{0};  // bytes we hold back from the server's window

    int http_status{0};
    Metadata headers, trailers;
    bool in_trailers{false};
    std::optional<std::uint32_t> grpc_status;
    std::string grpc_message;

    std::shared_ptr<CredentialSource> credentials;
    std::string credential, audience, digest, on_behalf_of;

    bool ended{false};
    std::optional<RpcError> error;  // after `ended`; none: OK
};

// Somebody who wants to hear, once, that a wait has lasted until `at`, and what is waited for.
struct WaitNotice {
    Clock::time_point at{Clock::time_point::max()};
    std::function<void(const std::string& what)> say;

    void look(const std::string& what) {  // is it time?
        if (Clock::now() < at) return;
        at = Clock::time_point::max();
        say(what);
    }
};

class Connection {
public:
    // Connected by `deadline`; where the server's first word is waited for, that has come by `greeting_deadline`.
    static RpcResult<std::shared_ptr<Connection>> open(const Endpoint& endpoint, const ChannelOptions& options,
                                                       std::shared_ptr<TlsContext> tls, Clock::time_point deadline,
                                                       Clock::time_point greeting_deadline, WaitNotice& notice);
    Connection(Endpoint endpoint, Fd fd, std::optional<TlsEngine> tls, std::size_t max_message_bytes);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Queues the request's headers. Bytes move with pump().
    RpcResult<void> start(const std::shared_ptr<StreamState>& stream, const Metadata& metadata,
                          std::optional<std::chrono::milliseconds> timeout);
    void write(StreamState& stream, std::string message);
    void half_close(StreamState& stream);
    void cancel(StreamState& stream);
    std::optional<std::string> take(StreamState& stream);

    // Sends and receives what can move without waiting.
    void pump();
    // Waits for the socket, then pumps. False: the deadline came first.
    bool pump_until(Clock::time_point deadline);

    // Waits for the server's first word: the kernel takes connections for a process that hangs, too.
    // A server that has not spoken by then is given up with `status`.
    void await_greeting(Clock::time_point deadline, Status status, WaitNotice& notice);
    // A server that hangs: expect() begins to count, doubt() pings it at half of `limit` and gives it up at the end.
    void expect() { heard_ = Clock::now(), pinged_ = false; }
    void doubt(std::chrono::milliseconds limit);
    [[nodiscard]] Clock::time_point next_doubt(std::chrono::milliseconds limit) const {
        return heard_ + (pinged_ ? limit : limit / 2);
    }
    [[nodiscard]] Clock::time_point heard() const { return heard_; }
    void ping();

    [[nodiscard]] bool usable() const { return fd_ && !going_away_ && !failed_; }
    [[nodiscard]] int fd() const { return failed_ ? -1 : fd_.get(); }
    [[nodiscard]] short events() const;
    [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
    // Of the server's process (Audience::instance), as it said in its greeting; 0: it said none.
    [[nodiscard]] std::uint64_t server_instance() const { return instance_; }
    void fail(std::string_view why);

private:
    friend struct ConnectionCallbacks;
    [[nodiscard]] bool may_have_acted(const StreamState& stream) const;
    [[nodiscard]] std::uint64_t queued_so_far() const { return sent_before_ + wire_out_.size(); }
    void take_setting(std::uint16_t id, std::uint32_t value);
    void flush();
    void produce();
    void send_pending();
    void receive_pending();
    void receive_plain(std::string_view bytes);
    void end_stream(StreamState& stream, std::uint32_t http2_error);
    [[nodiscard]] std::optional<RpcError> judge(const StreamState& stream, std::uint32_t http2_error) const;
    [[nodiscard]] RpcError judge_without_status(const StreamState& stream, std::uint32_t http2_error) const;
    Result<void> check_proof(const StreamState& stream, const std::string* proof, const Digest& reply) const;
    void reject(StreamState& stream, RpcError error);

    Endpoint endpoint_;
    Fd fd_;
    std::optional<TlsEngine> tls_;
    std::string scheme_;
    std::size_t max_message_bytes_;
    nghttp2_session* session_{nullptr};
    std::string wire_out_;          // bytes for the socket
    std::size_t sent_{0};           // of wire_out_
    std::uint64_t sent_before_{0};  // wire_out_ before it was last emptied
    std::unordered_map<std::int32_t, std::shared_ptr<StreamState>> streams_;
    Clock::time_point heard_{Clock::now()};
    bool heard_any_{false};
    bool greeted_{false};  // by the server's SETTINGS
    std::uint64_t instance_{0};
    bool pinged_{false};  // since it was last heard
    bool going_away_{false};
    bool failed_{false};
    std::string failure_;
    Status failure_status_{Status::unavailable};
};

}  // namespace spur::wire
