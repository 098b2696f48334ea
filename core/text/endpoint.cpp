// Reading and writing addresses.
#include "core/text/endpoint.hpp"

#include <charconv>

namespace spur {
namespace {

Result<std::uint16_t> parse_port(std::string_view digits, std::string_view whole) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return fail(ErrorCode::invalid, "address \"{}\": \"{}\" is not a port; give a number from 0 to 65535", whole,
                    digits);
    return port;
}

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == ':' || c == '%';
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view text, std::uint16_t default_port) {
    Endpoint endpoint{{}, default_port};
    std::string_view rest = text;
    if (rest.starts_with("http://")) {
        endpoint.scheme = Scheme::plain;
        rest.remove_prefix(7);
    } else if (rest.starts_with("https://")) {
        endpoint.scheme = Scheme::tls;
        rest.remove_prefix(8);
    }
    if (endpoint.scheme != Scheme::as_configured && rest.ends_with('/')) rest.remove_suffix(1);

    std::string_view port;
    if (rest.starts_with('[')) {
        const auto close = rest.find(']');
        if (close == std::string_view::npos)
            return fail(ErrorCode::invalid, "address \"{}\": the bracket is not closed; write [::1]:{}", text,
                        default_port);
        endpoint.host = rest.substr(1, close - 1);
        rest.remove_prefix(close + 1);
        if (!rest.empty() && !rest.starts_with(':'))
            return fail(ErrorCode::invalid, "address \"{}\": only a port may follow the bracket", text);
        if (!rest.empty()) port = rest.substr(1);
        if (rest == ":") return fail(ErrorCode::invalid, "address \"{}\": the port is missing after the colon", text);
    } else if (const auto colon = rest.rfind(':'); colon == std::string_view::npos) {
        endpoint.host = rest;
    } else if (rest.find(':') != colon) {  // a bare IPv6 address has several colons, and no port
        endpoint.host = rest;
    } else {
        endpoint.host = rest.substr(0, colon);
        port = rest.substr(colon + 1);
        if (port.empty()) return fail(ErrorCode::invalid, "address \"{}\": the port is missing after the colon", text);
    }

    if (endpoint.host.empty()) return fail(ErrorCode::invalid, "address \"{}\": the host is missing", text);
    for (const char c : endpoint.host)
        if (!is_host_character(c))
            return fail(ErrorCode::invalid, "address \"{}\": \"{}\" cannot be part of a host name", text, c);
    if (!port.empty()) {
        SPUR_TRY(endpoint.port, parse_port(port, text));
    } else if (default_port == 0) {
        return fail(ErrorCode::invalid, "address \"{}\": a port is needed, as in \"{}:{}\"", text, text,
                    controller_port);
    }
    return endpoint;
}

Result<std::vector<Endpoint>> Endpoint::parse_list(std::string_view text, std::uint16_t default_port) {
    std::vector<Endpoint> endpoints;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find_first_of(", \t", at), text.size());
        if (end > at) {
            SPUR_TRY(auto endpoint, parse(text.substr(at, end - at), default_port));
            endpoints.push_back(std::move(endpoint));
        }
        at = end + 1;
    }
    if (endpoints.empty())
        return fail(ErrorCode::invalid, "no address given; write for instance \"localhost:{}\"", controller_port);
    return endpoints;
}

std::string Endpoint::text() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool Endpoint::is_everywhere() const { return host == "0.0.0.0" || host == "::"; }

bool Endpoint::is_loopback() const { return host == "localhost" || host == "::1" || host.starts_with("127."); }

}  // namespace spur
