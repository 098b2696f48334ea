// Is this file fit to be opened as a plugin? Asked before any of its code can run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace spur::host {

// The file itself, symlinks resolved. Refuses a file, or a directory on the way (of the name, of each link, of the
// target, up to the root), that others than root and `user` own or may write to: whoever can replace a plugin runs as
// the daemon. A directory further up may be open to all if it has the sticky bit, as /tmp has.
Result<std::filesystem::path> check_owner(const std::filesystem::path& file, uid_t user);

// Which file a name led to, and what was in it. All zero: to none.
struct FileStamp {
    std::uint64_t device{}, inode{}, bytes{};
    std::int64_t written_ns{};
    bool operator==(const FileStamp&) const = default;
    bool is_same_file(const FileStamp& other) const { return device == other.device && inode == other.inode; }
};
FileStamp stamp_of(const char* path) noexcept;  // links are followed; fit for a signal handler

struct ElfInfo {
    FileStamp stamp;
    std::string runpath;  // DT_RUNPATH or DT_RPATH: where the linker looks for the libraries it needs
};

// Refuses what is not a whole ELF shared object for this machine, so that the dynamic linker never meets it; and one
// that would make every stack of this process executable.
Result<ElfInfo> check_elf(const std::filesystem::path& file);

// Refuses a run path through which somebody else could give the plugin a library of their own.
Result<void> check_runpath(const std::filesystem::path& file, const std::string& runpath, uid_t user);

}  // namespace spur::host
