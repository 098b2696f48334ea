// One HTTP/2 connection as the server sees it: bytes in, calls to handlers, bytes out. No socket, so that tests and the
// fuzzer can drive it. Owned by one I/O thread.
#pragma once

#include "daemons/common/wire/framing.hpp"
#include "daemons/common/wire/server_state.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct nghttp2_session;

namespace spur::wire {

using ServerClock = std::chrono::steady_clock;
inline constexpr std::string_view accept_encoding_key = "grpc-accept-encoding", accepted_encodings = "identity,gzip";

// One request, from its first header to its last byte in either direction.
struct ServerStream {
    ServerStream(std::int32_t stream_id, std::size_t max_message_bytes) : id(stream_id), reader(max_message_bytes) {}

    std::int32_t id;
    enum class Phase : std::uint8_t { headers, body, handled } phase{Phase::headers};

    std::string http_method, path, content_type, credential, audience, on_behalf_of;
    std::string encoding;          // of its messages; empty: none
    bool negotiates{false};        // the client says which encodings it takes...
    bool accepts_gzip{false};      // ...and this is one of them
    std::optional<Digest> digest;  // of its message, as the credential has it
    std::optional<std::chrono::milliseconds> timeout;
    Metadata metadata;
    std::size_t header_bytes{0};
    std::size_t counted_headers{0};  // of these in Service::headers
    const Service::Method* method{nullptr};
    ServerClock::time_point since{};  // of the current phase, or of the last byte of the answer that moved

    MessageReader reader;
    std::vector<std::string> messages;  // complete, not yet delivered; the first `delivered` of them are
    std::size_t delivered{0};
    std::size_t buffered{0};    // of this stream in Service::buffered
    std::size_t unconsumed{0};  // held back from the client's window while the session is paused
    bool request_ended{false};
    bool half_close_told{false};

    std::weak_ptr<CallState> call;
    std::shared_ptr<SessionState> session;
    bool authenticated{false};
    bool counts_as_open{false};  // in open_streams_
    Caller caller;

    std::deque<OutgoingMessage> outgoing;
    bool headers_submitted{false};
    std::optional<Ending> ending;  // to be sent after `outgoing`
};

class ServerConnection {
public:
    ServerConnection(Service& service, std::shared_ptr<Inbox> inbox, std::uint64_t id, std::shared_ptr<const Peer> peer,
                     ServerClock::time_point now);
    ~ServerConnection();
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;

    // False: the peer breaks the protocol. Send what produce() still gives, then close.
    bool receive(std::string_view bytes, ServerClock::time_point now);
    void execute(Order order);
    // Appends bytes for the peer until `out` holds about `enough`. False: nothing more can be said.
    bool produce(std::string& out, std::size_t enough);

    // Once a second or so. An error: drop the connection, for this reason.
    Result<void> tick(ServerClock::time_point now);
    void drain(std::string_view why);  // no new calls; sessions are closed, calls in progress finish
    [[nodiscard]] bool finished() const;
    [[nodiscard]] bool busy() const { return !streams_.empty(); }
    [[nodiscard]] bool is_known() const { return known_; }  // somebody has shown a good credential

private:
    friend struct ServerCallbacks;
    friend struct ServerAnswers;
    ServerStream* find(std::int32_t id);
    ServerStream& begin(std::int32_t id);
    void take_header(ServerStream& stream, std::string_view name, std::string_view value);
    void headers_complete(ServerStream& stream);
    void take_data(ServerStream& stream, std::string_view bytes);
    void request_complete(ServerStream& stream);
    void closed(std::int32_t id);

    void dispatch_unary(ServerStream& stream);
    void open_session(ServerStream& stream);
    void deliver(ServerStream& stream);
    bool authenticate(ServerStream& stream);
    bool admit(ServerStream& stream);
    bool within_open_rate();
    void count_stranger();
    void refuse_credential(ServerStream& stream, const Error& why);
    // Runs a handler or callback; what it throws ends the stream and nothing else.
    void guard(ServerStream& stream, const std::function<void()>& function);
    std::optional<std::string> caught(std::string_view path, const std::function<void()>& function);

    void reply(ServerStream& stream, Order order);
    void end(ServerStream& stream, Ending ending);
    void abort(ServerStream& stream, Ending ending);
    void answer_http(ServerStream& stream, std::string_view status);
    void submit_headers(ServerStream& stream, bool packed, const std::optional<std::string>& proof);
    [[nodiscard]] std::optional<std::string> proof_for(const ServerStream& stream, std::string_view reply);
    void set_buffered(ServerStream& stream, std::size_t bytes);
    void release_buffered(ServerStream& stream) { set_buffered(stream, 0); }
    void release_headers(ServerStream& stream);
    bool queue(ServerStream& stream, OutgoingMessage message);
    void drop_queue(ServerStream& stream);
    void count_unread(std::ptrdiff_t bytes);

    Service& service_;
    std::shared_ptr<Inbox> inbox_;
    std::uint64_t id_;
    std::shared_ptr<const Peer> peer_;
    nghttp2_session* session_{nullptr};
    std::unordered_map<std::int32_t, std::unique_ptr<ServerStream>> streams_;
    std::vector<std::int32_t> drained_;  // sessions whose queue ran empty during produce()
    std::string closing_reason_{"the client went away"};
    ServerClock::time_point now_, last_received_, last_busy_;
    std::size_t unread_{0};  // bytes of answers that its peer has not taken
    unsigned refusals_{0};
    unsigned open_streams_{0};   // of methods for anyone
    unsigned open_messages_{0};  // for these, in the second that began at open_second_
    ServerClock::time_point open_second_{};
    bool known_;
    bool pinged_{false};
    bool any_call_{false};
    bool draining_{false};
    bool failed_{false};
};

}  // namespace spur::wire
