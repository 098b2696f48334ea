// A light gRPC client: nghttp2 over a socket, TLS when asked, no gRPC library, ready in microseconds.
//
// Threads: a Channel and the Streams it opened belong to one thread at a time; use one channel per thread.
//
// Which server: a channel has a list of endpoints and stays with the one that answers. If connecting fails it tries the
// next. If a server answers UNAVAILABLE and names a leader (`spur-leader`), the channel goes there: a server names a
// leader only when it changed nothing itself. This goes round, with growing pauses, until the call's deadline.
// Where there is another to go to, a server that hangs (stopped, swapping, cut off) is left as well: one that accepts a
// connection and then says nothing, or falls silent in the middle of a call and does not answer a ping either.
//
// When a call is sent again: only if the request certainly was not acted upon (never connected; refused before
// processing by GOAWAY or REFUSED_STREAM; UNAVAILABLE with a leader), or if `CallOptions::idempotent` says that acting
// twice is harmless: a read, or a write that carries a request_id which the controller remembers. Otherwise a
// connection lost in the middle of a call is reported with `maybe_processed` set, since the caller alone can find out
// what became of it.
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
#include <vector>

namespace spur::wire {

using Clock = std::chrono::steady_clock;

struct ChannelOptions {
    std::vector<Endpoint> endpoints;                  // at least one
    std::optional<TlsOptions> tls;                    // for https:// endpoints and those that name no scheme
    std::shared_ptr<CredentialSource> credentials;    // none: calls carry no credential
    std::string cluster, server;                      // for Audience: whom credentials are for, as far as known
    std::chrono::milliseconds connect_timeout{3000};  // for one round among all endpoints
    // With several endpoints: how long a server that owes an answer may say nothing at all. It is pinged at half time.
    std::chrono::milliseconds silence_timeout{4000};
    std::size_t max_message_bytes{512u << 20};
    // What whoever waits for an answer should know, as a sentence: that a call has been waiting for `tell_after`, and
    // why; that an answer may be out of date. Each is said once. None: nobody is told.
    std::function<void(std::string_view)> tell;
    std::chrono::milliseconds tell_after{2000};
};

struct CallOptions {
    std::chrono::milliseconds timeout{30000};  // for the whole call, retries included. Streams: for opening it
    // Give up sooner if for this long no endpoint has accepted a connection; long enough for a daemon to be restarted.
    std::chrono::milliseconds unreachable_timeout{5000};
    bool idempotent{false};  // see above
    Metadata metadata;       // further request headers
    std::string on_behalf_of{};  // a uid: asked as that user, by a front end that the server trusts to
    bool long_poll{false};   // the answer comes when something happens: that it takes its time is nothing to tell
};

class Connection;
struct StreamState;
class Stream;

class Channel {
public:
    explicit Channel(ChannelOptions options);
    ~Channel();
    Channel(Channel&&) noexcept;
    Channel& operator=(Channel&&) noexcept;

    // One request, one reply. `method` is "/spur.v1.Controller/Submit", `body` a serialised message.
    RpcResult<std::string> unary(std::string_view method, std::string_view body, const CallOptions& options = {});

    // Opens a stream at the first endpoint that accepts a connection. How the server likes it shows in the first read.
    // Where servers prove themselves, what is written waits until this one has.
    // A stream never moves to another server; if it ends UNAVAILABLE, the next open() or unary() goes to the leader it
    // named, or to the next endpoint.
    RpcResult<Stream> open(std::string_view method, const CallOptions& options = {});

    [[nodiscard]] const Endpoint& current() const;  // where the next call goes
    void disconnect();                              // drops the connection; streams on it end UNAVAILABLE

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

// A bidirectional stream. Blocking use: write() and read(). In a poll loop: wait for events() on fd(), call pump(),
// then take messages with next() until it has none, and look at ended(). Closing the handle cancels a stream that has
// not ended.
class Stream {
public:
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    // Queues a message and sends what the socket and the peer's window take now. Fails only if the stream has ended.
    // Watch unsent() and hold back while it is large: nothing else limits the queue.
    RpcResult<void> write(std::string_view message);
    RpcResult<void> half_close();                       // no more messages from this side
    RpcResult<void> flush(Clock::time_point deadline);  // waits until unsent() is 0

    // Waits for the next message. nullopt: the server ended the stream with OK. DEADLINE_EXCEEDED: nothing came in time
    // and the stream goes on; any other error is its end.
    RpcResult<std::optional<std::string>> read(Clock::time_point deadline);

    [[nodiscard]] int fd() const;                 // -1 once the connection is gone
    [[nodiscard]] short events() const;           // POLLIN, and POLLOUT while bytes wait for the socket
    void pump();                                  // moves whatever can move without waiting
    std::optional<std::string> next();            // a message that has arrived
    [[nodiscard]] bool ended() const;             // the server has ended it (messages may still wait in next())
    [[nodiscard]] const RpcError* error() const;  // after ended(): nullptr if it ended with OK
    [[nodiscard]] std::size_t unsent() const;

    // Is the server still there? After a ping() a living one is heard within a round trip.
    [[nodiscard]] Clock::duration silent_for() const;  // since its last byte, as of the last pump()
    void ping();
    void give_up(std::string_view why);  // drops the whole connection; the next open() makes another

    // Tells the server to stop; everything still queued is dropped.
    void cancel();

private:
    friend class Channel;
    Stream(std::shared_ptr<Connection> connection, std::shared_ptr<StreamState> state);
    std::shared_ptr<Connection> connection_;
    std::shared_ptr<StreamState> state_;
};

// call<SubmitReply>(channel, "/spur.v1.Controller/Submit", request): unary() with protobuf messages at both ends.
template <class Reply, class Request>
RpcResult<Reply> call(Channel& channel, std::string_view method, const Request& request,
                      const CallOptions& options = {}) {
    auto bytes = channel.unary(method, request.SerializeAsString(), options);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    Reply reply;
    if (!reply.ParseFromString(*bytes))
        return rpc_fail(Status::data_loss, "{} at {}: the reply is not a {}; is it a daemon of another version?",
                        method, channel.current().text(), reply.GetTypeName());
    return reply;
}

}  // namespace spur::wire
