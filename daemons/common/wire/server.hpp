// A gRPC server for raw messages: handlers are registered by full method name and get bytes, a verified caller and a
// handle to answer with, from any thread. Stock gRPC clients can talk to it.
//
// Threads: a few I/O threads own the connections. Handlers and session callbacks run on them and must not block: they
// hand work on and answer later. An exception in one ends that call with INTERNAL and nothing else.
//
// How errors travel: ErrorCode becomes the gRPC status, the sentence its message, and the code's name the `spur-error`
// trailer, so our own clients get the very Error back.
#pragma once

#include "core/text/endpoint.hpp"
#include "daemons/common/wire/auth.hpp"
#include "daemons/common/wire/status.hpp"
#include "daemons/common/wire/tls.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spur::wire {

struct ServerOptions {
    Endpoint listen{"127.0.0.1", 0};  // port 0: any free one, see RpcServer::port()
    std::optional<TlsOptions> tls;
    std::shared_ptr<Authenticator> authenticator;  // none: every caller is unknown (uid `nobody`)
    std::string cluster, name;                     // for Audience: whom credentials must be for
    unsigned io_threads{1};

    std::size_t max_message_bytes{64u << 20};        // of one request or stream message
    std::size_t max_buffered_bytes{1u << 30};        // of all requests that are still arriving
    std::size_t max_caller_bytes{256u << 20};        // of one user's, unless it is root or the daemon's own
    std::size_t max_header_bytes{64u << 20};         // of all requests whose credential has not been looked at yet
    std::size_t max_session_queue_bytes{64u << 20};  // a session whose peer leaves more than this unread is closed
    std::size_t max_unread_bytes{256u << 20};        // of all answers to one connection, beyond the first
    std::size_t max_all_unread_bytes{2ull << 30};    // of all answers to everybody
    unsigned max_connections{20000};
    // Connections on which nobody has shown a good credential yet: the oldest go when there are more.
    unsigned max_strangers{10000};
    unsigned max_strangers_per_host{256};
    unsigned max_refusals{16};  // of credentials on such a connection; then it goes
    unsigned max_streams_per_connection{1000};

    std::chrono::milliseconds request_timeout{30000};     // for the handshake, and for a unary request to arrive whole
    std::chrono::milliseconds stall_timeout{60000};       // a peer that takes no bytes for this long is dropped
    std::chrono::milliseconds keepalive_interval{30000};  // a silent connection with open calls is pinged this often...
    std::chrono::milliseconds keepalive_timeout{20000};   // ...and dropped if it leaves the ping unanswered
    std::chrono::milliseconds idle_timeout{600000};       // a connection with no calls is closed after this long

    // Warnings for the daemon's log: refused credentials, dropped peers, exceptions. Called from I/O threads.
    std::function<void(std::string_view)> warn;
};

struct CallState;
struct SessionState;

// One unary call: a handle, cheap to copy and to move to another thread. Answer exactly once; later answers are
// ignored. If the last handle goes without an answer the caller gets INTERNAL, so a forgotten call never hangs a
// client.
class Call {
public:
    explicit Call(std::shared_ptr<CallState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::string_view method() const;
    [[nodiscard]] const Peer& peer() const;
    [[nodiscard]] const Caller& caller() const;
    [[nodiscard]] std::string_view request() const;  // valid while a handle lives
    [[nodiscard]] const Metadata& metadata()
        const;                             // the request's headers, pseudo-headers and the credential left out
    [[nodiscard]] bool abandoned() const;  // the client has gone or its deadline has passed
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const;

    // The request as a protobuf message; if it is none, the error to answer with.
    template <class Message>
    [[nodiscard]] Result<Message> parse() const {
        Message message;
        if (!message.ParseFromArray(request().data(), static_cast<int>(request().size())))
            return spur::fail(ErrorCode::invalid, "{}: the request is not a well-formed {}", method(),
                              message.GetTypeName());
        return message;
    }

    // Before the reply: what it says is from then, and nobody could confirm that it still holds.
    void set_as_of(std::int64_t unix_seconds) const;
    void reply(std::string message) const;
    template <class Message>
    void reply_with(const Message& message) const {
        reply(message.SerializeAsString());
    }
    // Put the leader's address under leader_key only if the call changed nothing: clients will send it there again.
    void fail(Error error, Metadata trailers = {}) const;

private:
    std::shared_ptr<CallState> state_;
};

// One stream, in both directions: a handle, cheap to copy and to move to another thread. Set the callbacks in the open
// handler; they run one at a time, in order, on the connection's I/O thread. on_closed is the last, and comes exactly
// once, whoever ended it; after it the callbacks (and all they captured) are dropped.
class Session {
public:
    explicit Session(std::shared_ptr<SessionState> state) : state_(std::move(state)) {}

    [[nodiscard]] std::string_view method() const;
    [[nodiscard]] const Peer& peer() const;
    [[nodiscard]] const Caller& caller() const;
    [[nodiscard]] const Metadata& metadata() const;

    void on_message(std::function<void(std::string)> callback) const;
    void on_half_closed(std::function<void()> callback) const;  // the client has sent its last message
    void on_drained(std::function<void()> callback) const;      // all that was queued has left for the socket
    void on_closed(std::function<void(const std::optional<Error>&)> callback) const;  // nullopt: we closed it with OK

    // [any thread] Queues a message. False if the session is closed. A queue over max_session_queue_bytes closes the
    // session: senders with much to say watch queued_bytes() and wait for on_drained.
    bool send(std::string message) const;
    template <class Message>
    bool send_message(const Message& message) const {
        return send(message.SerializeAsString());
    }
    [[nodiscard]] std::size_t queued_bytes() const;

    // [any thread] Stops and restarts the client: while paused no message is delivered and its window fills up.
    void pause() const;
    void resume() const;

    // [any thread] Ends the stream once what is queued has gone; with an error, or with OK.
    void close() const;
    void close(Error error, Metadata trailers = {}) const;
    [[nodiscard]] bool is_open() const;

private:
    std::shared_ptr<SessionState> state_;
};

// Whom a method answers. What is for anyone must be cheap and tell nothing that matters; such calls are few at a time.
enum class Access : std::uint8_t { with_credential, anyone };

class RpcServer {
public:
    using UnaryHandler = std::function<void(Call)>;
    using StreamHandler = std::function<void(Session)>;

    explicit RpcServer(ServerOptions options);
    ~RpcServer();  // drains with no patience

    // Before start(). `method` is "/spur.v1.Controller/Submit". A method served by nobody answers UNIMPLEMENTED.
    void unary(std::string_view method, UnaryHandler handler, Access access = Access::with_credential);
    // Server streaming, client streaming or both: the request messages come through on_message.
    void stream(std::string_view method, StreamHandler handler, Access access = Access::with_credential);

    // Binds, listens and starts the I/O threads. Health checks and reflection are served beside what was registered.
    Result<void> start();
    // [any thread] What health checks are told; a server that is not told otherwise serves from its start.
    void set_serving(bool serving);
    [[nodiscard]] std::uint16_t port() const;  // after start()

    // No new connections or calls; those in progress may finish until `patience` is over, then they are cut off.
    // Sessions never finish by themselves: they are closed with UNAVAILABLE at once. Safe to call twice; blocks.
    void drain(std::chrono::milliseconds patience);

    struct Stats {
        std::uint64_t calls{0}, failed_calls{0}, refused_credentials{0}, sessions_open{0}, connections_open{0};
    };
    [[nodiscard]] Stats stats() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace spur::wire
