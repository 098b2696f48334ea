// Files of rows: what was purged, to be kept and loaded again. A line "spur archive 1", then each row as its length and
// a HistoryRow.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "daemons/spurdbd/database.hpp"

namespace spur::dbd {

class ArchiveFile final : public Archive {
public:
    // It is made with the first row: nothing to keep, no file.
    explicit ArchiveFile(std::filesystem::path path) : path_{std::move(path)} {}
    ArchiveFile(const ArchiveFile&) = delete;
    ArchiveFile& operator=(const ArchiveFile&) = delete;
    ~ArchiveFile() override;
    Result<void> add(const v1::HistoryRow& row) override;
    Result<void> make_durable() override;

    std::uint64_t rows() const { return rows_; }
    const std::filesystem::path& path() const { return path_; }

private:
    Result<void> write_out();

    std::filesystem::path path_;
    int fd_{-1};
    std::string buffer_;
    std::uint64_t rows_{};
};

// Every row of a file's bytes.
Result<void> read_archive(std::string_view content, const std::function<Result<void>(v1::HistoryRow row)>& on_row);

}  // namespace spur::dbd
