// Errors are values with a sentence in them that an operator can act upon at 3 a.m.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace spur {

enum class ErrorCode : std::uint8_t {
    invalid,      // the request itself is wrong; asking again will not help
    not_found,    // what it names does not exist
    conflict,     // not possible in the present state; may be possible later
    denied,       // the caller may not do this
    unavailable,  // something needed is not there now: a peer, a device, a leader
    limit,        // a configured limit would be exceeded
    corrupt,      // stored or received bytes are not what was written
    internal,     // a bug, or the system failed us
};

struct Error {
    ErrorCode code{ErrorCode::internal};
    std::string text;
    std::uint16_t slurm_error{0};  // Slurm's number for it, see core/slurm/refusal.hpp; 0: it has none
    bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

// fail(ErrorCode::invalid, "node \"{}\" is unknown", name): an error ready to be returned from any Result function.
template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
    return std::unexpected(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

}  // namespace spur

// SPUR_TRY(auto x, f()) declares x from f()'s value, or returns f()'s error from the enclosing function.
// SPUR_CHECK(f()) does the same where there is no value to keep.
#define SPUR_CONCAT_(a, b) a##b
#define SPUR_CONCAT(a, b) SPUR_CONCAT_(a, b)
#define SPUR_TRY(declaration, expression) SPUR_TRY_(SPUR_CONCAT(spur_try_, __LINE__), declaration, expression)
#define SPUR_TRY_(temporary, declaration, expression)                     \
    auto temporary = (expression);                                        \
    if (!temporary) return std::unexpected(std::move(temporary).error()); \
    declaration = *std::move(temporary)
#define SPUR_CHECK(expression)                                                                                        \
    do {                                                                                                              \
        if (auto spur_checked = (expression); !spur_checked) return std::unexpected(std::move(spur_checked).error()); \
    } while (false)
