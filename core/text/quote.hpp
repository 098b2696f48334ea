// Text that somebody outside chose, made fit for a message or a log line: one line, no control characters, not too
// long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spur {

// Control characters as \n, \x1b; what is beyond `most` bytes is counted instead: "abc... (4093 more bytes)".
std::string printable(std::string_view text, std::size_t most);

// The same between quotation marks, and short: "PATH=/usr/bin\nforged".
std::string quote(std::string_view text, std::size_t most = 80);

}  // namespace spur
