// The selector a planner sees: every question to select is counted and named in crash reports, and asked within the
// cycle only.
#pragma once

#include <spur/plugin/sched.h>

#include <atomic>
#include <thread>

#include "daemons/common/host/bound.hpp"

namespace spur::host {

class SelectGate {
public:
    SelectGate();
    SelectGate(const SelectGate&) = delete;
    SelectGate& operator=(const SelectGate&) = delete;

    void open(Instance& select, Instance& sched);
    void close();  // ends the cycle where the planner forgot to
    const spur_selector* selector() const { return &selector_; }

private:
    struct Calls;
    bool admits(const char* function);

    spur_select_ops table_{};
    spur_selector selector_{};
    std::atomic<Instance*> sched_{nullptr};
    Instance* select_{nullptr};
    const spur_select_ops* real_{nullptr};
    std::atomic<bool> is_open_{false};
    std::atomic<std::thread::id> thread_{};
    spur_select_cycle* cycle_{nullptr};  // the plugin's; the planner gets this object's address for it
    const spur_cluster_view* view_{nullptr};
};

}  // namespace spur::host
