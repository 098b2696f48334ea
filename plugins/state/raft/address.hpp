// How members of the group are named: by the address clients use, from which the Raft port follows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fault.hpp"

namespace spur::raftlog {

// Raft listens a hundred ports above the clients' port; below it where that would leave the range.
constexpr std::uint16_t usual_raft_port(std::uint16_t client_port) {
    return static_cast<std::uint16_t>(client_port <= 65435 ? client_port + 100 : client_port - 100);
}

struct Address {
    static constexpr std::uint16_t default_port = 6817;

    std::string host;  // a name or an IP address, lower case, without brackets
    std::uint16_t port = default_port;
    std::uint16_t raft_port = usual_raft_port(default_port);

    // "ctrl1", "ctrl1:6817", "[::1]:6817", "http://ctrl1:6817", each with "/7001" behind it for an unusual Raft port.
    // Port 0, "any", is an address to listen on but not one to be reached at.
    enum class Use { reach, listen };
    static Outcome<Address> parse(std::string_view text, Use use = Use::reach);

    std::string client() const;  // "ctrl1:6817"
    std::string text() const;  // client(), with "/7001" where the Raft port is not the usual one; parse() reads it back
    std::uint64_t id() const;  // the same on every member: it depends on client() alone
    bool is_wildcard() const;  // 0.0.0.0 or ::
    bool operator==(const Address&) const = default;
};

// "host:port" with brackets around an IPv6 host.
std::string join(std::string_view host, std::uint16_t port);

}  // namespace spur::raftlog
