// TCP sockets as both sides need them: non-blocking, close-on-exec, no delay, and told to notice a dead peer.
#pragma once

#include "core/base/result.hpp"
#include "core/text/endpoint.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace spur::wire {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd();
    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_{-1};
};

// Tries each address of the host in turn, until one accepts or the deadline passes.
Result<Fd> connect_to(const Endpoint& endpoint, std::chrono::steady_clock::time_point deadline);

Result<Fd> listen_on(const Endpoint& endpoint);
Result<std::uint16_t> local_port(int fd);
bool is_peer_local(int fd);  // connected over loopback
Result<Fd> accept_from(int listener,
                       std::string& peer_address);  // ErrorCode::limit: out of descriptors; not_found: nobody waits

enum class Moved : std::uint8_t { some, none_now, closed };
// `count` is how many bytes moved. closed: the peer has gone; `why` says how.
Moved receive_bytes(int fd, char* buffer, std::size_t room, std::size_t& count, std::string& why);
Moved send_bytes(int fd, std::string_view bytes, std::size_t& count, std::string& why);

// poll(2) for one descriptor; false when the deadline passes first.
bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline);

}  // namespace spur::wire
