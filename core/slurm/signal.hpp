// Signals by name and number, --signal=[R][B]:USR1@60, and exit codes as 0:15.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur {

// "TERM", "SIGTERM", "term", "15".
Result<int> parse_signal(std::string_view text);
std::string signal_name(int signal);  // "TERM"; unknown: the number

// --signal: send `number` when `before_s` seconds are left.
struct WarningSignal {
    int number{};
    std::uint32_t before_s{60};
    bool batch_only{};   // B: the batch shell only, not the steps
    bool reservation{};  // R: may be sent to let a reservation begin
    bool operator==(const WarningSignal&) const = default;

    static Result<WarningSignal> parse(std::string_view text);
    std::string str() const;  // "B:USR1@60"
};

std::string print_exit(std::uint32_t wait_status);  // "1:0", "0:15"

}  // namespace spur
