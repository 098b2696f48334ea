// CRC-32 as libraft writes it into its segments: polynomial 0x04C11DB7, most significant bit first, no inversion. Our
// snapshots use the same.
#pragma once

#include <cstdint>
#include <span>

namespace spur::raftlog {

// Chain by passing the last result as `start`.
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t start = 0);

}  // namespace spur::raftlog
