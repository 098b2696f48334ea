// Is this file fit to be opened as a plugin? Asked before any of its code can run.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace spur::host {

// The file itself, symlinks resolved. Refuses a file, or a directory on the way (of the name, of each link, of the
// target, up to the root), that others than root and `user` own or may write to: whoever can replace a plugin runs as
// the daemon. A directory further up may be open to all if it has the sticky bit, as /tmp has.
Result<std::filesystem::path> check_owner(const std::filesystem::path& file, uid_t user);

// Refuses what is not a whole ELF shared object for this machine, so that the dynamic linker never meets it.
Result<void> check_elf(const std::filesystem::path& file);

}  // namespace spur::host
