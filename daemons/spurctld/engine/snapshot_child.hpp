// Serialising the whole state takes a time that grows with the number of jobs, and must not hold up the engine. So a
// child process does it: fork() gives it the state as it stands, at the price of copying page tables, and the engine
// goes on at once. The bytes come back through a pipe.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/machine/cluster.hpp"

namespace spur::ctld {

class SnapshotChild {
public:
    // [engine thread] `cluster` as it is now. Fails where the system has no room for another process.
    static Result<SnapshotChild> start(const Cluster& cluster);
    SnapshotChild(SnapshotChild&& other) noexcept;
    SnapshotChild& operator=(SnapshotChild&&) = delete;
    ~SnapshotChild();  // ends a child that was not collected

    // [any other thread] Waits for all of it. Fails if the child did; then there is no snapshot.
    Result<std::vector<std::string>> collect();

private:
    SnapshotChild(pid_t pid, int pipe) : pid_{pid}, pipe_{pipe} {}
    bool reap();

    pid_t pid_;
    int pipe_;
};

}  // namespace spur::ctld
