// The version of what the log and the snapshots hold. A release that understands version n applies every entry of
// versions up to n alike, whoever wrote it. The state records the version in force; it is raised by SetStateVersion,
// and only when every controller has said that it understands the next one. docs/decisions/0009-state-version.md
#pragma once

#include <cstdint>

namespace spur {

// Version 2: the state knows its version, and which configurations were in force before (ApplyConfig::digest).
// It also knows its history and whose signatures steps may bear (core/model/history.hpp).
inline constexpr std::uint32_t first_state_version = 1;
inline constexpr std::uint32_t newest_state_version = 2;

}  // namespace spur
