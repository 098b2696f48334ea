// Reading and writing member addresses.
#include "address.hpp"

#include "libraft.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace spur::raftlog {
namespace {

std::optional<std::uint16_t> port_from(std::string_view text, Address::Use use = Address::Use::reach) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > 65535) return std::nullopt;
    if (value == 0 && use == Address::Use::reach) return std::nullopt;
    return static_cast<std::uint16_t>(value);
}

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= 200 && std::ranges::all_of(host, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
    });
}

// Takes ":port" off the end of `rest`; an address in brackets keeps its colons.
Outcome<std::optional<std::uint16_t>> take_port(std::string_view& rest, std::string_view whole, Address::Use use) {
    const auto bracket = rest.rfind(']');
    const auto colon = rest.rfind(':');
    const bool bare_ipv6 = bracket == std::string_view::npos && std::ranges::count(rest, ':') > 1;
    if (colon == std::string_view::npos || bare_ipv6 || (bracket != std::string_view::npos && colon < bracket))
        return std::optional<std::uint16_t>{};
    const auto port = port_from(rest.substr(colon + 1), use);
    if (!port)
        return fault(SPUR_E_INVALID, "\"{}\" has no valid port: write host:port with a port from 1 to 65535", whole);
    rest = rest.substr(0, colon);
    return port;
}

}  // namespace

Outcome<Address> Address::parse(std::string_view text, Use use) {
    auto rest = text;
    for (const std::string_view scheme : {"http://", "https://"})
        if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());

    std::optional<std::uint16_t> raft_port;
    if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
        raft_port = port_from(rest.substr(slash + 1));
        if (!raft_port)
            return fault(SPUR_E_INVALID, "\"{}\": behind the slash belongs the Raft port, 1 to 65535", text);
        rest = rest.substr(0, slash);
    }
    SPUR_TRY(const auto port, take_port(rest, text, use));
    if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
    if (!is_host(rest)) return fault(SPUR_E_INVALID, "\"{}\" is not host or host:port", text);

    Address address;
    address.host = rest;
    std::ranges::transform(address.host, address.host.begin(), [](unsigned char c) { return std::tolower(c); });
    address.port = port.value_or(default_port);
    address.raft_port = raft_port.value_or(usual_raft_port(address.port));
    return address;
}

std::string join(std::string_view host, std::uint16_t port) {
    return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Address::client() const { return join(host, port); }

std::string Address::text() const {
    return raft_port == usual_raft_port(port) ? client() : fmt::format("{}/{}", client(), raft_port);
}

std::uint64_t Address::id() const {
    const auto digest = raft_digest(client().c_str(), 0);
    return digest == 0 ? 1 : digest;
}

bool Address::is_wildcard() const { return host == "0.0.0.0" || host == "::" || host == "*"; }

}  // namespace spur::raftlog
