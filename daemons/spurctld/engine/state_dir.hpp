// The state directory belongs to one controller at a time.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace spur::ctld {

class StateDirLock {
public:
    // Makes the directory (mode 0700) if need be and locks it for this process.
    static Result<StateDirLock> take(const std::string& dir);
    StateDirLock(StateDirLock&& other) noexcept;
    StateDirLock& operator=(StateDirLock&&) = delete;
    ~StateDirLock();

private:
    explicit StateDirLock(int fd) : fd_{fd} {}
    int fd_;
};

// The state belongs to one cluster: under another name its jobs, accounts and agents would be taken for those of
// somebody else. Its name is kept beside it; a different one is refused unless `may_rename`.
Result<void> check_cluster_name(const std::string& dir, const std::string& name, bool may_rename);
Result<void> keep_cluster_name(const std::string& dir, const std::string& name);
Error name_mismatch(const std::string& dir, const std::string& kept, const std::string& name);

}  // namespace spur::ctld
