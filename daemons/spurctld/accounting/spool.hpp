// History that waits on this controller's disk because spurdbd has not taken it for too long: one file a batch, in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace spur::ctld {

class Spool {
public:
    explicit Spool(std::filesystem::path directory) : directory_{std::move(directory)} {}

    // What an earlier run left behind. Files that were not written to their end are removed: their entries are still held.
    Result<void> open();
    Result<void> add(const std::string& batch);  // durable when it returns
    struct Batch {
        std::filesystem::path path;
        std::string content;
    };
    Result<std::optional<Batch>> front() const;  // the oldest
    Result<void> remove(const Batch& batch);
    bool empty() const { return files_.empty(); }
    std::size_t size() const { return files_.size(); }

private:
    std::filesystem::path directory_;
    std::map<std::uint64_t, std::filesystem::path> files_;  // by number: the order they were written in
    std::uint64_t next_{1};
};

}  // namespace spur::ctld
