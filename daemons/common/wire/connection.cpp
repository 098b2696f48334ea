// The client's HTTP/2 connection: nghttp2 does the protocol, this file moves its bytes. How streams
// end is judged in stream_end.cpp.
#include "daemons/common/wire/connection.hpp"

#include <nghttp2/nghttp2.h>
#include <poll.h>

#include <charconv>
#include <limits>

namespace spur::wire {
namespace {

constexpr std::int32_t stream_window = 1 << 20;       // how far a server may run ahead of a stream's reader
constexpr std::int32_t connection_window = 64 << 20;  // never the bottleneck: one slow stream must not stop the others
constexpr std::size_t read_size = 64 * 1024;
constexpr char tls_alert = 0x15;  // the first byte of what a TLS server says to a client that does not speak TLS

nghttp2_nv field(std::string_view name, std::string_view value, std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), flags};
}

}  // namespace

// nghttp2 calls back into these; user_data is the Connection, a stream's user data its StreamState.
struct ConnectionCallbacks {
    static StreamState* stream_of(nghttp2_session* session, std::int32_t id) {
        return static_cast<StreamState*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void*) {
        auto* stream = stream_of(session, frame->hd.stream_id);
        if (stream != nullptr) stream->in_trailers = frame->headers.cat == NGHTTP2_HCAT_HEADERS;
        return 0;
    }

    static int on_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_length, const std::uint8_t* value, std::size_t value_length, std::uint8_t,
                         void*) {
        auto* stream = stream_of(session, frame->hd.stream_id);
        if (stream == nullptr) return 0;
        const std::string_view key{reinterpret_cast<const char*>(name), name_length};
        const std::string_view text{reinterpret_cast<const char*>(value), value_length};
        if (key == ":status") {
            std::from_chars(text.data(), text.data() + text.size(), stream->http_status);
        } else if (key == "grpc-status") {
            std::uint32_t number = 0;
            const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
            stream->grpc_status = parsed.ec == std::errc{} && number <= 16 ? number : unsigned(Status::unknown);
        } else if (key == "grpc-message") {
            stream->grpc_message = percent_decode(text);
        } else if (stream->headers.size() + stream->trailers.size() < 200) {
            (stream->in_trailers ? stream->trailers : stream->headers).add(key, text);
        }
        return 0;
    }

    static int on_frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        auto& self = *static_cast<Connection*>(user);
        if (frame->hd.type == NGHTTP2_GOAWAY) self.going_away_ = true;
        if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
            self.greeted_ = true;
            for (std::size_t i = 0; i < frame->settings.niv; ++i)
                self.take_setting(static_cast<std::uint16_t>(frame->settings.iv[i].settings_id),
                                  frame->settings.iv[i].value);
        }
        if (frame->hd.type != NGHTTP2_HEADERS) return 0;
        auto* stream = stream_of(session, frame->hd.stream_id);
        if (stream == nullptr || !stream->streaming || stream->in_trailers) return 0;
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) return 0;  // trailers only: judged at the stream's end
        const auto proven = self.check_proof(*stream, stream->headers.find(auth_reply_key), sha256({}));
        if (!proven) {
            self.reject(*stream, RpcError{proven.error(), Status::unauthenticated, {}, true});
            return 0;
        }
        stream->proven = true;
        nghttp2_session_resume_data(session, stream->id);
        return 0;
    }

    static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                       std::size_t length, void* user) {
        auto& self = *static_cast<Connection*>(user);
        nghttp2_session_consume_connection(session, length);
        auto* stream = stream_of(session, id);
        if (stream == nullptr || stream->ended) {
            nghttp2_session_consume_stream(session, id, length);
            return 0;
        }
        const auto fed = stream->reader.feed({reinterpret_cast<const char*>(data), length}, stream->messages);
        if (!fed) {
            auto error = fed.error();
            error.text = fmt::format("{} at {}: {}", stream->method, self.endpoint_.text(), error.text);
            error.maybe_processed = true;
            self.reject(*stream, std::move(error));
            return 0;
        }
        // A message waits to be taken: the server may fill its window and then has to wait too. Unary replies are
        // wanted.
        if (stream->streaming && stream->taken < stream->messages.size())
            stream->unconsumed += length;
        else
            nghttp2_session_consume_stream(session, id, length);
        return 0;
    }

    static int on_stream_close(nghttp2_session* session, std::int32_t id, std::uint32_t error_code, void* user) {
        auto& self = *static_cast<Connection*>(user);
        if (auto* stream = stream_of(session, id)) self.end_stream(*stream, error_code);
        self.streams_.erase(id);
        return 0;
    }

    static ssize_t read_request(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t room,
                                std::uint32_t* flags, nghttp2_data_source* source, void* user) {
        auto& self = *static_cast<Connection*>(user);
        auto& stream = *static_cast<StreamState*>(source->ptr);
        if (stream.streaming && !stream.proven) return NGHTTP2_ERR_DEFERRED;  // an impostor is told nothing
        std::size_t filled = 0;
        while (filled < room && !stream.outgoing.empty()) {
            auto& message = stream.outgoing.front();
            filled += message.take(reinterpret_cast<char*>(buffer) + filled, room - filled);
            if (message.left() == 0) stream.outgoing.pop_front();
        }
        stream.unsent -= filled;
        if (stream.outgoing.empty() && stream.half_closed) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            if (!stream.acted_upon_from) stream.acted_upon_from = self.queued_so_far();
        } else if (filled == 0) {
            return NGHTTP2_ERR_DEFERRED;
        }
        return static_cast<ssize_t>(filled);
    }

    static nghttp2_session_callbacks* all() {
        static nghttp2_session_callbacks* callbacks = [] {
            nghttp2_session_callbacks* made = nullptr;
            nghttp2_session_callbacks_new(&made);
            nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
            nghttp2_session_callbacks_set_on_header_callback(made, on_header);
            nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame_received);
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
            nghttp2_session_callbacks_set_on_stream_close_callback(made, on_stream_close);
            return made;
        }();
        return callbacks;
    }
};

RpcResult<std::shared_ptr<Connection>> Connection::open(const Endpoint& endpoint, const ChannelOptions& options,
                                                        std::shared_ptr<TlsContext> tls, Clock::time_point deadline,
                                                        Clock::time_point greeting_deadline, WaitNotice& notice) {
    auto failed = [](Error error) {
        return std::unexpected(RpcError{std::move(error), Status::unavailable, {}, false});
    };
    auto fd = connect_to(endpoint, deadline);
    if (!fd) return failed(std::move(fd).error());
    if (tls == nullptr && options.credentials != nullptr && options.credentials->needs_privacy() &&
        !is_peer_local(fd->get()))
        return std::unexpected(RpcError{
            {ErrorCode::denied, fmt::format("{} is on another machine, and whoever sees this credential on its "
                                            "way can use it; set up [tls] in spur.conf",
                                            endpoint.text())},
            Status::failed_precondition,
            {},
            false});
    std::optional<TlsEngine> engine;
    if (tls != nullptr) {
        const bool named = options.tls && !options.tls->server_name.empty();
        auto made = TlsEngine::make(std::move(tls), named ? options.tls->server_name : endpoint.host);
        if (!made) return failed(std::move(made).error());
        engine.emplace(*std::move(made));
    }
    auto connection =
        std::make_shared<Connection>(endpoint, *std::move(fd), std::move(engine), options.max_message_bytes);
    if (connection->tls_) {
        if (const auto begun = connection->tls_->advance(connection->wire_out_); !begun) return failed(begun.error());
        while (!connection->tls_->established() && !connection->failed_)
            if (!connection->pump_until(deadline)) connection->fail("the TLS handshake took too long");
    }
    if (options.endpoints.size() > 1)
        connection->await_greeting(greeting_deadline, Status::unavailable, notice);
    else if (options.credentials != nullptr)
        connection->await_greeting(greeting_deadline, Status::deadline_exceeded, notice);
    if (!connection->failed_ && options.credentials != nullptr && connection->instance_ == 0)
        connection->fail("it does not say which server it is; is it a Spur daemon of this release?");
    if (connection->failed_)
        return std::unexpected(RpcError{
            {ErrorCode::unavailable, fmt::format("cannot connect to {}: {}", endpoint.text(), connection->failure_)},
            connection->failure_status_,
            {},
            false});
    return connection;
}

Connection::Connection(Endpoint endpoint, Fd fd, std::optional<TlsEngine> tls, std::size_t max_message_bytes)
    : endpoint_(std::move(endpoint)),
      fd_(std::move(fd)),
      tls_(std::move(tls)),
      scheme_(tls_ ? "https" : "http"),
      max_message_bytes_(max_message_bytes) {
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_client_new2(&session_, ConnectionCallbacks::all(), this, option);
    nghttp2_option_del(option);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, connection_window);
}

Connection::~Connection() {
    if (!failed_ && streams_.empty() && (!tls_ || tls_->established())) {  // a polite end spares the server a warning
        nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
        flush();
    }
    nghttp2_session_del(session_);
}

RpcResult<void> Connection::start(const std::shared_ptr<StreamState>& stream, const Metadata& metadata,
                                  std::optional<std::chrono::milliseconds> timeout) {
    const std::string authority = endpoint_.text();
    const std::string deadline = timeout ? timeout_text(*timeout) : std::string{};
    std::vector<nghttp2_nv> fields{field(":method", "POST"),       field(":scheme", scheme_),
                                   field(":path", stream->method), field(":authority", authority),
                                   field("te", "trailers"),        field("content-type", "application/grpc")};
    // What changes with every call must not push what repeats out of the compression table.
    if (timeout) fields.push_back(field("grpc-timeout", deadline, NGHTTP2_NV_FLAG_NO_INDEX));
    if (stream->credentials != nullptr) {
        fields.push_back(field(auth_key, stream->credential, NGHTTP2_NV_FLAG_NO_INDEX));
        fields.push_back(field(audience_key, stream->audience));
        if (!stream->on_behalf_of.empty()) fields.push_back(field(behalf_key, stream->on_behalf_of));
        if (!stream->streaming) fields.push_back(field(digest_key, stream->digest, NGHTTP2_NV_FLAG_NO_INDEX));
    }
    stream->proven = stream->credentials == nullptr || !stream->credentials->demands_proof();
    for (const auto& [name, value] : metadata) fields.push_back(field(name, value));

    nghttp2_data_provider body{};
    body.source.ptr = stream.get();
    body.read_callback = ConnectionCallbacks::read_request;
    const std::int32_t id =
        nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &body, stream.get());
    if (id < 0) return rpc_fail(Status::unavailable, "{} at {}: {}", stream->method, authority, nghttp2_strerror(id));
    stream->id = id;
    if (stream->streaming) stream->acted_upon_from = queued_so_far();
    streams_.emplace(id, stream);
    return {};
}

void Connection::write(StreamState& stream, std::string message) {
    stream.outgoing.emplace_back(std::move(message));
    stream.unsent += stream.outgoing.back().left();
    if (!failed_) nghttp2_session_resume_data(session_, stream.id);
}

void Connection::half_close(StreamState& stream) {
    stream.half_closed = true;
    if (!failed_) nghttp2_session_resume_data(session_, stream.id);
}

void Connection::cancel(StreamState& stream) {
    if (stream.ended) return;
    reject(stream,
           RpcError{
               {ErrorCode::unavailable, fmt::format("{} was cancelled", stream.method)}, Status::cancelled, {}, true});
    if (!failed_) flush();
}

// Ends the stream on our side with `error`, and tells the server to stop.
void Connection::reject(StreamState& stream, RpcError error) {
    if (stream.ended) return;
    stream.ended = true;
    stream.error = std::move(error);
    stream.outgoing.clear();
    stream.unsent = 0;
    if (!failed_) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
}

std::optional<std::string> Connection::take(StreamState& stream) {
    if (stream.taken == stream.messages.size()) return std::nullopt;
    std::string message = std::move(stream.messages[stream.taken++]);
    if (stream.taken == stream.messages.size()) {
        stream.messages.clear();
        stream.taken = 0;
        if (!failed_ && stream.unconsumed > 0 && !stream.ended) {
            nghttp2_session_consume_stream(session_, stream.id, stream.unconsumed);
            flush();
        }
        stream.unconsumed = 0;
    }
    return message;
}

void Connection::produce() {
    constexpr std::size_t enough = 1u << 20;  // the socket's backlog; the rest waits in nghttp2
    while (wire_out_.size() - sent_ < enough) {
        const std::uint8_t* data = nullptr;
        const ssize_t length = nghttp2_session_mem_send(session_, &data);
        if (length < 0) return fail(nghttp2_strerror(static_cast<int>(length)));
        if (length == 0) return;
        const std::string_view bytes{reinterpret_cast<const char*>(data), static_cast<std::size_t>(length)};
        if (!tls_)
            wire_out_.append(bytes);
        else if (const auto sealed = tls_->send(bytes, wire_out_); !sealed)
            return fail(sealed.error().text);
    }
}

void Connection::send_pending() {
    while (!failed_ && sent_ < wire_out_.size()) {
        std::size_t count = 0;
        std::string why;
        const auto moved = send_bytes(fd_.get(), std::string_view{wire_out_}.substr(sent_), count, why);
        sent_ += count;
        if (moved == Moved::closed) {
            receive_pending();  // it may have said why before it went
            if (!failed_) fail(why);
        }
        if (moved != Moved::some) return;
    }
    if (failed_) return;
    sent_before_ += wire_out_.size();
    wire_out_.clear();
    sent_ = 0;
}

void Connection::receive_plain(std::string_view bytes) {
    if (bytes.empty() || failed_) return;
    if (!tls_ && !std::exchange(heard_any_, true) && bytes.front() == tls_alert) {
        failure_status_ = Status::failed_precondition;  // asking again would not help
        return fail("the port speaks TLS; name the authority of its certificate as ca under [tls] in spur.conf");
    }
    const ssize_t taken =
        nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (taken < 0) fail(fmt::format("{}; is this a Spur port?", nghttp2_strerror(static_cast<int>(taken))));
}

void Connection::receive_pending() {
    char buffer[read_size];
    for (int round = 0; round < 32 && !failed_; ++round) {
        std::size_t count = 0;
        std::string why;
        const auto moved = receive_bytes(fd_.get(), buffer, sizeof buffer, count, why);
        if (moved == Moved::none_now) return;
        if (moved == Moved::closed) return fail(why);
        heard_ = Clock::now();
        pinged_ = false;
        if (!tls_) {
            receive_plain({buffer, count});
        } else {
            std::string plain;
            const auto opened = tls_->receive({buffer, count}, plain, wire_out_);
            receive_plain(plain);
            if (!opened) return fail(opened.error().text);
        }
        if (count < sizeof buffer) return;
    }
}

void Connection::flush() {
    const bool speaks = !tls_ || tls_->established();
    do {
        if (speaks) produce();
        send_pending();
    } while (speaks && !failed_ && wire_out_.empty() && nghttp2_session_want_write(session_) != 0);
}

void Connection::pump() {
    if (failed_) return;
    flush();
    receive_pending();
    if (failed_) return;
    flush();
    if (failed_) return;
    // After GOAWAY and the last stream there is nothing left to do; a broken peer makes nghttp2 end that way too.
    if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0)
        fail(going_away_ ? "the server closed the connection"
                         : "the answer is not proper HTTP/2; is this a Spur port?");
}

bool Connection::pump_until(Clock::time_point deadline) {
    if (failed_) return true;
    if (!wait_for(fd_.get(), events(), deadline)) return false;
    pump();
    return true;
}

void Connection::await_greeting(Clock::time_point deadline, Status status, WaitNotice& notice) {
    pump();
    while (!greeted_ && !failed_) {
        if (pump_until(std::min(deadline, notice.at))) continue;
        notice.look(fmt::format("{} accepts connections but says nothing", endpoint_.text()));
        if (Clock::now() < deadline) continue;
        failure_status_ = status;
        fail("it accepts connections but says nothing; does it hang?");
    }
}

void Connection::take_setting(std::uint16_t id, std::uint32_t value) {
    constexpr std::uint64_t low = 0xffffffff;
    if (id == instance_high_setting) instance_ = (instance_ & low) | std::uint64_t{value} << 32;
    if (id == instance_low_setting) instance_ = (instance_ & ~low) | value;
}

void Connection::ping() {
    if (failed_) return;
    pinged_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    flush();
}

void Connection::doubt(std::chrono::milliseconds limit) {
    const auto silent = Clock::now() - heard_;
    if (pinged_ && silent >= limit) return fail(fmt::format("it has said nothing for {} ms", limit.count()));
    if (!pinged_ && silent >= limit / 2) ping();
}

short Connection::events() const { return static_cast<short>(POLLIN | (sent_ < wire_out_.size() ? POLLOUT : 0)); }

bool Connection::may_have_acted(const StreamState& stream) const {
    return stream.acted_upon_from && sent_before_ + sent_ > *stream.acted_upon_from;
}

void Connection::fail(std::string_view why) {
    if (failed_) return;
    failed_ = true;
    failure_ = why;
    auto streams = std::exchange(streams_, {});
    for (auto& [id, stream] : streams) end_stream(*stream, NGHTTP2_INTERNAL_ERROR);
}

}  // namespace spur::wire
