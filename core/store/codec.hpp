// How commands become log entries. A compact tagged format: every field carries its number, missing ones keep their
// defaults, so old logs keep loading. Bytes from outside are never trusted.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/store/state_version.hpp"

namespace spur {

// Appends to `out`, where `version` of the state is in force. Whatever it accepts decode_command() reads; else the
// sentence says why no controller could take it from the log, and `out` is not to be used.
Result<void> encode(const Stamped<Command>& command, std::string& out, std::uint32_t version = newest_state_version);
// The same for commands that are known to be fine; throws std::length_error on others.
std::string encode(const Stamped<Command>& command);

// Fails with ErrorCode::corrupt on bytes that encode() cannot have made, or that of a newer release has.
Result<Stamped<Command>> decode_command(std::string_view bytes);

// A name for logs and traces: "SubmitJob".
std::string_view command_name(const Command& command);

}  // namespace spur
