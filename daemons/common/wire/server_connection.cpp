// The server's HTTP/2 connection, receiving side: nghttp2 does the protocol, this file makes calls out of its events.
// Answers are in server_answers.cpp.
#include "daemons/common/wire/server_connection.hpp"

#include "daemons/common/wire/gzip.hpp"

#include <nghttp2/nghttp2.h>

#include <exception>
#include <stdexcept>

namespace spur::wire {
namespace {

constexpr std::int32_t stream_window = 1 << 20;  // how far a client may run ahead of a paused session
constexpr std::int32_t connection_window = 64
                                           << 20;  // never the bottleneck: one paused session must not stop the others
constexpr std::size_t max_header_bytes = 64 * 1024;

// What a connection may ask of methods that need no credential.
constexpr std::size_t max_open_request_bytes = 1024;
constexpr unsigned max_open_streams = 8, max_open_messages_per_second = 100;

std::string_view view(const std::uint8_t* data, std::size_t length) {
    return {reinterpret_cast<const char*>(data), length};
}

// Not worth keeping for handlers: part of the protocol, or noise.
bool is_protocol_header(std::string_view name) {
    return name.starts_with(':') || name.starts_with("grpc-") || name == "te" || name == "user-agent" ||
           name == "accept-encoding" || name == "content-length";
}

bool lists(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const auto end = std::min(list.find(','), list.size());
        auto item = list.substr(0, end);
        list.remove_prefix(std::min(end + 1, list.size()));
        while (item.starts_with(' ')) item.remove_prefix(1);
        while (item.ends_with(' ')) item.remove_suffix(1);
        if (item == word) return true;
    }
    return false;
}

}  // namespace

// nghttp2 calls back into these; user_data is the ServerConnection. Nothing may be thrown through nghttp2.
struct ServerCallbacks {
    template <class Function>
    static int safely(void* user, Function&& function) {
        auto& self = *static_cast<ServerConnection*>(user);
        try {
            function(self);
            return 0;
        } catch (const std::exception& error) {
            self.service_.warn(fmt::format("{}: connection dropped: {}", self.peer_->address, error.what()));
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
        return safely(user, [&](auto& self) { self.begin(frame->hd.stream_id); });
    }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_length, const std::uint8_t* value, std::size_t value_length, std::uint8_t,
                         void* user) {
        if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
        return safely(user, [&](auto& self) {
            if (auto* stream = self.find(frame->hd.stream_id))
                self.take_header(*stream, view(name, name_length), view(value, value_length));
        });
    }

    static int on_frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
        return safely(user, [&](auto& self) {
            const auto id = frame->hd.stream_id;
            if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
                if (auto* stream = self.find(id)) self.headers_complete(*stream);
            if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
                if (auto* stream = self.find(id)) self.request_complete(*stream);
        });
    }

    static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                       std::size_t length, void* user) {
        nghttp2_session_consume_connection(session, length);
        return safely(user, [&](auto& self) {
            if (auto* stream = self.find(id))
                self.take_data(*stream, view(data, length));
            else
                nghttp2_session_consume_stream(session, id, length);
        });
    }

    static int on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
        return safely(user, [&](auto& self) { self.closed(id); });
    }

    // An answer may be complete before the request is; the client should not go on sending then.
    static int on_frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        const bool last = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                          (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        if (!last) return 0;
        const auto* stream = static_cast<ServerConnection*>(user)->find(frame->hd.stream_id);
        if (stream != nullptr && !stream->request_ended)
            nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
        return 0;
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
            nghttp2_session_callbacks_set_on_frame_send_callback(made, on_frame_sent);
            return made;
        }();
        return callbacks;
    }
};

ServerConnection::ServerConnection(Service& service, std::shared_ptr<Inbox> inbox, std::uint64_t id,
                                   std::shared_ptr<const Peer> peer, ServerClock::time_point now)
    : service_(service),
      inbox_(std::move(inbox)),
      id_(id),
      peer_(std::move(peer)),
      now_(now),
      last_received_(now),
      last_busy_(now),
      known_(service.options.authenticator == nullptr) {
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_session_server_new2(&session_, ServerCallbacks::all(), this, option);
    nghttp2_option_del(option);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, service.options.max_streams_per_connection},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, max_header_bytes},
        {instance_high_setting, static_cast<std::uint32_t>(service.audience.instance >> 32)},
        {instance_low_setting, static_cast<std::uint32_t>(service.audience.instance)}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, connection_window);
}

ServerConnection::~ServerConnection() {
    while (!streams_.empty()) closed(streams_.begin()->first);
    nghttp2_session_del(session_);
}

ServerStream* ServerConnection::find(std::int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
}

ServerStream& ServerConnection::begin(std::int32_t id) {
    auto& stream = streams_[id] = std::make_unique<ServerStream>(id, service_.options.max_message_bytes);
    stream->since = now_;
    any_call_ = true;
    return *stream;
}

void ServerConnection::take_header(ServerStream& stream, std::string_view name, std::string_view value) {
    const auto bytes = name.size() + value.size() + 32;
    stream.header_bytes += bytes;
    if (stream.header_bytes > max_header_bytes) return;  // answered once they are all in
    stream.counted_headers += bytes;
    if ((service_.headers += bytes) > service_.options.max_header_bytes)
        throw std::runtime_error{"too many requests are still introducing themselves"};
    if (name == ":path")
        stream.path = value;
    else if (name == ":method")
        stream.http_method = value;
    else if (name == "content-type")
        stream.content_type = value;
    else if (name == auth_key)
        stream.credential = value;
    else if (name == audience_key)
        stream.audience = value;
    else if (name == behalf_key)
        stream.on_behalf_of = value;
    else if (name == digest_key)
        stream.digest = find_digest(value);
    else if (name == "grpc-timeout")
        stream.timeout = parse_timeout(value);
    else if (name == "grpc-encoding")
        stream.encoding = value == "identity" ? std::string_view{} : value;
    else if (name == accept_encoding_key)
        stream.negotiates = true, stream.accepts_gzip = lists(value, "gzip");
    else if (!is_protocol_header(name))
        stream.metadata.add(name, value);
}

void ServerConnection::headers_complete(ServerStream& stream) {
    stream.phase = ServerStream::Phase::body;
    stream.since = now_;
    release_headers(stream);
    if (stream.http_method != "POST") return answer_http(stream, "405");
    if (!stream.content_type.starts_with("application/grpc")) return answer_http(stream, "415");
    ++service_.calls;
    if (stream.header_bytes > max_header_bytes)
        return end(stream,
                   Ending{Status::resource_exhausted,
                          fmt::format("the request's headers are over the limit of {} bytes", max_header_bytes)});
    stream.method = service_.find(stream.path);
    if (stream.method == nullptr)
        return end(
            stream,
            Ending{Status::unimplemented,
                   fmt::format("{} is not served here; is the client newer than this daemon, or the port another "
                               "daemon's?",
                               printable(std::string_view{stream.path}.substr(0, 200)))});
    if (!stream.encoding.empty() && stream.encoding != "gzip")
        return end(stream,
                   Ending{Status::unimplemented,
                          fmt::format("{}: messages encoded as \"{}\" are not understood here; send gzip or none",
                                      stream.path, printable(std::string_view{stream.encoding}.substr(0, 50))),
                          {{std::string{accept_encoding_key}, std::string{accepted_encodings}}}});
    const bool open = stream.method->access == Access::anyone;
    stream.reader = MessageReader{open ? max_open_request_bytes : service_.options.max_message_bytes,
                                  stream.encoding.empty() ? nullptr : gunzip};
    if (!(open ? admit(stream) : authenticate(stream))) return;  // before any of its body is taken
    if (stream.method->stream) open_session(stream);
}

void ServerConnection::take_data(ServerStream& stream, std::string_view bytes) {
    const bool wanted = stream.method != nullptr && !stream.ending;
    const bool held_back = stream.session != nullptr && stream.session->paused;
    if (held_back)
        stream.unconsumed += bytes.size();
    else
        nghttp2_session_consume_stream(session_, stream.id, bytes.size());
    if (!wanted) return;

    if (auto fed = stream.reader.feed(bytes, stream.messages); !fed)
        return abort(stream, Ending{fed.error().status, fmt::format("{}: {}", stream.path, fed.error().text)});
    if (stream.session != nullptr) deliver(stream);

    // Unary requests and half-arrived messages are memory that a client can make us hold.
    std::size_t holds = stream.reader.held_bytes();
    for (std::size_t i = stream.delivered; i < stream.messages.size(); ++i) holds += stream.messages[i].size();
    set_buffered(stream, holds);
    if (stream.buffered < holds)
        return abort(stream, Ending{Status::resource_exhausted,
                                    fmt::format("your unfinished requests hold more than {} bytes here; send fewer at "
                                                "a time",
                                                service_.options.max_caller_bytes)});
    if (service_.buffered > service_.options.max_buffered_bytes)
        return abort(stream, Ending{Status::resource_exhausted,
                                    "the server holds too many unfinished requests; try again later"});
    if (stream.session == nullptr && stream.messages.size() > 1)
        abort(stream,
              Ending{Status::invalid_argument, fmt::format("{} takes one message, more were sent", stream.path)});
}

void ServerConnection::request_complete(ServerStream& stream) {
    stream.request_ended = true;
    if (stream.method == nullptr || stream.ending) return;
    if (stream.session == nullptr) return dispatch_unary(stream);
    if (!stream.reader.is_between_messages())
        return abort(stream,
                     Ending{Status::internal, fmt::format("{}: the stream ended inside a message", stream.path)});
    deliver(stream);
}

std::optional<std::string> ServerConnection::caught(std::string_view path, const std::function<void()>& function) {
    std::string what;
    try {
        function();
        return std::nullopt;
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {
        what = "an exception of unknown type";
    }
    service_.warn(fmt::format("{}: exception in the handler: {}", path, what));
    return what;
}

void ServerConnection::guard(ServerStream& stream, const std::function<void()>& function) {
    if (const auto what = caught(stream.path, function))
        abort(stream,
              Ending::of({ErrorCode::internal, fmt::format("{} failed inside the daemon: {}", stream.path, *what)}));
}

bool ServerConnection::authenticate(ServerStream& stream) {
    Authenticator* authenticator = service_.options.authenticator.get();
    if (authenticator == nullptr) return true;
    const bool is_meant_for_us = stream.audience == service_.audience_text;  // nearly always: comparing is cheap
    if (const auto meant = is_meant_for_us ? Result<void>{} : service_.audience.check(stream.audience); !meant) {
        refuse_credential(stream, meant.error());
        return false;
    }
    const Digest body = stream.method->stream ? sha256({}) : stream.digest.value_or(Digest{});
    Result<Verdict> verified = fail(ErrorCode::internal, "the auth plugin failed");
    guard(stream, [&] {
        verified = authenticator->verify({stream.path, body, stream.audience, stream.on_behalf_of, peer_->address,
                                          peer_->certificate, service_.audience_text},
                                         stream.credential, *peer_);
    });
    if (stream.ending) return false;
    if (verified && !verified->challenge.empty()) {
        Ending question{Status::unauthenticated, "the credential is one leg of several; answer the challenge"};
        question.trailers.add(challenge_key, verified->challenge);
        abort(stream, std::move(question));
        count_stranger();
        return false;
    }
    if (!verified) {
        refuse_credential(stream, verified.error());
        return false;
    }
    stream.caller = std::move(verified->caller);
    stream.authenticated = known_ = true;
    return true;
}

// Who shows no credential asks little, and not often.
bool ServerConnection::admit(ServerStream& stream) {
    stream.counts_as_open = true;
    const bool fits = ++open_streams_ <= max_open_streams && within_open_rate();
    if (!fits)
        end(stream, Ending{Status::resource_exhausted,
                           fmt::format("{}: at most {} calls at a time and {} messages a second without a credential",
                                       stream.path, max_open_streams, max_open_messages_per_second)});
    return fits;
}

bool ServerConnection::within_open_rate() {
    if (now_ - open_second_ >= std::chrono::seconds{1}) {
        open_second_ = now_;
        open_messages_ = 0;
    }
    return ++open_messages_ <= max_open_messages_per_second;
}

void ServerConnection::refuse_credential(ServerStream& stream, const Error& why) {
    ++service_.refused_credentials;
    service_.warn(fmt::format("{} from {} refused: {}", stream.path, peer_->address, why.text));
    Ending refusal = Ending::of(why);
    refusal.status = Status::unauthenticated;
    abort(stream, std::move(refusal));
    if (known_) return;
    std::string{}.swap(stream.credential);  // a stranger who does not read the answer must not have us keep it
    stream.metadata = {};
    count_stranger();
}

// Somebody was not let in; where nobody else on this connection was either, that happens a few times only.
void ServerConnection::count_stranger() {
    if (!known_ && ++refusals_ == service_.options.max_refusals) drain("too many wrong credentials");
}

void ServerConnection::dispatch_unary(ServerStream& stream) {
    stream.phase = ServerStream::Phase::handled;
    stream.since = now_;
    release_buffered(stream);
    if (stream.messages.size() != 1 || !stream.reader.is_between_messages())
        return end(stream, Ending{Status::invalid_argument, fmt::format("{} takes one message, {} arrived whole",
                                                                        stream.path, stream.messages.size())});
    if (stream.digest && !same_digest(sha256(stream.messages.front()), *stream.digest))
        return refuse_credential(stream, {ErrorCode::denied, "the body is not the one its credential was made for"});

    auto state = std::make_shared<CallState>();
    state->route = Route{inbox_, id_, stream.id, stream.accepts_gzip};
    state->method = stream.path;
    state->peer = peer_;
    state->caller = stream.caller;
    state->request = std::move(stream.messages.front());
    state->metadata = std::move(stream.metadata);
    if (stream.timeout) state->deadline = now_ + *stream.timeout;
    stream.call = state;
    guard(stream, [&] { stream.method->unary(Call{std::move(state)}); });
}

void ServerConnection::deliver(ServerStream& stream) {
    const auto session = stream.session;
    while (stream.delivered < stream.messages.size() && !session->paused && !stream.ending) {
        std::string message = std::move(stream.messages[stream.delivered++]);
        if (stream.counts_as_open && !within_open_rate())
            return abort(stream, Ending{Status::resource_exhausted,
                                        fmt::format("{}: more than {} messages a second without a credential",
                                                    stream.path, max_open_messages_per_second)});
        if (session->on_message) guard(stream, [&] { session->on_message(std::move(message)); });
    }
    if (stream.delivered < stream.messages.size()) return;
    stream.messages.clear();
    stream.delivered = 0;
    if (!stream.request_ended || stream.half_close_told || session->paused || stream.ending) return;
    stream.half_close_told = true;
    if (session->on_half_closed) guard(stream, [&] { session->on_half_closed(); });
}

void ServerConnection::closed(std::int32_t id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const auto stream = std::move(found->second);
    streams_.erase(found);
    release_headers(*stream);
    release_buffered(*stream);
    if (stream->counts_as_open) --open_streams_;
    drop_queue(*stream);
    last_busy_ = now_;
    if (const auto call = stream->call.lock()) call->gone = true;
    if (stream->session == nullptr) return;

    --service_.sessions;
    auto& session = *stream->session;
    session.closed = true;
    std::optional<Error> why = stream->ending ? stream->ending->error() : std::nullopt;
    if (!stream->ending)
        why = Error{ErrorCode::unavailable, fmt::format("{}: {} ({})", stream->path, closing_reason_, peer_->address)};
    const auto callback = std::move(session.on_closed);
    if (callback) caught(stream->path, [&] { callback(why); });
    session.on_message = nullptr;
    session.on_half_closed = nullptr;
    session.on_drained = nullptr;
    session.on_closed = nullptr;
}

bool ServerConnection::receive(std::string_view bytes, ServerClock::time_point now) {
    now_ = last_received_ = now;
    pinged_ = false;
    if (failed_) return false;
    const ssize_t taken =
        nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    failed_ = taken < 0;
    return !failed_;
}

Result<void> ServerConnection::tick(ServerClock::time_point now) {
    now_ = now;
    const auto& limits = service_.options;
    std::vector<std::int32_t> late;
    for (const auto& [id, stream] : streams_) {
        const auto age = now - stream->since;
        if (stream->phase == ServerStream::Phase::headers && age > limits.request_timeout)
            return fail(ErrorCode::unavailable, "its request headers did not arrive within {} ms",
                        limits.request_timeout.count());
        const bool request_late =
            stream->phase == ServerStream::Phase::body && !stream->ending && age > limits.request_timeout;
        const bool reply_late = stream->ending && age > limits.stall_timeout;
        if (request_late || reply_late) late.push_back(id);
    }
    for (const auto id : late) {
        auto& stream = *find(id);
        if (stream.ending)
            nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
        else
            end(stream, Ending{Status::deadline_exceeded, fmt::format("{}: the request did not arrive within {} ms",
                                                                      stream.path, limits.request_timeout.count())});
    }

    if (busy()) {
        last_busy_ = now;
        const auto silent = now - last_received_;
        if (pinged_ && silent > limits.keepalive_interval + limits.keepalive_timeout)
            return fail(ErrorCode::unavailable, "it left a ping unanswered for {} ms",
                        limits.keepalive_timeout.count());
        if (!pinged_ && silent > limits.keepalive_interval) {
            nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
            pinged_ = true;
        }
    } else if (!draining_ && now - last_busy_ > (any_call_ && known_ ? limits.idle_timeout : limits.request_timeout)) {
        drain("the connection was idle");
    }
    return {};
}

}  // namespace spur::wire
