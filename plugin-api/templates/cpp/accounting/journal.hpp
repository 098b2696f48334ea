// The policy: a file of lines "cluster<TAB>stream<TAB>sequence<TAB>table<TAB>removed<TAB>name=value...", appended
// to in whole batches.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

class Journal {
public:
    explicit Journal(std::string path);  // throws std::system_error
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // All rows or none, durable on return. Rows stored before are left out.
    void store(const spur_batch& batch);
    std::uint64_t stored_up_to(std::string_view cluster, std::string_view stream, std::uint64_t from) const;

private:
    void recover();

    mutable std::mutex lock_;
    std::string path_;
    int file_ = -1;
    std::map<std::string, std::uint64_t, std::less<>> stored_;  // highest sequence by cluster and stream
};
