// Directories, locks and durable small files.
#include "files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace spur::raftlog {

Descriptor::~Descriptor() {
    if (fd_ >= 0) close(fd_);
}

Outcome<void> make_directory(const std::string& path) {
    std::error_code error;
    const auto parent = std::filesystem::path(path).parent_path();
    if (!parent.empty()) std::filesystem::create_directories(parent, error);
    if (mkdir(path.c_str(), 0700) == 0) return {};
    if (errno != EEXIST) return fault(SPUR_E_IO, "cannot create {}: {}", path, std::strerror(errno));
    if (!std::filesystem::is_directory(path, error)) return fault(SPUR_E_INVALID, "{} is not a directory", path);
    if (access(path.c_str(), R_OK | W_OK | X_OK) != 0)
        return fault(SPUR_E_DENIED, "{} is not ours to write: {}", path, std::strerror(errno));
    return {};
}

namespace {

Outcome<void> sync_directory(const std::string& path) {
    const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || fsync(directory.get()) != 0)
        return fault(SPUR_E_IO, "cannot sync {}: {}", path, std::strerror(errno));
    return {};
}

}  // namespace

Outcome<void> write_durably(const std::string& path, std::string_view content) {
    const auto temporary = path + ".new";
    {
        const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!file) return fault(SPUR_E_IO, "cannot create {}: {}", temporary, std::strerror(errno));
        if (write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
            fsync(file.get()) != 0)
            return fault(SPUR_E_IO, "cannot write {}: {}", temporary, std::strerror(errno));
    }
    if (rename(temporary.c_str(), path.c_str()) != 0)
        return fault(SPUR_E_IO, "cannot rename {} to {}: {}", temporary, path, std::strerror(errno));
    return sync_directory(std::filesystem::path(path).parent_path());
}

Outcome<std::vector<std::uint8_t>> read_all(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0)
        return fault(SPUR_E_IO, "cannot open {}: {}", path, std::strerror(errno));
    std::vector<std::uint8_t> content(static_cast<std::size_t>(info.st_size));
    std::size_t filled = 0;
    while (filled < content.size()) {
        const auto length = read(file.get(), content.data() + filled, content.size() - filled);
        if (length < 0) return fault(SPUR_E_IO, "cannot read {}: {}", path, std::strerror(errno));
        if (length == 0) break;
        filled += static_cast<std::size_t>(length);
    }
    content.resize(filled);
    return content;
}

Outcome<std::vector<std::string>> list_directory(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
    if (!directory) return fault(SPUR_E_IO, "cannot list {}: {}", path, std::strerror(errno));
    std::vector<std::string> names;
    while (const auto* entry = readdir(directory.get())) names.emplace_back(entry->d_name);
    std::ranges::sort(names);
    return names;
}

std::uint64_t disk_usage(const std::string& path) {
    const auto names = list_directory(path);
    std::uint64_t bytes = 0;
    if (!names) return 0;
    for (const auto& name : *names) {
        struct stat info {};
        if (name == reserve_name) continue;
        if (stat((path + "/" + name).c_str(), &info) == 0 && S_ISREG(info.st_mode))
            bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    return bytes;
}

Outcome<Descriptor> lock_directory(const std::string& path) {
    const auto name = path + "/lock";
    Descriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fault(SPUR_E_IO, "cannot create {}: {}", name, std::strerror(errno));
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        char holder[32] = {};
        const auto length = pread(file.get(), holder, sizeof holder - 1, 0);
        return fault(SPUR_E_BUSY,
                     "{} is in use by another controller{}{}: stop it first, or give this one its own data_dir", path,
                     length > 0 ? ", process " : "", holder);
    }
    const auto pid = fmt::format("{}", getpid());
    if (ftruncate(file.get(), 0) != 0 || pwrite(file.get(), pid.data(), pid.size(), 0) < 0)
        return fault(SPUR_E_IO, "cannot write {}: {}", name, std::strerror(errno));
    return file;
}

}  // namespace spur::raftlog
