// The few things we do to files ourselves; the log's own files are libraft's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault.hpp"

namespace spur::raftlog {

class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }

private:
    int fd_;
};

// Creates `path` and what leads to it, the last one with mode 0700.
Outcome<void> make_directory(const std::string& path);

// Replaces `path` (mode 0600); after a crash there is either the old file or the new one.
Outcome<void> write_durably(const std::string& path, std::string_view content);

Outcome<std::vector<std::uint8_t>> read_all(const std::string& path);

// Names in `path`, sorted.
Outcome<std::vector<std::string>> list_directory(const std::string& path);

inline constexpr std::string_view reserve_name = "reserve";  // see room.hpp

// Bytes the files in `path` take on disk, without the reserve; 0 if that cannot be told.
std::uint64_t disk_usage(const std::string& path);

// Held for as long as the returned descriptor lives; a second taker, in this process or another, is told who has it.
Outcome<Descriptor> lock_directory(const std::string& path);

}  // namespace spur::raftlog
