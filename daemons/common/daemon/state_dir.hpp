// A directory that one daemon has for itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur::daemon {

// Made if it is missing, with mode 0700; locked for as long as this object lives, so that two daemons never share it.
class StateDir {
public:
    // Refuses a directory of somebody else, one that others may write to, and one that a living daemon has.
    static Result<StateDir> open(const std::filesystem::path& path);
    StateDir(StateDir&& other) noexcept;
    StateDir& operator=(StateDir&&) = delete;
    ~StateDir();

    const std::filesystem::path& path() const { return path_; }

private:
    StateDir(std::filesystem::path path, int lock) : path_{std::move(path)}, lock_{lock} {}
    std::filesystem::path path_;
    int lock_;
};

// Where `name` ("spurctld") keeps its state when nobody says: /var/spool/spur/<name> for root, else under
// XDG_STATE_HOME.
std::filesystem::path default_state_dir(std::string_view name);
// Sockets and the like: /run/spur for root, else under XDG_RUNTIME_DIR.
std::filesystem::path default_runtime_dir();

}  // namespace spur::daemon
