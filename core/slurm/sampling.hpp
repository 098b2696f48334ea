// --acctg-freq and JobAcctGatherFrequency: how often what tasks use is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.hpp"

namespace spur {

// "10", "task=10", "task=10,energy=0". Nothing but tasks is measured: other intervals than 0 are refused with a sentence,
// and what is no interval at all with ErrorCode::invalid and no sentence of its own.
Result<std::optional<std::uint32_t>> parse_sampling(std::string_view text);

}  // namespace spur
