// Asking the kernel for ports.
#include "ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace spur::test {
namespace {

// Binds to `port` on loopback (0: any) and returns the port it got, or 0.
std::uint16_t try_port(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                       getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

}  // namespace

std::uint16_t free_port_pair() {
    for (;;) {
        const auto port = try_port(0);
        if (port != 0 && port < 65000 && try_port(static_cast<std::uint16_t>(port + 100)) != 0) return port;
    }
}

}  // namespace spur::test
