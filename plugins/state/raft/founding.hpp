// Should a controller that has nothing found a group, or join one?
//
// Founding twice is the one mistake that loses everything: an empty group beside a full one. So a fresh controller
// first asks all the others. If any of them belongs to a group that has had a leader, it joins. It founds only when all
// have answered in the same round and none knows better; once one of them has decided so, the rest may follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "address.hpp"
#include "greeting.hpp"

namespace spur::raftlog {

enum class Decision { wait, found, join };

// `answers`: one per other controller, empty where there was none this round. `founders` is our own digest.
Decision decide_founding(std::span<const std::optional<Greeting>> answers, std::uint64_t founders);

// The same for the same set of addresses, in whatever order.
std::uint64_t founders_digest(const std::vector<Address>& hosts);

}  // namespace spur::raftlog
