#include "daemons/spurctld/engine/state_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/text/lexical.hpp"

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

namespace {

std::string name_path(const std::string& dir) { return dir + "/cluster_name"; }

}  // namespace

Error name_mismatch(const std::string& dir, const std::string& kept, const std::string& name) {
    return {
        ErrorCode::conflict,
        fmt::format("the state in {} is that of cluster {}, and the configuration says cluster_name = {}; correct "
                    "cluster_name or state_dir, or start once with --rename-cluster to give the cluster its new name",
                    dir, spur::quoted(kept), spur::quoted(name))};
}

Result<void> check_cluster_name(const std::string& dir, const std::string& name, bool may_rename) {
    std::ifstream file{name_path(dir)};
    std::string kept;
    if (!std::getline(file, kept) || kept.empty() || kept == name || may_rename) return {};
    return std::unexpected(name_mismatch(dir, kept, name));
}

Result<void> keep_cluster_name(const std::string& dir, const std::string& name) {
    const auto path = name_path(dir), fresh = path + ".new";
    {
        std::ofstream file{fresh, std::ios::trunc};
        file << name << '\n';
        if (!file.flush()) return fail(ErrorCode::internal, "cannot write {}: {}", fresh, std::strerror(errno));
    }
    std::error_code error;
    std::filesystem::rename(fresh, path, error);
    if (error) return fail(ErrorCode::internal, "cannot write {}: {}", path, error.message());
    return {};
}

}  // namespace spur::ctld
