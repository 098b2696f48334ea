// How a client's stream ended: status, HTTP code, reset or lost connection, each with its sentence; and whether the
// server proved that it was the one to say so.
#include "daemons/common/wire/connection.hpp"

#include <nghttp2/nghttp2.h>

namespace spur::wire {
namespace {

Status status_of_http(int http_status) {
    switch (http_status) {
        case 401:
            return Status::unauthenticated;
        case 403:
            return Status::permission_denied;
        case 404:
            return Status::unimplemented;
        case 429:
        case 502:
        case 503:
        case 504:
            return Status::unavailable;
        default:
            return Status::unknown;
    }
}

Status status_of_reset(std::uint32_t http2_error) {
    switch (http2_error) {
        case NGHTTP2_REFUSED_STREAM:
            return Status::unavailable;
        case NGHTTP2_CANCEL:
            return Status::cancelled;
        case NGHTTP2_ENHANCE_YOUR_CALM:
            return Status::resource_exhausted;
        case NGHTTP2_INADEQUATE_SECURITY:
            return Status::permission_denied;
        default:
            return Status::internal;
    }
}

RpcError make_error(Status status, std::string text, bool maybe_processed) {
    return RpcError{{error_code_of(status), std::move(text)}, status, {}, maybe_processed};
}

// The trailers of an error nobody vouches for: a stranger must not be able to send us elsewhere.
Metadata without_leader(const Metadata& trailers) {
    Metadata kept;
    for (const auto& [name, value] : trailers)
        if (name != leader_key) kept.add(name, value);
    return kept;
}

}  // namespace

Result<void> Connection::check_proof(const StreamState& stream, const std::string* proof, const Digest& reply) const {
    if (stream.credentials == nullptr || !stream.credentials->demands_proof()) return {};
    if (proof == nullptr)
        return spur::fail(
            ErrorCode::denied,
            "{}: the server at {} did not prove itself; it may be an impostor, or use another auth plugin",
            stream.method, endpoint_.text());
    const auto verified = stream.credentials->verify_reply(stream.method, stream.credential, reply, *proof);
    if (!verified)
        return spur::fail(ErrorCode::denied, "{}: the server at {} could not prove itself: {}", stream.method,
                          endpoint_.text(), verified.error().text);
    return {};
}

RpcError Connection::judge_without_status(const StreamState& stream, std::uint32_t http2_error) const {
    if (failed_)
        return make_error(failure_status_,
                          fmt::format("{}: lost the connection to {}: {}", stream.method, endpoint_.text(), failure_),
                          may_have_acted(stream));
    if (http2_error != NGHTTP2_NO_ERROR)
        return make_error(status_of_reset(http2_error),
                          fmt::format("{}: {} broke the call off ({})", stream.method, endpoint_.text(),
                                      nghttp2_http2_strerror(http2_error)),
                          http2_error != NGHTTP2_REFUSED_STREAM && may_have_acted(stream));
    if (stream.http_status != 200)
        return make_error(status_of_http(stream.http_status),
                          fmt::format("{}: {} answered HTTP {} and no gRPC status; is this a Spur port?", stream.method,
                                      endpoint_.text(), stream.http_status),
                          may_have_acted(stream));
    return make_error(Status::internal,
                      fmt::format("{}: {} ended the call without a status", stream.method, endpoint_.text()),
                      may_have_acted(stream));
}

std::optional<RpcError> Connection::judge(const StreamState& stream, std::uint32_t http2_error) const {
    if (!stream.grpc_status) return judge_without_status(stream, http2_error);
    const auto status = static_cast<Status>(*stream.grpc_status);
    const Metadata& trailers =
        stream.in_trailers ? stream.trailers : stream.headers;  // "trailers only" come as headers
    const std::string* proof = trailers.find(auth_reply_key);

    if (status != Status::ok) {
        RpcError error = make_error(status, stream.grpc_message, true);
        refine(error, trailers);
        if (error.text.empty())
            error.text = fmt::format("{} at {} failed with {}", stream.method, endpoint_.text(), name_of(status));
        error.trailers = trailers;
        const auto* leader = trailers.find(leader_key);
        const auto text = failure_digest_text(status, stream.grpc_message, leader != nullptr ? *leader : std::string{});
        // An honest server that could not tell who we are cannot prove anything either: its sentence stands, without
        // effect.
        if (!stream.streaming && !check_proof(stream, proof, sha256(text))) error.trailers = without_leader(trailers);
        error.maybe_processed = error.trailers.find(leader_key) == nullptr;
        return error;
    }
    if (stream.streaming) return std::nullopt;  // proven by its headers
    if (stream.messages.size() != 1 || !stream.reader.is_between_messages())
        return make_error(Status::internal,
                          fmt::format("{} at {}: {} messages in a reply that should have one", stream.method,
                                      endpoint_.text(), stream.messages.size()),
                          true);
    if (const auto proven = check_proof(stream, proof, sha256(stream.messages.front())); !proven)
        return make_error(Status::unauthenticated, proven.error().text, true);
    return std::nullopt;
}

void Connection::end_stream(StreamState& stream, std::uint32_t http2_error) {
    if (stream.ended) return;
    stream.error = judge(stream, http2_error);
    stream.ended = true;
    stream.outgoing.clear();
    stream.unsent = 0;
}

}  // namespace spur::wire
