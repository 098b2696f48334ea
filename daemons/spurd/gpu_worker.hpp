// What gpu plugins do on threads of their own, so that the loop waits for none of them: they watch their devices, and
// let go of what was bound to a job or a step that has ended.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemons/common/host/host.hpp"
#include "daemons/spurd/gpus.hpp"

namespace spur::agent {

class GpuWorker {
public:
    // `look_again` is called on a thread of its own when a plugin may have missed a change: it was not watching.
    GpuWorker(const host::Group<host::GpuAxis>& plugins, std::function<void(const std::string& plugin)> look_again);
    ~GpuWorker();  // calls that wait are told to give up; one that does not is left behind
    GpuWorker(const GpuWorker&) = delete;
    GpuWorker& operator=(const GpuWorker&) = delete;

    void release(GpuHeld held);  // [any thread] soon, in order

private:
    struct Shared;  // with the threads
    std::shared_ptr<Shared> shared_;
};

}  // namespace spur::agent
