// A directory that one daemon has for itself.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/base/result.hpp"

namespace spur::daemon {

// Locked for as long as this object lives, so that two daemons never share it.
class StateDir {
public:
    // Makes it with `mode` if it is missing. Refuses a directory of somebody else, one that others may write to, and
    // one that a living daemon has.
    static Result<StateDir> open(const std::filesystem::path& path, mode_t mode = 0700);
    StateDir(StateDir&& other) noexcept;
    StateDir& operator=(StateDir&&) = delete;
    ~StateDir();

private:
    explicit StateDir(int lock) : lock_{lock} {}
    int lock_;
};

}  // namespace spur::daemon
