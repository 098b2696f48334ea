// Checked on the open file, so that what was checked is what is read.
#include "daemons/common/host/secrets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace spur::host {
namespace {
constexpr std::size_t most_bytes = 64U * 1024;
}  // namespace

Result<std::string> read_secret(const std::string& path, uid_t user) {
    if (path.empty() || path.front() != '/')
        return fail(ErrorCode::invalid, "must name its file by an absolute path, and {} is not one", path);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail(ErrorCode::denied, "stands in {}, which cannot be read: {}", path, std::strerror(errno));
    const std::unique_ptr<const int, void (*)(const int*)> closing{&fd, [](const int* open) { ::close(*open); }};
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail(ErrorCode::invalid, "stands in {}, which is not a regular file", path);
    if (status.st_uid != 0 && status.st_uid != user)
        return fail(ErrorCode::denied,
                    "stands in {}, which belongs to user {}: it must be root's or this daemon's user's", path,
                    status.st_uid);
    if ((status.st_mode & 077) != 0)
        return fail(ErrorCode::denied, "stands in {}, which others may use (mode {:04o}): chmod 600 {}", path,
                    status.st_mode & 07777, path);
    std::string text(most_bytes + 1, '\0');
    const auto got = ::read(fd, text.data(), text.size());
    if (got < 0) return fail(ErrorCode::denied, "stands in {}, which cannot be read: {}", path, std::strerror(errno));
    if (static_cast<std::size_t>(got) > most_bytes)
        return fail(ErrorCode::invalid, "stands in {}, which is longer than {} bytes", path, most_bytes);
    text.resize(static_cast<std::size_t>(got));
    if (text.ends_with('\n')) text.pop_back();
    if (text.find('\0') != std::string::npos)
        return fail(ErrorCode::invalid, "stands in {}, which contains a zero byte", path);
    return text;
}

std::string secret_stamp(const std::vector<ConfigOption>& options) {
    std::string stamp;
    for (const auto& option : options) {
        const auto* const path = std::get_if<std::string>(&option.value);
        struct stat status {};
        if (path == nullptr || !option.key.ends_with(secret_file_suffix)) continue;
        if (::stat(path->c_str(), &status) != 0) continue;
        stamp += fmt::format("{} {} {}.{:09} {}\n", option.key, status.st_ino, status.st_mtim.tv_sec,
                             status.st_mtim.tv_nsec, status.st_size);
    }
    return stamp;
}

}  // namespace spur::host
