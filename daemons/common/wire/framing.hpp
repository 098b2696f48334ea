// How gRPC puts messages, deadlines and error texts into HTTP/2: the parts both sides share. Pure functions over bytes.
#pragma once

#include "daemons/common/wire/status.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::wire {

// Every message is preceded by five bytes: whether it is compressed (0 or 1), and its length, big-endian.
inline constexpr std::size_t prefix_size = 5;
[[nodiscard]] std::array<char, prefix_size> message_prefix(std::size_t length, bool compressed = false);

// A message with its prefix, handed out piecemeal to whoever fills DATA frames.
class OutgoingMessage {
public:
    explicit OutgoingMessage(std::string message, bool compressed = false)
        : prefix_(message_prefix(message.size(), compressed)), message_(std::move(message)) {}
    [[nodiscard]] std::size_t left() const { return prefix_size + message_.size() - taken_; }
    std::size_t take(char* out, std::size_t room);

private:
    std::array<char, prefix_size> prefix_;
    std::string message_;
    std::size_t taken_{0};
};

// Puts messages together again from DATA frames. Never holds more than the peer has really sent.
class MessageReader {
public:
    using Unpack = RpcResult<std::string> (*)(std::string_view packed, std::size_t max_bytes);
    // Without `unpack`, compressed messages are refused.
    explicit MessageReader(std::size_t max_message_bytes, Unpack unpack = nullptr)
        : max_(max_message_bytes), unpack_(unpack) {}

    // Appends the messages that `bytes` completes, decompressed. An error (too long, not readable) is final.
    RpcResult<void> feed(std::string_view bytes, std::vector<std::string>& messages);
    [[nodiscard]] bool is_between_messages() const { return prefix_held_ == 0; }
    [[nodiscard]] std::size_t held_bytes() const { return message_.size(); }

private:
    RpcResult<void> begin_message();

    std::size_t max_;
    Unpack unpack_;
    std::array<std::uint8_t, prefix_size> prefix_{};
    std::size_t prefix_held_{0};
    std::size_t length_{0};
    std::string message_;
};

// grpc-message: everything but printable ASCII as %XX. Encoding stops before `max_bytes`, at a whole character.
[[nodiscard]] std::string percent_encode(std::string_view text, std::size_t max_bytes = 4096);
[[nodiscard]] std::string percent_decode(std::string_view text);
// Header values must be printable ASCII; anything else becomes '?'.
[[nodiscard]] std::string printable(std::string_view value);

// grpc-timeout: up to eight digits and a unit.
[[nodiscard]] std::string timeout_text(std::chrono::milliseconds timeout);
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_timeout(std::string_view text);

// What the proof in spur-auth-reply covers when a call fails; see auth.hpp.
[[nodiscard]] std::string failure_digest_text(Status status, std::string_view message, std::string_view leader);

}  // namespace spur::wire
