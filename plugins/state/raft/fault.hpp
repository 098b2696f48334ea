// What can go wrong in state/raft: a status of the ABI with a sentence for the operator.
#pragma once

#include <fmt/format.h>
#include <spur/plugin/abi.h>

#include <expected>
#include <string>
#include <utility>

#include "core/base/result.hpp"  // SPUR_TRY, SPUR_CHECK

namespace spur::raftlog {

struct Fault {
    spur_status code = SPUR_E_INTERNAL;
    std::string text;
};

template <class T>
using Outcome = std::expected<T, Fault>;

template <class... Args>
[[nodiscard]] std::unexpected<Fault> fault(spur_status code, fmt::format_string<Args...> text, Args&&... args) {
    return std::unexpected(Fault{code, fmt::format(text, std::forward<Args>(args)...)});
}

}  // namespace spur::raftlog
