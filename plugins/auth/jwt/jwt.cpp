// Encoding, signing and verifying tokens.
#include "jwt.hpp"

#include <nlohmann/json.hpp>

#include "core/base/sha256.hpp"

namespace spur::jwt {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Result<nlohmann::json> parse_part(std::string_view part, std::string_view what) {
    SPUR_TRY(const auto text, decode_base64url(part));
    auto parsed = nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object()) return fail(ErrorCode::denied, "the token's {} is not a JSON object", what);
    return parsed;
}

Result<std::int64_t> time_claim(const nlohmann::json& claims, const char* name) {
    const auto found = claims.find(name);
    if (found == claims.end()) return fail(ErrorCode::denied, "the token has no {}", name);
    if (!found->is_number()) return fail(ErrorCode::denied, "the token's {} is not a number", name);
    const auto value = found->get<double>();
    if (!(value >= 0 && value < 9e15)) return fail(ErrorCode::denied, "the token's {} makes no sense", name);
    return static_cast<std::int64_t>(value);
}

Result<std::vector<std::string>> list_claim(const nlohmann::json& value, const char* name) {
    if (value.is_string()) return std::vector{value.get<std::string>()};
    std::vector<std::string> texts;
    if (!value.is_array()) return fail(ErrorCode::denied, "the token's {} is not a list of texts", name);
    for (const auto& each : value) {
        if (!each.is_string()) return fail(ErrorCode::denied, "the token's {} is not a list of texts", name);
        texts.push_back(each.get<std::string>());
    }
    return texts;
}

// What makes a token worth less: one that is there and cannot be read is not passed over.
Result<void> read_limits(const nlohmann::json& body, Claims& claims) {
    if (const auto found = body.find("aud"); found != body.end()) {
        SPUR_TRY(claims.audience, list_claim(*found, "aud"));
        if (claims.audience.empty()) return fail(ErrorCode::denied, "the token is meant for nobody (\"aud\" is empty)");
    }
    if (const auto found = body.find("scope"); found != body.end()) {
        if (!found->is_string()) return fail(ErrorCode::denied, "the token's scope is not a text");
        claims.scopes = found->get<std::string>();
    }
    if (const auto found = body.find("groups"); found != body.end()) {
        SPUR_TRY(claims.groups, list_claim(*found, "groups"));
    }
    return {};
}

}  // namespace

std::string encode_base64url(std::string_view bytes) {
    std::string text;
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const unsigned char byte : bytes) {
        buffer = (buffer << 8) | byte;
        for (bits += 8; bits >= 6; bits -= 6) text += alphabet[(buffer >> (bits - 6)) & 63];
    }
    if (bits > 0) text += alphabet[(buffer << (6 - bits)) & 63];
    return text;
}

Result<std::string> decode_base64url(std::string_view text) {
    std::string bytes;
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char letter : text) {
        const auto value = alphabet.find(letter);
        if (value == std::string_view::npos) return fail(ErrorCode::denied, "the token is not base64url");
        buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
        if ((bits += 6) >= 8) bytes += static_cast<char>((buffer >> (bits -= 8)) & 0xff);
    }
    if (bits >= 6 || (buffer & ((1U << bits) - 1)) != 0) return fail(ErrorCode::denied, "the token is not base64url");
    return bytes;
}

std::string make(const Claims& claims, std::string_view key) {
    nlohmann::json body{{"exp", claims.expires}, {"iat", claims.issued}, {"sun", claims.user}};
    if (!claims.audience.empty()) body["aud"] = claims.audience;
    if (claims.scopes) body["scope"] = *claims.scopes;
    if (claims.groups) body["groups"] = *claims.groups;
    const auto head = encode_base64url(R"({"alg":"HS256","typ":"JWT"})") + "." + encode_base64url(body.dump());
    return head + "." + encode_base64url(as_bytes(hmac_sha256(key, head)));
}

Result<Claims> verify(std::string_view token, std::string_view key, std::int64_t now, std::int64_t leeway_s) {
    if (token.empty()) return fail(ErrorCode::denied, "there is no token");
    if (token.size() > 16384) return fail(ErrorCode::denied, "the token is too long");
    const auto first = token.find('.');
    const auto last = token.rfind('.');
    if (first == std::string_view::npos || first == last || token.find('.', first + 1) != last)
        return fail(ErrorCode::denied, "the token does not have three parts");
    SPUR_TRY(const auto header, parse_part(token.substr(0, first), "header"));
    if (header.value("alg", std::string{}) != "HS256")
        return fail(ErrorCode::denied, "the token's algorithm is not HS256, the only one this plugin accepts");
    SPUR_TRY(const auto signature, decode_base64url(token.substr(last + 1)));
    const auto expected = hmac_sha256(key, token.substr(0, last));
    Digest given{};
    if (signature.size() != given.size()) return fail(ErrorCode::denied, "the token's signature has the wrong length");
    std::copy(signature.begin(), signature.end(), reinterpret_cast<char*>(given.data()));
    if (!same_digest(given, expected)) return fail(ErrorCode::denied, "the token was signed with another key");

    SPUR_TRY(const auto body, parse_part(token.substr(first + 1, last - first - 1), "claims"));
    Claims claims;
    SPUR_TRY(claims.expires, time_claim(body, "exp"));
    if (claims.expires + leeway_s < now)
        return fail(ErrorCode::denied, "the token expired {} s ago", now - claims.expires);
    if (body.contains("iat")) {
        SPUR_TRY(claims.issued, time_claim(body, "iat"));
        if (claims.issued > now + leeway_s)
            return fail(ErrorCode::denied, "the token is from the future; are the clocks in step?");
    }
    for (const char* name : {"sun", "username"})
        if (const auto found = body.find(name); claims.user.empty() && found != body.end() && found->is_string())
            claims.user = found->get<std::string>();
    if (claims.user.empty()) return fail(ErrorCode::denied, "the token names no user (claim \"sun\")");
    SPUR_CHECK(read_limits(body, claims));
    return claims;
}

}  // namespace spur::jwt
