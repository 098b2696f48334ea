// The policy: entries in one file, a snapshot in another. Not thread-safe; throws std::system_error.
//
// A record is index, length and checksum (64 bits each), then the body. A record that does not check out is where a
// crash struck: it and all behind it were never acknowledged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

class LogFile {
public:
    explicit LogFile(std::string directory);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    using EachEntry = std::function<void(std::uint64_t index, std::string_view body)>;
    // Finds what is there: the snapshot, if any, then every entry behind it.
    void recover(const std::function<void(std::uint64_t index, const std::string& path)>& snapshot,
                 const EachEntry& entry);

    // Returns the entry's index. Not durable before sync().
    std::uint64_t append(std::string_view body);
    void sync();

    // Where to write the snapshot of `index`, and, once that is synced, make it count and drop the entries it covers.
    std::string snapshot_draft() const { return directory_ + "/snapshot.draft"; }
    void adopt_snapshot(std::uint64_t index);

    std::uint64_t last_index() const { return last_; }
    std::uint64_t snapshot_index() const { return snapshot_; }
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t syncs() const { return syncs_; }

private:
    std::string log_path() const { return directory_ + "/log"; }
    std::string snapshot_path(std::uint64_t index) const { return directory_ + "/snapshot." + std::to_string(index); }
    void open_log();
    // Calls `entry` for each good record of the log; the length of the good part.
    std::uint64_t read(const EachEntry& entry) const;

    std::string directory_, pending_;
    int file_ = -1;
    std::uint64_t last_ = 0, snapshot_ = 0, bytes_ = 0, syncs_ = 0;
};
