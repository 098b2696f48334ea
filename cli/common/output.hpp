// Writing to standard output, once and whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spur::cli {

// Everything is written and flushed; a reader that has gone away is no error.
void print_out(std::string_view text);

// "Mon Nov 16 21:48:50 2026\n", the line long listings begin with.
std::string date_line(std::int64_t now);

}  // namespace spur::cli
