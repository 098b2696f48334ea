// The secret that makes a process a controller: 32 bytes derived from a file only its owner can read.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fault.hpp"

namespace spur::raftlog {

using Key = std::array<std::uint8_t, 32>;

// Reads the key. Where it is missing, `create` makes a new one; otherwise the fault tells how to get one.
Outcome<Key> load_key(const std::string& path, bool create);

}  // namespace spur::raftlog
