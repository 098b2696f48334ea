// Files that are whole or not there.
#include "daemons/spurctld/accounting/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/text/lexical.hpp"

namespace spur::ctld {
namespace {

namespace fs = std::filesystem;
constexpr const char* suffix = ".batch";

Result<void> sync_directory(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = fd >= 0 && ::fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0) ::close(fd);
    if (!is_synced) return fail(ErrorCode::internal, "cannot make {} durable: {}", path.native(), std::strerror(why));
    return {};
}

Result<void> write_durably(const fs::path& path, const std::string& content) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    std::size_t written = 0;
    bool is_good = fd >= 0;
    while (is_good && written < content.size()) {
        const auto part = ::write(fd, content.data() + written, content.size() - written);
        is_good = part > 0 || (part < 0 && errno == EINTR);
        if (part > 0) written += static_cast<std::size_t>(part);
    }
    is_good = is_good && ::fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0) ::close(fd);
    if (!is_good) return fail(ErrorCode::internal, "cannot write {}: {}", path.native(), std::strerror(why));
    return {};
}

}  // namespace

Result<void> Spool::open() {
    std::error_code error;
    fs::create_directories(directory_, error);
    if (error) return fail(ErrorCode::internal, "cannot make {}: {}", directory_.native(), error.message());
    fs::permissions(directory_, fs::perms::owner_all, error);
    for (const auto& entry : fs::directory_iterator{directory_, error}) {
        const auto number = find_unsigned(entry.path().stem().native());
        if (entry.path().extension() != suffix || !number) {
            std::error_code ignored;
            fs::remove(entry.path(), ignored);
            continue;
        }
        files_[*number] = entry.path();
        next_ = std::max(next_, *number + 1);
    }
    if (error) return fail(ErrorCode::internal, "cannot read {}: {}", directory_.native(), error.message());
    return {};
}

Result<void> Spool::add(const std::string& batch) {
    const auto path = directory_ / fmt::format("{:020}{}", next_, suffix);
    const auto draft = fs::path{path.native() + ".new"};
    SPUR_CHECK(write_durably(draft, batch));
    std::error_code error;
    fs::rename(draft, path, error);
    if (error) return fail(ErrorCode::internal, "cannot write {}: {}", path.native(), error.message());
    SPUR_CHECK(sync_directory(directory_));
    files_[next_++] = path;
    return {};
}

Result<std::optional<Spool::Batch>> Spool::front() const {
    if (files_.empty()) return std::nullopt;
    Batch batch{files_.begin()->second, {}};
    std::ifstream file{batch.path, std::ios::binary};
    batch.content.assign(std::istreambuf_iterator<char>{file}, {});
    if (!file) return fail(ErrorCode::internal, "cannot read {}", batch.path.native());
    return batch;
}

Result<void> Spool::remove(const Batch& batch) {
    std::error_code error;
    fs::remove(batch.path, error);
    std::erase_if(files_, [&](const auto& file) { return file.second == batch.path; });
    if (error) return fail(ErrorCode::internal, "cannot remove {}: {}", batch.path.native(), error.message());
    return {};
}

}  // namespace spur::ctld
