// Channel: which server to ask and when to ask again. Stream: a thin handle on a connection's stream.
#include "daemons/common/wire/client.hpp"

#include "daemons/common/wire/connection.hpp"
#include "daemons/common/wire/members.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <random>
#include <thread>

namespace spur::wire {

using namespace std::chrono_literals;

namespace {
constexpr auto max_pause = 300ms;  // an election takes a second or two: whoever waits for one should not oversleep it
}

class Channel::Impl {
public:
    explicit Impl(ChannelOptions options) : options_(std::move(options)) {
        if (options_.endpoints.empty()) options_.endpoints.push_back({"localhost", controller_port});
    }

    RpcResult<std::string> unary(std::string_view method, std::string_view body, const CallOptions& call);
    RpcResult<std::shared_ptr<StreamState>> open(std::string_view method, const CallOptions& call);
    [[nodiscard]] const Endpoint& current() const { return leader_ ? *leader_ : options_.endpoints[index_]; }
    void disconnect();
    void learn_from_last_stream();

    std::shared_ptr<Connection> connection_;

private:
    // One call's patience: its deadline, how long nobody was reachable, and the pause before the next round.
    struct Patience {
        Clock::time_point deadline;
        std::chrono::milliseconds unreachable_timeout;
        std::optional<Clock::time_point> unreachable_since;
        unsigned failures{0};
        unsigned rounds{0};  // among the endpoints, without a connection
    };

    RpcResult<void> connect_once(Patience& patience);
    RpcResult<void> connect(Patience& patience);
    // A credential that the server met with a question.
    struct Leg {
        std::string credential, challenge;
    };
    RpcResult<std::shared_ptr<StreamState>> start(std::string_view method, std::string_view body,
                                                  const CallOptions& call, bool streaming, Clock::time_point deadline,
                                                  const std::optional<Leg>& last);
    RpcResult<std::string> attempt(std::string_view method, std::string_view body, const CallOptions& call,
                                   Clock::time_point deadline);
    RpcResult<std::string> attempt_leg(std::string_view method, std::string_view body, const CallOptions& call,
                                       Clock::time_point deadline, std::optional<Leg>& leg);
    Result<std::string> make_credential(const CredentialRequest& request, const std::optional<Leg>& last);
    static std::optional<Leg> asked_back(const StreamState& stream);
    bool await_first_word(const StreamState& stream, Clock::time_point deadline);
    bool await_end(const StreamState& stream, Clock::time_point deadline);
    [[nodiscard]] bool has_alternative() const { return options_.endpoints.size() > 1; }
    void move_on();
    bool follow(const RpcError& error);
    bool pause(Patience& patience);
    void watch_wait(const Patience& patience, const CallOptions& call);
    void tell_age(const StreamState& stream);

    ChannelOptions options_;
    std::size_t index_{0};
    std::optional<Endpoint> leader_;  // named by a server; forgotten as soon as it does not answer
    std::shared_ptr<TlsContext> tls_;
    std::shared_ptr<StreamState> last_stream_;  // its end may say where to go next
    WaitNotice notice_;
    std::string trouble_;  // what went wrong last in this call
    bool has_told_wait_{false}, has_told_age_{false};
    // To keep clients from knocking in step; std::random_device would cost each command 30 us in a virtual machine.
    std::minstd_rand dice_{static_cast<std::uint32_t>(Clock::now().time_since_epoch().count())};
};

// What the server wants to know before it decides about this stream's credential.
std::optional<Channel::Impl::Leg> Channel::Impl::asked_back(const StreamState& stream) {
    if (!stream.error || stream.error->status != Status::unauthenticated) return std::nullopt;
    const auto* const challenge = stream.error->trailers.find(challenge_key);
    if (challenge == nullptr || challenge->empty()) return std::nullopt;
    return Leg{stream.credential, *challenge};
}

void Channel::Impl::disconnect() {
    if (connection_) connection_->fail("this side dropped the connection");
    connection_.reset();
}

void Channel::Impl::move_on() {
    connection_.reset();  // open streams hold their own share
    if (leader_) {
        leader_.reset();
        return;
    }
    index_ = (index_ + 1) % options_.endpoints.size();
}

// Goes where an UNAVAILABLE server pointed. True: it changed nothing, and asking again makes sense.
bool Channel::Impl::follow(const RpcError& error) {
    const auto* address = error.trailers.find(leader_key);
    if (error.status != Status::unavailable || address == nullptr) return false;
    auto leader = resolve({controller_name, *address, current().port});
    if (address->empty() || !leader) {  // nobody leads at present
        move_on();
        return true;
    }
    if (leader->scheme == Endpoint::Scheme::as_configured) leader->scheme = current().scheme;
    if (!(*leader == current())) connection_.reset();
    leader_ = *std::move(leader);
    return true;
}

// Sleeps a little, longer each time. False: no time left.
bool Channel::Impl::pause(Patience& patience) {
    const auto base = std::min(20ms * (1 << std::min(patience.failures, 6u)), max_pause);
    ++patience.failures;
    const auto length = base / 2 + base * (dice_() % 100) / 100;
    const auto now = Clock::now();
    if (now + length >= patience.deadline) return false;
    std::this_thread::sleep_for(length);
    return true;
}

// From here on whoever waits for the call is told if it takes long.
void Channel::Impl::watch_wait(const Patience& patience, const CallOptions& call) {
    notice_.at = Clock::time_point::max();
    trouble_.clear();
    if (!options_.tell || has_told_wait_ || call.long_poll) return;
    notice_.at = Clock::now() + options_.tell_after;
    notice_.say = [this, deadline = patience.deadline](const std::string& what) {
        has_told_wait_ = true;
        const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - Clock::now());
        options_.tell(fmt::format("still waiting, for up to {} s more: {}", std::max<long>(left.count(), 0), what));
    };
}

// Anybody on the way could have added the trailer; all it does is make a reader careful.
void Channel::Impl::tell_age(const StreamState& stream) {
    const auto* const text = stream.trailers.find(as_of_key);
    if (text == nullptr || !options_.tell || std::exchange(has_told_age_, true)) return;
    std::int64_t then = 0;
    if (std::from_chars(text->data(), text->data() + text->size(), then).ec != std::errc{}) return;
    const auto age = std::max<std::int64_t>(std::time(nullptr) - then, 0);
    options_.tell(fmt::format("the answer may be out of date: {} has heard from no leader of the controllers for {} s",
                              current().text(), age));
}

RpcResult<void> Channel::Impl::connect_once(Patience& patience) {
    // A round among all takes no longer than one alone would, and the first is short: a machine that is cut off must
    // not hold up the others, and one that is only slow gets more time when its turn comes again.
    auto share = options_.connect_timeout / static_cast<long>(options_.endpoints.size());
    if (options_.endpoints.size() > 1) share = std::min(share, 200ms * (1 << std::min(patience.rounds, 6u)));
    const auto deadline = std::min({patience.deadline, Clock::now() + share, std::max(notice_.at, Clock::now())});
    const Endpoint& target = current();
    const bool secure = target.scheme == Endpoint::Scheme::tls ||
                        (target.scheme == Endpoint::Scheme::as_configured && options_.tls.has_value());
    if (secure && tls_ == nullptr) {
        auto made = TlsContext::for_client(options_.tls.value_or(TlsOptions{}));
        if (!made) return std::unexpected(RpcError{std::move(made).error(), Status::failed_precondition, {}, false});
        tls_ = *std::move(made);
    }
    // Where there is nobody else to ask, a server that is only slow is waited for.
    auto opened = Connection::open(target, options_, secure ? tls_ : nullptr, deadline,
                                   has_alternative() ? deadline : patience.deadline, notice_);
    if (!opened) return std::unexpected(std::move(opened).error());
    connection_ = *std::move(opened);
    return {};
}

// Makes sure of a live connection, trying the endpoints in turn until patience runs out.
RpcResult<void> Channel::Impl::connect(Patience& patience) {
    if (connection_) connection_->pump();  // notices what happened since the last call
    if (connection_ && connection_->usable()) return {};
    connection_.reset();
    for (std::size_t tried = 1;; ++tried) {
        auto connected = connect_once(patience);
        if (connected) {
            patience.unreachable_since.reset();
            return {};
        }
        if (connected.error().status == Status::failed_precondition) return connected;
        notice_.look(trouble_ = connected.error().text);
        move_on();
        const auto now = Clock::now();
        if (!patience.unreachable_since) patience.unreachable_since = now;
        const bool whole_round = tried % options_.endpoints.size() == 0;
        if (now - *patience.unreachable_since >= patience.unreachable_timeout && whole_round) return connected;
        if (whole_round) ++patience.rounds;
        if (whole_round && !pause(patience)) return connected;
        if (now >= patience.deadline) return connected;
    }
}

RpcResult<std::shared_ptr<StreamState>> Channel::Impl::start(std::string_view method, std::string_view body,
                                                             const CallOptions& call, bool streaming,
                                                             Clock::time_point deadline,
                                                             const std::optional<Leg>& last) {
    auto stream = std::make_shared<StreamState>(options_.max_message_bytes);
    stream->method = method;
    stream->streaming = streaming;
    if (options_.credentials != nullptr) {
        const auto digest = sha256(body);
        stream->audience = Audience{options_.cluster, options_.server, connection_->server_instance()}.text();
        stream->digest = to_hex(digest);
        stream->on_behalf_of = call.on_behalf_of;
        const auto peer = current().text();
        auto credential = make_credential(
            {method, digest, stream->audience, stream->on_behalf_of, peer, current().host}, last);
        if (!credential)
            return std::unexpected(RpcError{std::move(credential).error(), Status::unauthenticated, {}, false});
        stream->credentials = options_.credentials;
        stream->credential = *std::move(credential);
    }
    std::optional<std::chrono::milliseconds> timeout;
    if (!streaming) timeout = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto started = connection_->start(stream, call.metadata, timeout);
    if (!started) return std::unexpected(started.error());
    return stream;
}

// Until the call has ended, if only because the server was given up. False: the deadline came first.
bool Channel::Impl::await_end(const StreamState& stream, Clock::time_point deadline) {
    while (!stream.ended) {
        const auto limit = options_.silence_timeout;
        const auto until = has_alternative() ? std::min(deadline, connection_->next_doubt(limit)) : deadline;
        if (connection_->pump_until(std::min(until, notice_.at))) continue;
        // Asking once more is not what takes so long.
        notice_.look(trouble_.empty() ? fmt::format("{} has not answered yet", current().text()) : trouble_);
        if (Clock::now() >= deadline) return stream.ended;
        if (Clock::now() >= until) connection_->doubt(limit);
    }
    return true;
}

Result<std::string> Channel::Impl::make_credential(const CredentialRequest& request, const std::optional<Leg>& last) {
    return last ? options_.credentials->respond(request, last->credential, last->challenge)
                : options_.credentials->make(request);
}

// Each leg is the same call with another credential; nothing is done before the server is content with one.
RpcResult<std::string> Channel::Impl::attempt(std::string_view method, std::string_view body, const CallOptions& call,
                                              Clock::time_point deadline) {
    std::optional<Leg> leg;
    for (unsigned legs = 1;; ++legs) {
        auto reply = attempt_leg(method, body, call, deadline, leg);
        if (reply || !leg || legs == most_legs || connection_ == nullptr || !connection_->usable()) return reply;
    }
}

RpcResult<std::string> Channel::Impl::attempt_leg(std::string_view method, std::string_view body,
                                                  const CallOptions& call, Clock::time_point deadline,
                                                  std::optional<Leg>& leg) {
    auto started = start(method, body, call, false, deadline, leg);
    leg.reset();
    if (!started) return std::unexpected(std::move(started).error());
    StreamState& stream = **started;
    connection_->write(stream, std::string{body});
    connection_->half_close(stream);
    connection_->expect();
    connection_->pump();
    if (!await_end(stream, deadline)) {
        connection_->cancel(stream);
        auto late = rpc_fail(Status::deadline_exceeded, "{}: {} did not answer in time", method, current().text());
        late.error().maybe_processed = true;
        return late;
    }
    if (stream.error) {
        leg = asked_back(stream);
        return std::unexpected(std::move(*stream.error));
    }
    tell_age(stream);
    return std::move(stream.messages.front());
}

RpcResult<std::string> Channel::Impl::unary(std::string_view method, std::string_view body, const CallOptions& call) {
    learn_from_last_stream();
    Patience patience{Clock::now() + call.timeout, call.unreachable_timeout};
    watch_wait(patience, call);
    for (unsigned redirects = 0;;) {
        if (auto connected = connect(patience); !connected) return std::unexpected(std::move(connected).error());
        auto reply = attempt(method, body, call, patience.deadline);
        if (reply || reply.error().status != Status::unavailable) return reply;
        const RpcError& error = reply.error();
        notice_.look(trouble_ = error.text);
        if (follow(error)) {
            // The first pointer is usually right; two servers pointing at each other should find us waiting.
            if (++redirects > 1 && !pause(patience)) return reply;
            continue;
        }
        // Trailers are an answer: the server itself lacks something, and what that means is for the caller to judge.
        if (!error.trailers.empty() || (error.maybe_processed && !call.idempotent)) return reply;
        if (connection_ == nullptr || !connection_->usable()) move_on();
        if (!pause(patience)) return reply;
    }
}

void Channel::Impl::learn_from_last_stream() {
    const auto stream = std::exchange(last_stream_, nullptr);
    if (!stream || !stream->ended || !stream->error || stream->error->status != Status::unavailable) return;
    if (!follow(*stream->error)) move_on();
}

RpcResult<std::shared_ptr<StreamState>> Channel::Impl::open(std::string_view method, const CallOptions& call) {
    learn_from_last_stream();
    Patience patience{Clock::now() + call.timeout, call.unreachable_timeout};
    watch_wait(patience, call);
    if (auto connected = connect(patience); !connected) return std::unexpected(std::move(connected).error());
    std::optional<Leg> leg;
    for (unsigned legs = 1;; ++legs) {
        auto stream = start(method, {}, call, true, patience.deadline, leg);
        if (!stream) return stream;
        last_stream_ = *stream;
        connection_->pump();
        if (!options_.credentials || !options_.credentials->expects_challenges()) return stream;
        if (!await_first_word(**stream, patience.deadline))
            return rpc_fail(Status::deadline_exceeded, "{}: {} did not answer in time", method, current().text());
        leg = asked_back(**stream);
        if (!leg || legs == most_legs || !connection_->usable()) return stream;
    }
}

bool Channel::Impl::await_first_word(const StreamState& stream, Clock::time_point deadline) {
    while (stream.http_status == 0 && !stream.ended)
        if (!connection_->pump_until(deadline)) return false;
    // A server that only says no does so in one go: its headers are the end.
    if (stream.grpc_status) return await_end(stream, deadline);
    return true;
}

Channel::Channel(ChannelOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

RpcResult<std::string> Channel::unary(std::string_view method, std::string_view body, const CallOptions& options) {
    return impl_->unary(method, body, options);
}

RpcResult<Stream> Channel::open(std::string_view method, const CallOptions& options) {
    auto state = impl_->open(method, options);
    if (!state) return std::unexpected(std::move(state).error());
    return Stream{impl_->connection_, *std::move(state)};
}

const Endpoint& Channel::current() const { return impl_->current(); }
void Channel::disconnect() { impl_->disconnect(); }

Stream::Stream(std::shared_ptr<Connection> connection, std::shared_ptr<StreamState> state)
    : connection_(std::move(connection)), state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
    if (this == &other) return *this;
    cancel();
    connection_ = std::move(other.connection_);
    state_ = std::move(other.state_);
    return *this;
}
Stream::~Stream() { cancel(); }

void Stream::cancel() {
    if (state_ != nullptr) connection_->cancel(*state_);
}

RpcResult<void> Stream::write(std::string_view message) {
    if (state_->ended && state_->error) return std::unexpected(*state_->error);
    if (state_->ended || state_->half_closed)
        return rpc_fail(Status::failed_precondition, "{}: the stream has ended, nothing more can be sent",
                        state_->method);
    connection_->write(*state_, std::string{message});
    connection_->pump();
    return {};
}

RpcResult<void> Stream::half_close() {
    if (state_->ended && state_->error) return std::unexpected(*state_->error);
    if (!state_->ended && !state_->half_closed) connection_->half_close(*state_);
    connection_->pump();
    return {};
}

RpcResult<void> Stream::flush(Clock::time_point deadline) {
    while (!state_->ended && state_->unsent > 0)
        if (!connection_->pump_until(deadline))
            return rpc_fail(Status::deadline_exceeded, "{}: {} bytes could not be sent in time", state_->method,
                            state_->unsent);
    if (state_->ended && state_->error) return std::unexpected(*state_->error);
    return {};
}

RpcResult<std::optional<std::string>> Stream::read(Clock::time_point deadline) {
    for (;;) {
        if (auto message = next()) return message;
        if (state_->ended && state_->error) return std::unexpected(*state_->error);
        if (state_->ended) return std::nullopt;
        if (!connection_->pump_until(deadline))
            return rpc_fail(Status::deadline_exceeded, "{}: no message in time", state_->method);
    }
}

int Stream::fd() const { return connection_->fd(); }
short Stream::events() const { return connection_->events(); }
void Stream::pump() { connection_->pump(); }
std::optional<std::string> Stream::next() { return connection_->take(*state_); }
bool Stream::ended() const { return state_->ended; }
const RpcError* Stream::error() const { return state_->error ? &*state_->error : nullptr; }
std::size_t Stream::unsent() const { return state_->unsent; }
Clock::duration Stream::silent_for() const { return Clock::now() - connection_->heard(); }
void Stream::ping() { connection_->ping(); }
void Stream::give_up(std::string_view why) { connection_->fail(why); }

}  // namespace spur::wire
