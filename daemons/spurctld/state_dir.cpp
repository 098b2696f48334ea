#include "daemons/spurctld/state_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace spur::ctld {

Result<StateDirLock> StateDirLock::take(const std::string& dir) {
    std::error_code error;
    const bool made = std::filesystem::create_directories(dir, error);
    if (error) return fail(ErrorCode::internal, "cannot make state directory {}: {}", dir, error.message());
    if (made) ::chmod(dir.c_str(), 0700);
    struct stat info {};
    if (::stat(dir.c_str(), &info) != 0)
        return fail(ErrorCode::internal, "cannot look at state directory {}: {}", dir, std::strerror(errno));
    if ((info.st_mode & S_IWOTH) != 0)
        return fail(ErrorCode::denied, "state directory {} is world-writable; run chmod 700 on it", dir);
    const auto path = dir + "/lock";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return fail(ErrorCode::internal, "cannot open {}: {}", path, std::strerror(errno));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        ::close(fd);
        return fail(ErrorCode::conflict,
                    "another spurctld is using state directory {}; stop it or give this one another with --state-dir",
                    dir);
    }
    return StateDirLock{fd};
}

StateDirLock::StateDirLock(StateDirLock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}

StateDirLock::~StateDirLock() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace spur::ctld
