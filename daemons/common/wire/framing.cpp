// gRPC's message prefix, percent encoding and timeouts.
#include "daemons/common/wire/framing.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace spur::wire {

std::array<char, prefix_size> message_prefix(std::size_t length, bool compressed) {
    return {static_cast<char>(compressed), static_cast<char>(length >> 24), static_cast<char>(length >> 16),
            static_cast<char>(length >> 8), static_cast<char>(length)};
}

std::size_t OutgoingMessage::take(char* out, std::size_t room) {
    std::size_t copied = 0;
    if (taken_ < prefix_size) {
        copied = std::min(room, prefix_size - taken_);
        std::memcpy(out, prefix_.data() + taken_, copied);
        taken_ += copied;
    }
    const std::size_t rest = std::min(room - copied, left());
    if (taken_ >= prefix_size && rest > 0) {
        std::memcpy(out + copied, message_.data() + (taken_ - prefix_size), rest);
        taken_ += rest;
        copied += rest;
    }
    return copied;
}

RpcResult<void> MessageReader::begin_message() {
    if (prefix_[0] > 1 || (prefix_[0] == 1 && unpack_ == nullptr))
        return rpc_fail(Status::internal, "a compressed message arrived, and no encoding was agreed upon");
    length_ = std::size_t{prefix_[1]} << 24 | std::size_t{prefix_[2]} << 16 | std::size_t{prefix_[3]} << 8 | prefix_[4];
    if (length_ > max_)
        return rpc_fail(Status::resource_exhausted, "a message of {} bytes is over the limit of {} bytes", length_,
                        max_);
    message_.reserve(std::min<std::size_t>(length_, 64 * 1024));
    return {};
}

RpcResult<void> MessageReader::feed(std::string_view bytes, std::vector<std::string>& messages) {
    while (!bytes.empty()) {
        if (prefix_held_ < prefix_size) {
            const std::size_t taken = std::min(bytes.size(), prefix_size - prefix_held_);
            std::memcpy(prefix_.data() + prefix_held_, bytes.data(), taken);
            prefix_held_ += taken;
            bytes.remove_prefix(taken);
            if (prefix_held_ < prefix_size) return {};
            SPUR_CHECK(begin_message());
        }
        const std::size_t taken = std::min(bytes.size(), length_ - message_.size());
        message_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (message_.size() < length_) return {};
        if (prefix_[0] == 1) {
            SPUR_TRY(message_, unpack_(message_, max_));
        }
        messages.push_back(std::move(message_));
        message_.clear();
        prefix_held_ = 0;
    }
    return {};
}

std::string percent_encode(std::string_view text, std::size_t max_bytes) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t next = at + 1;  // keep the bytes of one UTF-8 character together
        while (next < text.size() && (text[next] & 0xc0) == 0x80) ++next;
        std::string character;
        for (; at < next; ++at) {
            const auto byte = static_cast<unsigned char>(text[at]);
            if (byte >= 0x20 && byte < 0x7f && byte != '%')
                character += text[at];
            else
                character += {'%', digits[byte >> 4], digits[byte & 15]};
        }
        if (encoded.size() + character.size() > max_bytes) break;
        encoded += character;
    }
    return encoded;
}

std::string percent_decode(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned byte = 0;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16).ptr == text.data() + at + 3) {
            decoded += static_cast<char>(byte);
            at += 2;
        } else {
            decoded += text[at];
        }
    }
    return decoded;
}

std::string printable(std::string_view value) {
    std::string clean(value);
    for (auto& c : clean)
        if (c < 0x20 || c >= 0x7f) c = '?';
    return clean;
}

std::string timeout_text(std::chrono::milliseconds timeout) {
    const auto ms = std::max<std::int64_t>(timeout.count(), 1);
    if (ms < 100'000'000) return fmt::format("{}m", ms);
    return fmt::format("{}S", std::min<std::int64_t>(ms / 1000, 99'999'999));
}

std::optional<std::chrono::milliseconds> parse_timeout(std::string_view text) {
    if (text.size() < 2 || text.size() > 9) return std::nullopt;
    std::int64_t count = 0;
    const char* unit = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(text.data(), unit, count);
    if (error != std::errc{} || end != unit || count < 0) return std::nullopt;
    switch (*unit) {
        case 'H':
            return std::chrono::hours{count};
        case 'M':
            return std::chrono::minutes{count};
        case 'S':
            return std::chrono::seconds{count};
        case 'm':
            return std::chrono::milliseconds{count};
        case 'u':
            return std::chrono::milliseconds{count / 1000};
        case 'n':
            return std::chrono::milliseconds{count / 1'000'000};
        default:
            return std::nullopt;
    }
}

std::string failure_digest_text(Status status, std::string_view message, std::string_view leader) {
    return fmt::format("{}\n{}\n{}", static_cast<unsigned>(status), message, leader);
}

}  // namespace spur::wire
