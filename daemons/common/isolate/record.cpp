// Sending and receiving whole records.
#include "daemons/common/isolate/record.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace spur::isolate {
namespace {

constexpr std::uint64_t most_bytes = 1U << 30;
constexpr int patience_ms = 5000;  // with a peer that takes nothing

struct Header {
    std::uint64_t size;
    std::uint64_t call;
    std::uint32_t kind, reserved;
};

}  // namespace

Socket::~Socket() { ::close(fd_); }

bool Socket::is_gone() const {
    pollfd ended{fd_, 0, 0};
    return ::poll(&ended, 1, 0) > 0 && (ended.revents & (POLLHUP | POLLERR)) != 0;
}

void Socket::shut_down() const { ::shutdown(fd_, SHUT_RDWR); }

bool Socket::write(Kind kind, std::uint64_t call, std::string_view bytes) {
    Header header{bytes.size(), call, static_cast<std::uint32_t>(kind), 0};
    iovec parts[2] = {{&header, sizeof(header)}, {const_cast<char*>(bytes.data()), bytes.size()}};
    const std::lock_guard lock{writing_};
    for (std::size_t left = sizeof(header) + bytes.size(); left > 0;) {
        msghdr message{};
        message.msg_iov = parts[0].iov_len > 0 ? parts : parts + 1;
        message.msg_iovlen = parts[0].iov_len > 0 ? 2 : 1;
        const auto sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) {
            pollfd writable{fd_, POLLOUT, 0};
            if (::poll(&writable, 1, patience_ms) > 0) continue;
        }
        if (sent < 0) return false;
        left -= static_cast<std::size_t>(sent);
        for (auto went = static_cast<std::size_t>(sent); auto& part : parts) {
            const auto of_this = std::min(went, part.iov_len);
            part.iov_base = static_cast<char*>(part.iov_base) + of_this;
            part.iov_len -= of_this;
            went -= of_this;
        }
    }
    return true;
}

bool Socket::receive(char* to, std::size_t size, int limit_ms) {
    while (size > 0) {
        if (limit_ms >= 0) {
            pollfd readable{fd_, POLLIN, 0};
            const int ready = ::poll(&readable, 1, limit_ms);
            if (ready < 0 && errno == EINTR) continue;
            if (ready <= 0) return false;
        }
        const auto got = ::recv(fd_, to, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

std::optional<Record> Socket::read(int limit_ms) {
    Header header{};
    if (!receive(reinterpret_cast<char*>(&header), sizeof(header), limit_ms) || header.size > most_bytes)
        return std::nullopt;
    Record record{static_cast<Kind>(header.kind), header.call, std::string(header.size, '\0')};
    if (!receive(record.bytes.data(), record.bytes.size(), limit_ms)) return std::nullopt;
    return record;
}

}  // namespace spur::isolate
