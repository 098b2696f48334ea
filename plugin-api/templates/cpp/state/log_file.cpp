// Files and checksums.
#include "log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace {

struct Header {
    std::uint64_t index, length, checksum;
};

std::uint64_t checksum_of(std::uint64_t index, std::string_view body) {
    std::uint64_t hash = 0xcbf29ce484222325u ^ index ^ (std::uint64_t{body.size()} << 32);  // FNV-1a
    for (const unsigned char byte : body) hash = (hash ^ byte) * 0x100000001b3u;
    return hash;
}

[[noreturn]] void fail_io(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void append_record(std::string& out, std::uint64_t index, std::string_view body) {
    const Header header{index, body.size(), checksum_of(index, body)};
    out.append(reinterpret_cast<const char*>(&header), sizeof header).append(body);
}

void write_all(int file, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const auto written = write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) fail_io("cannot write to " + path);
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

// A rename is durable when its directory is.
void sync_directory(const std::string& path) {
    const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fsync(directory) != 0) fail_io("cannot sync " + path);
    close(directory);
}

}  // namespace

LogFile::LogFile(std::string directory) : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
    open_log();
}
LogFile::~LogFile() { close(file_); }

void LogFile::open_log() {
    if (file_ >= 0) close(file_);
    file_ = open(log_path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) fail_io("cannot open " + log_path());
}

std::uint64_t LogFile::read(const EachEntry& entry) const {
    std::ifstream in(log_path(), std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    std::size_t at = 0;
    for (Header header; all.size() - at >= sizeof header; at += sizeof header + header.length) {
        std::memcpy(&header, all.data() + at, sizeof header);
        if (header.length > all.size() - at - sizeof header) break;
        const auto body = std::string_view(all).substr(at + sizeof header, header.length);
        if (header.checksum != checksum_of(header.index, body)) break;
        entry(header.index, body);
    }
    return at;
}

void LogFile::recover(const std::function<void(std::uint64_t, const std::string&)>& snapshot, const EachEntry& entry) {
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
        const auto name = file.path().filename().string();
        if (name.starts_with("snapshot.") && name != "snapshot.draft")
            snapshot_ = std::max<std::uint64_t>(snapshot_, std::strtoull(name.c_str() + 9, nullptr, 10));
    }
    last_ = snapshot_;
    if (snapshot_ != 0) snapshot(snapshot_, snapshot_path(snapshot_));
    bytes_ = read([&](std::uint64_t index, std::string_view body) {
        if (index <= snapshot_) return;
        last_ = index;
        entry(index, body);
    });
    if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0 || fsync(file_) != 0) fail_io("cannot repair " + log_path());
}

std::uint64_t LogFile::append(std::string_view body) {
    append_record(pending_, ++last_, body);
    return last_;
}

void LogFile::sync() {
    write_all(file_, pending_, log_path());
    if (fdatasync(file_) != 0) fail_io("cannot sync " + log_path());
    bytes_ += pending_.size();
    pending_.clear();
    ++syncs_;
}

void LogFile::adopt_snapshot(std::uint64_t index) {
    std::filesystem::rename(snapshot_draft(), snapshot_path(index));
    std::string rest;
    read([&](std::uint64_t at, std::string_view body) {
        if (at > index) append_record(rest, at, body);
    });
    const auto draft = log_path() + ".draft";
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) fail_io("cannot open " + draft);
    write_all(file, rest, draft);
    const bool synced = fsync(file) == 0;
    close(file);
    if (!synced) fail_io("cannot sync " + draft);
    std::filesystem::rename(draft, log_path());
    sync_directory(directory_);
    if (snapshot_ != 0 && snapshot_ != index) std::filesystem::remove(snapshot_path(snapshot_));
    snapshot_ = index;
    bytes_ = rest.size();
    open_log();
}
