// TCP sockets: connecting, listening, moving bytes.
#include "daemons/common/wire/socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace spur::wire {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> look_up(const Endpoint& endpoint, int flags) {
    // The commands' common case must not read the resolver's configuration.
    const std::string host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host;
    const std::string port = std::to_string(endpoint.port);
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    hints.ai_flags = flags | AI_NUMERICHOST | AI_NUMERICSERV;
    int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (error != 0) {
        hints.ai_flags = flags | AI_NUMERICSERV;
        error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    }
    if (error != 0)
        return fail(ErrorCode::unavailable, "host \"{}\" cannot be resolved: {}", endpoint.host,
                    error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
    return Addresses{found, &freeaddrinfo};
}

void set_option(int fd, int level, int name, int value) { setsockopt(fd, level, name, &value, sizeof value); }

void tune(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 20);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 40000);
}

Result<Fd> connect_address(const addrinfo& address, std::chrono::steady_clock::time_point deadline) {
    Fd fd{socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd) return fail(ErrorCode::internal, "{}", std::strerror(errno));
    tune(fd.get());
    if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return fd;
    if (errno != EINPROGRESS) return fail(ErrorCode::unavailable, "{}", std::strerror(errno));
    if (!wait_for(fd.get(), POLLOUT, deadline)) return fail(ErrorCode::unavailable, "no answer in time");
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail(ErrorCode::unavailable, "{}", std::strerror(error));
    return fd;
}

}  // namespace

Fd::~Fd() {
    if (fd_ >= 0) close(fd_);
}

Result<Fd> connect_to(const Endpoint& endpoint, std::chrono::steady_clock::time_point deadline) {
    SPUR_TRY(const auto addresses, look_up(endpoint, 0));
    Error last{ErrorCode::unavailable, "it has no address"};
    for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
        auto fd = connect_address(*address, deadline);
        if (fd) return fd;
        last = std::move(fd).error();
    }
    return fail(last.code, "cannot connect to {}: {}", endpoint.text(), last.text);
}

Result<Fd> listen_on(const Endpoint& endpoint) {
    SPUR_TRY(const auto addresses, look_up(endpoint, AI_PASSIVE));
    int error = EADDRNOTAVAIL;
    for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
        Fd fd{socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (!fd) {
            error = errno;
            continue;
        }
        set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (address->ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
        if (bind(fd.get(), address->ai_addr, address->ai_addrlen) == 0 && listen(fd.get(), 4096) == 0) return fd;
        error = errno;
    }
    return fail(ErrorCode::unavailable, "cannot listen on {}: {}{}", endpoint.text(), std::strerror(error),
                error == EADDRINUSE ? "; another daemon has this port, stop it or choose another port" : "");
}

Result<std::uint16_t> local_port(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return fail(ErrorCode::internal, "getsockname: {}", std::strerror(errno));
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

bool is_peer_local(int fd) {
    const auto host_of = [fd](int (*ask)(int, sockaddr*, socklen_t*)) {
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        char host[NI_MAXHOST] = "?";
        if (ask(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0)
            getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
        return std::string{host};
    };
    const auto peer = host_of(getpeername);
    return Endpoint{peer, 0}.is_loopback() || (peer != "?" && peer == host_of(getsockname));
}

Result<Fd> accept_from(int listener, std::string& peer_address) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    Fd fd{accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!fd) {
        const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return fail(exhausted ? ErrorCode::limit : ErrorCode::not_found, "accept: {}", std::strerror(errno));
    }
    tune(fd.get());
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
    getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    peer_address =
        std::strchr(host, ':') != nullptr ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
    return fd;
}

Moved receive_bytes(int fd, char* buffer, std::size_t room, std::size_t& count, std::string& why) {
    const ssize_t got = recv(fd, buffer, room, 0);
    count = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got > 0) return Moved::some;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Moved::none_now;
    why = got == 0 ? "the peer closed the connection" : std::strerror(errno);
    return Moved::closed;
}

Moved send_bytes(int fd, std::string_view bytes, std::size_t& count, std::string& why) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    count = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    if (sent > 0) return Moved::some;
    if (sent == 0 || errno == EAGAIN || errno == EINTR) return Moved::none_now;
    why = std::strerror(errno);
    return Moved::closed;
}

bool wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd entry{fd, events, 0};
        const int ready = poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
        if (ready > 0) return true;
        if (ready == 0 && left <= 3'600'000) return false;
        if (ready < 0 && errno != EINTR) return false;
        if (ready < 0 && left <= 0) return false;
    }
}

}  // namespace spur::wire
