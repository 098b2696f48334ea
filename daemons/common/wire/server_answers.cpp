// The server's HTTP/2 connection, sending side: replies, session messages, endings and proofs as nghttp2 wants them.
#include "daemons/common/wire/server_connection.hpp"

#include <nghttp2/nghttp2.h>

#include <array>

namespace spur::wire {
namespace {

nghttp2_nv field(std::string_view name, std::string_view value, std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), flags};
}

// The header fields of an ending. Lives until nghttp2 has copied them.
class EndingFields {
public:
    explicit EndingFields(const Ending& ending)
        : status_(std::to_string(static_cast<unsigned>(ending.status))), message_(percent_encode(ending.message)) {
        for (const auto& [name, value] : ending.trailers) trailers_.add(name, printable(value));
    }
    void append_to(std::vector<nghttp2_nv>& fields) const {
        fields.push_back(field("grpc-status", status_));
        if (!message_.empty()) fields.push_back(field("grpc-message", message_, NGHTTP2_NV_FLAG_NO_INDEX));
        for (const auto& [name, value] :
             trailers_)  // a proof is never the same twice: keep it out of the compression table
            fields.push_back(
                field(name, value, name == auth_reply_key ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE));
    }

private:
    std::string status_, message_;
    Metadata trailers_;
};

}  // namespace

// Fills DATA frames from the stream's queue; after the last message come the trailers.
struct ServerAnswers {
    static ssize_t fill(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t room,
                        std::uint32_t* flags, nghttp2_data_source* source, void* user) {
        auto& self = *static_cast<ServerConnection*>(user);
        auto& stream = *static_cast<ServerStream*>(source->ptr);
        std::size_t filled = 0;
        while (filled < room && !stream.outgoing.empty()) {
            auto& message = stream.outgoing.front();
            filled += message.take(reinterpret_cast<char*>(buffer) + filled, room - filled);
            if (message.left() == 0) stream.outgoing.pop_front();
        }
        if (filled > 0) stream.since = self.now_;
        self.count_unread(-static_cast<std::ptrdiff_t>(filled));
        if (stream.session != nullptr) stream.session->queued -= filled;
        if (stream.session != nullptr && filled > 0 && stream.outgoing.empty()) self.drained_.push_back(id);
        if (!stream.outgoing.empty()) return static_cast<ssize_t>(filled);
        if (!stream.ending) return filled > 0 ? static_cast<ssize_t>(filled) : ssize_t{NGHTTP2_ERR_DEFERRED};

        std::vector<nghttp2_nv> fields;
        const EndingFields ending{*stream.ending};
        ending.append_to(fields);
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (nghttp2_submit_trailer(session, id, fields.data(), fields.size()) == 0)
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        return static_cast<ssize_t>(filled);
    }
};

std::optional<std::string> ServerConnection::proof_for(const ServerStream& stream, std::string_view reply) {
    Authenticator* authenticator = service_.options.authenticator.get();
    if (authenticator == nullptr || !stream.authenticated || !authenticator->gives_proof()) return std::nullopt;
    auto proof = authenticator->prove(stream.path, stream.credential, sha256(reply));
    if (proof) return *std::move(proof);
    service_.warn(fmt::format("{}: no proof for {}: {}", stream.path, peer_->address, proof.error().text));
    return std::nullopt;
}

void ServerConnection::submit_headers(ServerStream& stream, bool packed, const std::optional<std::string>& proof) {
    std::array<nghttp2_nv, 5> fields{field(":status", "200"), field("content-type", "application/grpc")};
    std::size_t count = 2;
    if (packed) fields[count++] = field("grpc-encoding", "gzip");
    if (stream.negotiates) fields[count++] = field(accept_encoding_key, accepted_encodings);
    if (proof) fields[count++] = field(auth_reply_key, *proof, NGHTTP2_NV_FLAG_NO_INDEX);
    nghttp2_data_provider body{};
    body.source.ptr = &stream;
    body.read_callback = ServerAnswers::fill;
    nghttp2_submit_response(session_, stream.id, fields.data(), count, &body);
    stream.headers_submitted = true;
    stream.since = now_;
}

void ServerConnection::reply(ServerStream& stream, Order order) {
    if (stream.ending) return;
    const auto proof = proof_for(stream, order.bytes);
    const bool packed = !order.packed.empty();
    if (!queue(stream, order.take_message()))
        return end(stream, Ending{Status::resource_exhausted,
                                  fmt::format("{}: {} bytes of answers wait to be read on this connection, {} on all; "
                                              "read them before you ask for more",
                                              stream.path, unread_, service_.unread.load())});
    stream.ending = std::move(order.ending);
    if (proof) stream.ending->trailers.add(auth_reply_key, *proof);
    submit_headers(stream, packed, std::nullopt);
}

void ServerConnection::end(ServerStream& stream, Ending ending) {
    if (stream.ending) return;
    if (ending.status != Status::ok) ++service_.failed_calls;
    release_buffered(stream);
    stream.ending = std::move(ending);
    stream.since = now_;
    if (stream.headers_submitted) {
        nghttp2_session_resume_data(session_, stream.id);
        return;
    }
    const auto* leader = stream.ending->trailers.find(leader_key);
    const auto covered =
        failure_digest_text(stream.ending->status, stream.ending->message, leader != nullptr ? *leader : "");
    if (const auto proof = proof_for(stream, covered)) stream.ending->trailers.add(auth_reply_key, *proof);
    std::vector<nghttp2_nv> fields{field(":status", "200"), field("content-type", "application/grpc")};
    const EndingFields rest{*stream.ending};
    rest.append_to(fields);
    nghttp2_submit_response(session_, stream.id, fields.data(), fields.size(), nullptr);
    stream.headers_submitted = true;
}

void ServerConnection::abort(ServerStream& stream, Ending ending) {
    if (stream.session != nullptr) {
        stream.session->closed = true;
        for (const auto& message : stream.outgoing) stream.session->queued -= message.left();
    }
    drop_queue(stream);
    const bool blocked =
        stream.headers_submitted && (nghttp2_session_get_stream_remote_window_size(session_, stream.id) <= 0 ||
                                     nghttp2_session_get_remote_window_size(session_) <= 0);
    end(stream, std::move(ending));
    // Trailers follow data, and data waits for the peer's window: one that does not read is told by a reset.
    if (blocked) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_ENHANCE_YOUR_CALM);
}

void ServerConnection::answer_http(ServerStream& stream, std::string_view status) {
    stream.ending = Ending{Status::unknown, fmt::format("HTTP {}", status)};
    const auto answer = field(":status", status);
    nghttp2_submit_response(session_, stream.id, &answer, 1, nullptr);
    stream.headers_submitted = true;
}

// What cannot be had for the caller is not counted: stream.buffered stays below `bytes`.
void ServerConnection::set_buffered(ServerStream& stream, std::size_t bytes) {
    if (bytes > stream.buffered && !service_.charge(stream.caller.uid, bytes - stream.buffered)) return;
    if (bytes < stream.buffered) service_.discharge(stream.caller.uid, stream.buffered - bytes);
    service_.buffered += bytes - stream.buffered;
    stream.buffered = bytes;
}

void ServerConnection::release_headers(ServerStream& stream) {
    service_.headers -= std::exchange(stream.counted_headers, 0);
}

void ServerConnection::count_unread(std::ptrdiff_t bytes) {
    unread_ += static_cast<std::size_t>(bytes);
    service_.unread += static_cast<std::size_t>(bytes);
}

// False: too much waits for this peer already, or for all of them together. One answer it may always have.
bool ServerConnection::queue(ServerStream& stream, OutgoingMessage message) {
    const auto size = message.left();
    const auto& limits = service_.options;
    if ((unread_ > 0 && unread_ + size > limits.max_unread_bytes) ||
        service_.unread + size > limits.max_all_unread_bytes)
        return false;
    count_unread(static_cast<std::ptrdiff_t>(size));
    stream.outgoing.push_back(std::move(message));
    return true;
}

void ServerConnection::drop_queue(ServerStream& stream) {
    for (const auto& message : stream.outgoing) count_unread(-static_cast<std::ptrdiff_t>(message.left()));
    stream.outgoing.clear();
}

void ServerConnection::open_session(ServerStream& stream) {
    stream.phase = ServerStream::Phase::handled;
    stream.since = now_;
    auto state = std::make_shared<SessionState>();
    state->route = Route{inbox_, id_, stream.id, stream.accepts_gzip};
    state->method = stream.path;
    state->peer = peer_;
    state->caller = stream.caller;
    state->metadata = std::move(stream.metadata);
    state->max_queue = service_.options.max_session_queue_bytes;
    stream.session = state;
    ++service_.sessions;
    guard(stream, [&] { stream.method->stream(Session{std::move(state)}); });
    if (!stream.ending) submit_headers(stream, stream.accepts_gzip, proof_for(stream, {}));
}

void ServerConnection::execute(Order order) {
    ServerStream* stream = find(order.stream);
    if (stream == nullptr) return;
    switch (order.kind) {
        case Order::Kind::reply:
            return reply(*stream, std::move(order));
        case Order::Kind::end:
            return end(*stream, std::move(order.ending));
        case Order::Kind::abort:
            service_.warn(order.ending.message);
            return abort(*stream, std::move(order.ending));
        case Order::Kind::send: {
            auto message = order.take_message();
            const auto size = message.left();
            if (stream->ending) {
                stream->session->queued -= size;
                return;
            }
            if (!queue(*stream, std::move(message))) {
                stream->session->queued -= size;
                const auto why = fmt::format("{}: the peer at {} does not read: {} bytes wait on its connection",
                                             stream->path, peer_->address, unread_);
                service_.warn(why);
                return abort(*stream, Ending::of({ErrorCode::limit, why}));
            }
            nghttp2_session_resume_data(session_, stream->id);
            return;
        }
        case Order::Kind::resume:
            if (stream->unconsumed > 0) nghttp2_session_consume_stream(session_, stream->id, stream->unconsumed);
            stream->unconsumed = 0;
            return deliver(*stream);
    }
}

bool ServerConnection::produce(std::string& out, std::size_t enough) {
    while (out.size() < enough) {
        const std::uint8_t* data = nullptr;
        const ssize_t length = nghttp2_session_mem_send(session_, &data);
        if (length < 0) failed_ = true;
        if (length <= 0) break;
        out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(length));
    }
    for (const auto id : std::exchange(drained_, {})) {
        ServerStream* stream = find(id);
        if (stream == nullptr || !stream->outgoing.empty() || !stream->session->on_drained) continue;
        guard(*stream, [&] { stream->session->on_drained(); });
    }
    return !finished();
}

void ServerConnection::drain(std::string_view why) {
    if (draining_) return;
    draining_ = true;
    closing_reason_ = why;
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                          NGHTTP2_NO_ERROR, nullptr, 0);
    for (const auto& [id, stream] : streams_) {
        if (stream->session == nullptr) continue;
        stream->session->closed = true;
        end(*stream, Ending::of({ErrorCode::unavailable, fmt::format("{}: {}", stream->path, why)}));
    }
}

bool ServerConnection::finished() const {
    return failed_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

}  // namespace spur::wire
