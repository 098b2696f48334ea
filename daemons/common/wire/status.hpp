// How an RPC ends: gRPC's status codes, the trailers that come with one, and how they map to our own errors.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spur::wire {

// gRPC's numbers; they are the protocol.
enum class Status : std::uint8_t {
    ok = 0,
    cancelled = 1,
    unknown = 2,
    invalid_argument = 3,
    deadline_exceeded = 4,
    not_found = 5,
    already_exists = 6,
    permission_denied = 7,
    resource_exhausted = 8,
    failed_precondition = 9,
    aborted = 10,
    out_of_range = 11,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    data_loss = 15,
    unauthenticated = 16,
};

[[nodiscard]] std::string_view name_of(Status status);   // "UNAVAILABLE"
[[nodiscard]] std::string_view name_of(ErrorCode code);  // "unavailable", as sent in the spur-error trailer
[[nodiscard]] std::optional<ErrorCode> find_error_code(std::string_view name);
[[nodiscard]] Status status_of(ErrorCode code);
[[nodiscard]] ErrorCode error_code_of(Status status);

// Names both sides must agree upon.
inline constexpr std::string_view auth_key = "spur-auth";              // request: the caller's credential
inline constexpr std::string_view audience_key = "spur-audience";      // request: the server the credential is for
inline constexpr std::string_view behalf_key = "spur-on-behalf-of";    // request: the uid as whom a front end asks
inline constexpr std::string_view challenge_key = "spur-challenge";    // trailer: what the next credential must answer
inline constexpr std::string_view digest_key = "spur-digest";          // request: SHA-256 of its message, hexadecimal
inline constexpr std::string_view auth_reply_key = "spur-auth-reply";  // reply: the server's proof of itself
inline constexpr std::string_view leader_key =
    "spur-leader";  // trailer: nothing was changed here, write there (empty: no leader now)
// Unknown SETTINGS of the server's first frame, the two halves of Audience::instance. Others skip what they do not
// know.
inline constexpr std::uint16_t instance_high_setting = 0xf590, instance_low_setting = 0xf591;
inline constexpr std::string_view error_key = "spur-error";  // trailer: name_of(ErrorCode)
inline constexpr std::string_view errno_key = "spur-errno";  // trailer: Error::slurm_error, where there is one
inline constexpr std::string_view as_of_key =
    "spur-as-of";  // trailer of a reply: nobody could confirm it, and it is from then (unix seconds)

// Header fields beside the call's own: lower-case names, printable ASCII values, in the order they were added.
class Metadata {
public:
    using Field = std::pair<std::string, std::string>;
    Metadata() = default;
    Metadata(std::initializer_list<Field> fields) : fields_(fields) {}

    void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
    [[nodiscard]] const std::string* find(std::string_view name) const {
        for (const auto& field : fields_)
            if (field.first == name) return &field.second;
        return nullptr;
    }
    [[nodiscard]] auto begin() const { return fields_.begin(); }
    [[nodiscard]] auto end() const { return fields_.end(); }
    [[nodiscard]] bool empty() const { return fields_.empty(); }
    [[nodiscard]] std::size_t size() const { return fields_.size(); }

private:
    std::vector<Field> fields_;
};

// What the trailers say of an error beside its status: our code and Slurm's number.
void refine(Error& error, const Metadata& trailers);

// An Error that remembers how the call ended. Converts to a plain Error, so SPUR_TRY passes it up from any Result
// function.
struct RpcError : Error {
    Status status{Status::unknown};
    Metadata trailers;
    // The request may have reached a server that acted upon it. False: certainly nothing happened, asking again is
    // safe.
    bool maybe_processed{false};
};

template <class T>
using RpcResult = std::expected<T, RpcError>;

template <class... Args>
[[nodiscard]] std::unexpected<RpcError> rpc_fail(Status status, fmt::format_string<Args...> text, Args&&... args) {
    return std::unexpected(
        RpcError{{error_code_of(status), fmt::format(text, std::forward<Args>(args)...)}, status, {}, false});
}

}  // namespace spur::wire
