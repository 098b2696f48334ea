// The axes: for each one its interface, the ops a plugin must have, and what happens when its choice cannot be used.
#pragma once

#include <spur/plugin/auth.h>
#include <spur/plugin/cgroup.h>
#include <spur/plugin/draft/accounting.h>
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/draft/job_submit.h>
#include <spur/plugin/draft/net.h>
#include <spur/plugin/priority.h>
#include <spur/plugin/sched.h>
#include <spur/plugin/select.h>
#include <spur/plugin/state.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "daemons/common/host/frame.hpp"

namespace spur::host {

struct OpInfo {
    const char* name;
    std::uint32_t offset;  // in the ops table
    bool required;
    Role role;
};

// Stands between a host that calls the newest table of an axis and a plugin that has an older one.
struct Adapter {
    virtual ~Adapter() = default;
    const void* ops{nullptr};    // of the axis's own interface
    spur_plugin* self{nullptr};  // what those are called with
};

// An interface of earlier releases that this host still speaks.
struct OlderInterface {
    const char* id;  // "spur.sched/1", where the axis's own is "spur.sched/2"
    std::span<const OpInfo> ops;
    std::unique_ptr<Adapter> (*adapt)(const void* ops, spur_plugin* self);
};

// An axis whose plugins are asked one after the other, in the order of the configuration. The first that refuses (a
// verdict above 0) ends it; what the other cases mean is the axis's rule.
struct ChainRule {
    bool failure_refuses;  // one that is broken ends it as well; else it is logged and the next one is asked
    bool needs_all;        // one that is named and cannot be used keeps the daemon from starting; else it is left out
};

struct AxisInfo {
    const char* name;       // "sched"
    const char* interface;  // "spur.sched/1"; asked for first
    std::span<const OpInfo> ops;
    std::span<const std::string_view> defaults;  // tried in this order where nothing is configured
    bool has_safe_defaults;  // a quarantined choice may be replaced by a default: not where that would change who is
                             // trusted or where data goes
    bool several;            // any number may be active at once
    bool swaps_live;         // an instance can take over from another without a restart
    bool is_policy;          // pure: must not read the clock
    std::span<const OlderInterface> older{};  // newest first
    const ChainRule* chain{nullptr};          // of an axis with `several` that is a chain
};

const AxisInfo* find_axis(std::string_view name);
std::span<const AxisInfo* const> all_axes();

inline constexpr std::size_t most_ops = 16;

struct StateAxis {
    using Ops = spur_state_ops;
    static const AxisInfo info;
};
struct SchedAxis {
    using Ops = spur_sched_ops;
    static const AxisInfo info;
};
struct SelectAxis {
    using Ops = spur_select_ops;
    static const AxisInfo info;
};
struct PriorityAxis {
    using Ops = spur_priority_ops;
    static const AxisInfo info;
};
struct AccountingAxis {
    using Ops = spur_accounting_ops;
    static const AxisInfo info;
};
struct AuthAxis {
    using Ops = spur_auth_ops;
    static const AxisInfo info;
};
struct NetAxis {
    using Ops = spur_net_ops;
    static const AxisInfo info;
};
struct GpuAxis {
    using Ops = spur_gpu_ops;
    static const AxisInfo info;
};
struct JobSubmitAxis {
    using Ops = spur_job_submit_ops;
    static const AxisInfo info;
};
struct CgroupAxis {
    using Ops = spur_cgroup_ops;
    static const AxisInfo info;
};

}  // namespace spur::host
