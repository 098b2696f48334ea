// Making, checking and locking directories.
#include "daemons/common/daemon/state_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text/lexical.hpp"

namespace spur::daemon {
namespace {

namespace fs = std::filesystem;

Result<void> make_directory(const fs::path& path, mode_t mode) {
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    return fail(ErrorCode::denied,
                "state directory {} cannot be made: {}; make it for the daemon's user, or name another with "
                "--state-dir",
                path.native(), std::strerror(errno));
}

Result<void> check_directory(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return fail(ErrorCode::invalid, "state directory {} is not a directory", path.native());
    if (status.st_uid != ::geteuid())
        return fail(ErrorCode::denied,
                    "state directory {} belongs to uid {} and this daemon runs as uid {}; run chown {} {}",
                    path.native(), status.st_uid, ::geteuid(), ::geteuid(), path.native());
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(ErrorCode::denied, "state directory {} is writable by others (mode {:04o}); run chmod 0700 {}",
                    path.native(), status.st_mode & 07777U, path.native());
    return {};
}

std::string read_holder(int fd) {
    std::array<char, 32> text{};
    const auto got = ::pread(fd, text.data(), text.size() - 1, 0);
    const auto holder = trim({text.data(), static_cast<std::size_t>(got < 0 ? 0 : got)});
    return find_unsigned(holder) ? fmt::format("process {}", holder) : std::string{"another daemon"};
}

}  // namespace

Result<StateDir> StateDir::open(const fs::path& path, mode_t mode) {
    SPUR_CHECK(make_directory(path, mode));
    SPUR_CHECK(check_directory(path));
    const auto file = path / "lock";
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(ErrorCode::denied, "{} cannot be opened: {}", file.native(), std::strerror(errno));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const auto holder = read_holder(fd);
        ::close(fd);
        return fail(ErrorCode::conflict,
                    "state directory {} is in use by {}; stop it first, or name another with --state-dir",
                    path.native(), holder);
    }
    const auto text = fmt::format("{}\n", ::getpid());
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
        const int reason = errno;
        ::close(fd);
        return fail(ErrorCode::internal, "{} cannot be written: {}", file.native(), std::strerror(reason));
    }
    return StateDir{fd};
}

StateDir::StateDir(StateDir&& other) noexcept : lock_{std::exchange(other.lock_, -1)} {}
StateDir::~StateDir() {
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace spur::daemon
