// The state directory belongs to one controller at a time.
#pragma once

#include <string>

#include "core/result.hpp"

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

}  // namespace spur::ctld
