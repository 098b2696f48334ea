// The version of what the log and the snapshots hold. A release that understands version n applies every entry of
// versions up to n alike, whoever wrote it. The state records the version in force; it is raised by SetStateVersion,
// and only when every controller has said that it understands the next one. docs/decisions/0009-state-version.md
#pragma once

#include <cstdint>
#include <iterator>

namespace spur {

// Version 2: the state knows its version, and which configurations were in force before (ApplyConfig::digest).
// It also knows its history and whose signatures steps may bear (core/model/history.hpp).
// Version 3: the end of a step on each of its nodes, and what it has used there (StepNodeDone). Reboots are followed to
// their end: until the node has another boot id, and with what it is to be then. The outbox is kept once somebody reads
// it, and tells of nodes, reservations and accounts too.
inline constexpr std::uint32_t first_state_version = 1;
inline constexpr std::uint32_t version_with_step_ends = 3;
inline constexpr std::uint32_t version_with_reboots = 3;
inline constexpr std::uint32_t version_with_outbox_readers = 3;
inline constexpr std::uint32_t newest_state_version = 3;

// The last numbers that the lists of core/model/job_spec.hpp had in each version before the newest, which has the rest.
struct LastNumbers {
    std::uint32_t job_spec, job_changes;
};
inline constexpr LastNumbers last_numbers[] = {{97, 55}, {97, 55}};
static_assert(std::size(last_numbers) == newest_state_version - first_state_version,
              "a new version closes the lists of the one before it: say with which numbers");

}  // namespace spur
