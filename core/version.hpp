// What this release of Spur calls itself. project() in the top CMakeLists.txt is the one place where it is written;
// only version.cpp is compiled again when it changes.
#pragma once

namespace spur {

extern const char program_version[];  // "0.9.0"

}  // namespace spur
