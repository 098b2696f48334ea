// Writing and reading.
#include "daemons/spurdbd/archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace spur::dbd {
namespace {

constexpr std::string_view first_line = "spur archive 1\n";
constexpr std::size_t flush_at = 1U << 20U;

// Little-endian, four bytes.
void put_length(std::string& out, std::size_t length) {
    for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(length >> shift & 0xff));
}
std::size_t get_length(std::string_view in) {
    std::size_t length = 0;
    for (unsigned i = 0; i < 4; ++i) length |= static_cast<std::size_t>(static_cast<unsigned char>(in[i])) << 8 * i;
    return length;
}

}  // namespace

ArchiveFile::~ArchiveFile() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> ArchiveFile::add(const v1::HistoryRow& row) {
    if (fd_ < 0) {
        fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd_ < 0)
            return fail(ErrorCode::unavailable, "the archive {} cannot be made: {}", path_.native(),
                        std::strerror(errno));
        buffer_ = first_line;
    }
    const auto bytes = row.SerializeAsString();
    put_length(buffer_, bytes.size());
    buffer_ += bytes;
    ++rows_;
    return buffer_.size() < flush_at ? Result<void>{} : write_out();
}

Result<void> ArchiveFile::write_out() {
    for (std::string_view left = buffer_; !left.empty();) {
        const auto written = ::write(fd_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return fail(ErrorCode::unavailable, "the archive {} cannot be written: {}", path_.native(),
                        std::strerror(errno));
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
    return {};
}

Result<void> ArchiveFile::make_durable() {
    if (fd_ < 0) return {};
    SPUR_CHECK(write_out());
    if (::fsync(fd_) != 0)
        return fail(ErrorCode::unavailable, "the archive {} cannot be written: {}", path_.native(),
                    std::strerror(errno));
    const int directory = ::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        ::fsync(directory);
        ::close(directory);
    }
    return {};
}

Result<void> read_archive(std::string_view content, const std::function<Result<void>(v1::HistoryRow row)>& on_row) {
    if (!content.starts_with(first_line)) return fail(ErrorCode::invalid, "this is no archive of spurdbd");
    content.remove_prefix(first_line.size());
    for (std::uint64_t number = 1; !content.empty(); ++number) {
        if (content.size() < 4 || content.size() - 4 < get_length(content))
            return fail(ErrorCode::corrupt, "the archive ends in the middle of row {}", number);
        const auto length = get_length(content);
        v1::HistoryRow row;
        if (!row.ParseFromArray(content.data() + 4, static_cast<int>(length)) || row.cluster().empty())
            return fail(ErrorCode::corrupt, "row {} of the archive is not one", number);
        content.remove_prefix(4 + length);
        SPUR_CHECK(on_row(std::move(row)));
    }
    return {};
}

}  // namespace spur::dbd
