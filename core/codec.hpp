// How commands become log entries. A compact tagged format: every field carries its number, unknown numbers are
// skipped, missing ones keep their defaults, so old logs keep loading. Bytes from outside are never trusted.
#pragma once

#include <string>
#include <string_view>

#include "core/command.hpp"
#include "core/result.hpp"

namespace spur {

std::string encode(const Stamped<Command>& command);
// Appends to `out`; for batches.
void encode(const Stamped<Command>& command, std::string& out);

// Fails with ErrorCode::corrupt on bytes that encode() cannot have made.
Result<Stamped<Command>> decode_command(std::string_view bytes);

// A name for logs and traces: "SubmitJob".
std::string_view command_name(const Command& command);

}  // namespace spur
