// Where a daemon listens or is reached: "ctrl1", "ctrl1:6817", "http://ctrl1:6817", "https://ctrl1", "[::1]:6817".
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spur {

inline constexpr std::uint16_t controller_port = 6817, agent_port = 6818, accounting_port = 6819, rest_port = 6820;

struct Endpoint {
    // as_configured: TLS when the channel has TLS options. http:// and https:// say it outright.
    enum class Scheme : std::uint8_t { as_configured, plain, tls };

    std::string host;  // a name or an address, without brackets
    std::uint16_t port{0};
    Scheme scheme{Scheme::as_configured};

    // Without a port in the text, `default_port` is used; 0 there means a port is required. ":0" is accepted
    // (listening).
    static Result<Endpoint> parse(std::string_view text, std::uint16_t default_port = controller_port);
    // Several, separated by commas or spaces, at least one.
    static Result<std::vector<Endpoint>> parse_list(std::string_view text,
                                                    std::uint16_t default_port = controller_port);

    [[nodiscard]] std::string text() const;    // "ctrl1:6817", "[::1]:6817"
    [[nodiscard]] bool is_everywhere() const;  // to listen at, on every interface: nobody can be reached there
    [[nodiscard]] bool is_loopback() const;    // by its name or address: what goes there does not leave this machine
    bool operator==(const Endpoint&) const = default;
};

}  // namespace spur
