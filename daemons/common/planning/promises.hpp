// What preempted jobs free is kept for whoever preempted them: no other job is started on it meanwhile.
// [scheduler thread only]
#pragma once

#include <cstdint>
#include <vector>

#include "core/machine/command.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::planning {

struct Promise {
    JobId job;
    std::vector<JobId> victims;
    std::vector<NodeShare> shares;
    bool whole{false};  // whole nodes: nothing else may run there
    UnixSeconds until{};
};

class Promises {
public:
    // Ends those whose job no longer waits, and those whose time has come.
    void update(const ReadModel& model, UnixSeconds now);
    // In place of what was promised to this job before.
    void keep(Promise promise);
    // The job is being started: what was kept for it is used, or no longer needed.
    void end(JobId job);
    // A promise to another job that would be broken by giving `shares` to `job`, on top of what `starts` take already.
    const Promise* find_broken(JobId job, const std::vector<NodeShare>& shares, bool whole,
                               const std::vector<Placement>& starts, const ReadModel& model) const;

private:
    std::vector<Promise> all_;
};

}  // namespace spur::planning
