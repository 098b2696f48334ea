// The tables behind axes.hpp. Each op is listed in the order of its struct; the assertions below keep that true.
#include "daemons/common/host/axes.hpp"

#include <array>
#include <cstddef>

namespace spur::host {
namespace {

constexpr bool required = true, optional = false;

#define SPUR_OP(table, op, need, role) \
    OpInfo { #op, offsetof(table, op), need, Role::role }

constexpr std::array state_ops{
    SPUR_OP(spur_state_ops, open, required, main),      SPUR_OP(spur_state_ops, propose, required, any),
    SPUR_OP(spur_state_ops, status, required, any),     SPUR_OP(spur_state_ops, snapshot, required, worker),
    SPUR_OP(spur_state_ops, barrier, optional, any),    SPUR_OP(spur_state_ops, members, optional, any),
    SPUR_OP(spur_state_ops, add_member, optional, any), SPUR_OP(spur_state_ops, remove_member, optional, any),
    SPUR_OP(spur_state_ops, transfer, optional, any),
};
constexpr std::array sched_ops{SPUR_OP(spur_sched_ops, plan, required, cycle)};
constexpr std::array select_ops{
    SPUR_OP(spur_select_ops, begin, required, cycle),      SPUR_OP(spur_select_ops, end, required, cycle),
    SPUR_OP(spur_select_ops, slots, required, cycle),      SPUR_OP(spur_select_ops, copy, required, cycle),
    SPUR_OP(spur_select_ops, take, required, cycle),       SPUR_OP(spur_select_ops, give, required, cycle),
    SPUR_OP(spur_select_ops, pick, required, cycle),       SPUR_OP(spur_select_ops, screen, optional, cycle),
    SPUR_OP(spur_select_ops, idle_nodes, optional, cycle), SPUR_OP(spur_select_ops, explain, optional, cycle),
};
constexpr std::array priority_ops{
    SPUR_OP(spur_priority_ops, score, required, cycle),
    SPUR_OP(spur_priority_ops, decay, required, any),
    SPUR_OP(spur_priority_ops, factors, optional, any),
    SPUR_OP(spur_priority_ops, shares, optional, cycle),
};
constexpr std::array accounting_ops{
    SPUR_OP(spur_accounting_ops, schema, required, worker),
    SPUR_OP(spur_accounting_ops, migrate, required, worker),
    SPUR_OP(spur_accounting_ops, store, required, worker),
    SPUR_OP(spur_accounting_ops, stored_up_to, required, worker),
    SPUR_OP(spur_accounting_ops, query, required, worker),
    SPUR_OP(spur_accounting_ops, purge, optional, worker),
};
constexpr std::array auth_ops{
    SPUR_OP(spur_auth_ops, make, required, any),        SPUR_OP(spur_auth_ops, verify, required, any),
    SPUR_OP(spur_auth_ops, make_answer, optional, any), SPUR_OP(spur_auth_ops, verify_answer, optional, any),
    SPUR_OP(spur_auth_ops, issue, optional, any),       SPUR_OP(spur_auth_ops, challenge, optional, any),
    SPUR_OP(spur_auth_ops, respond, optional, any),
};
constexpr std::array net_ops{
    SPUR_OP(spur_net_ops, invite, optional, worker), SPUR_OP(spur_net_ops, join, required, main),
    SPUR_OP(spur_net_ops, adopt, required, main),    SPUR_OP(spur_net_ops, leave, required, main),
    SPUR_OP(spur_net_ops, change, required, worker), SPUR_OP(spur_net_ops, addresses, required, any),
    SPUR_OP(spur_net_ops, status, optional, any),
};
constexpr std::array gpu_ops{
    SPUR_OP(spur_gpu_ops, scan, required, worker),      SPUR_OP(spur_gpu_ops, bind, required, any),
    SPUR_OP(spur_gpu_ops, release, optional, worker),   SPUR_OP(spur_gpu_ops, load, optional, worker),
    SPUR_OP(spur_gpu_ops, processes, optional, worker), SPUR_OP(spur_gpu_ops, watch, optional, worker),
    SPUR_OP(spur_gpu_ops, reset, optional, worker),     SPUR_OP(spur_gpu_ops, profiles, optional, worker),
    SPUR_OP(spur_gpu_ops, partition, optional, worker),
};
constexpr std::array job_submit_ops{SPUR_OP(spur_job_submit_ops, submit, required, worker)};
constexpr std::array cgroup_ops{
    SPUR_OP(spur_cgroup_ops, capabilities, required, any), SPUR_OP(spur_cgroup_ops, make, required, worker),
    SPUR_OP(spur_cgroup_ops, attach, required, any),       SPUR_OP(spur_cgroup_ops, freeze, optional, worker),
    SPUR_OP(spur_cgroup_ops, signal, required, worker),    SPUR_OP(spur_cgroup_ops, usage, required, any),
    SPUR_OP(spur_cgroup_ops, processes, required, any),    SPUR_OP(spur_cgroup_ops, remove, required, worker),
    SPUR_OP(spur_cgroup_ops, scopes, optional, main),      SPUR_OP(spur_cgroup_ops, open, optional, worker),
    SPUR_OP(spur_cgroup_ops, watch, optional, worker),     SPUR_OP(spur_cgroup_ops, events, optional, any),
};

// The host finds an op's number by its offset: tables are a header and then pointers, none left out.
template <class Ops>
consteval bool is_complete(std::span<const OpInfo> ops) {
    std::size_t at = ops.front().offset;
    if (at > 16) return false;
    for (const auto& op : ops) {
        if (op.offset != at) return false;
        at += sizeof(void*);
    }
    return at == sizeof(Ops) && ops.size() <= most_ops;
}
static_assert(is_complete<spur_state_ops>(state_ops));
static_assert(is_complete<spur_sched_ops>(sched_ops));
static_assert(is_complete<spur_select_ops>(select_ops));
static_assert(is_complete<spur_priority_ops>(priority_ops));
static_assert(is_complete<spur_accounting_ops>(accounting_ops));
static_assert(is_complete<spur_auth_ops>(auth_ops));
static_assert(is_complete<spur_net_ops>(net_ops));
static_assert(is_complete<spur_gpu_ops>(gpu_ops));
static_assert(is_complete<spur_job_submit_ops>(job_submit_ops));
static_assert(is_complete<spur_cgroup_ops>(cgroup_ops));

using Names = std::string_view;
constexpr std::array<Names, 1> state_defaults{"state/raft"};
constexpr std::array<Names, 2> sched_defaults{"sched/backfill", "sched/fifo"};
constexpr std::array<Names, 2> select_defaults{"select/gpu", "select/linear"};
constexpr std::array<Names, 2> priority_defaults{"priority/fairshare", "priority/basic"};
constexpr std::array<Names, 1> accounting_defaults{"accounting/sqlite"};
constexpr std::array<Names, 1> auth_defaults{"auth/local"};
constexpr std::array<Names, 1> net_defaults{"net/none"};
constexpr std::array<Names, 2> gpu_defaults{"gpu/nvml", "gpu/rocm"};
constexpr std::array<Names, 2> cgroup_defaults{"cgroup/v2", "cgroup/none"};

}  // namespace

const AxisInfo StateAxis::info{.name = "state",
                               .interface = SPUR_STATE_IFACE,
                               .ops = state_ops,
                               .defaults = state_defaults,
                               .has_safe_defaults = false,
                               .several = false,
                               .swaps_live = false,
                               .is_policy = false};
const AxisInfo SchedAxis::info{.name = "sched",
                               .interface = SPUR_SCHED_IFACE,
                               .ops = sched_ops,
                               .defaults = sched_defaults,
                               .has_safe_defaults = true,
                               .several = false,
                               .swaps_live = true,
                               .is_policy = true};
const AxisInfo SelectAxis::info{.name = "select",
                                .interface = SPUR_SELECT_IFACE,
                                .ops = select_ops,
                                .defaults = select_defaults,
                                .has_safe_defaults = true,
                                .several = false,
                                .swaps_live = true,
                                .is_policy = true};
const AxisInfo PriorityAxis::info{.name = "priority",
                                  .interface = SPUR_PRIORITY_IFACE,
                                  .ops = priority_ops,
                                  .defaults = priority_defaults,
                                  .has_safe_defaults = true,
                                  .several = false,
                                  .swaps_live = true,
                                  .is_policy = true};
const AxisInfo AccountingAxis::info{.name = "accounting",
                                    .interface = SPUR_ACCOUNTING_IFACE,
                                    .ops = accounting_ops,
                                    .defaults = accounting_defaults,
                                    .has_safe_defaults = false,
                                    .several = false,
                                    .swaps_live = true,
                                    .is_policy = false};
const AxisInfo AuthAxis::info{.name = "auth",
                              .interface = SPUR_AUTH_IFACE,
                              .ops = auth_ops,
                              .defaults = auth_defaults,
                              .has_safe_defaults = false,
                              .several = false,
                              .swaps_live = true,
                              .is_policy = false};
const AxisInfo NetAxis::info{.name = "net",
                             .interface = SPUR_NET_IFACE,
                             .ops = net_ops,
                             .defaults = net_defaults,
                             .has_safe_defaults = false,
                             .several = false,
                             .swaps_live = true,
                             .is_policy = false};
const AxisInfo GpuAxis::info{.name = "gpu",
                             .interface = SPUR_GPU_IFACE,
                             .ops = gpu_ops,
                             .defaults = gpu_defaults,
                             .has_safe_defaults = true,
                             .several = true,
                             .swaps_live = true,
                             .is_policy = false};
constexpr ChainRule gate{.failure_refuses = true, .needs_all = true};
const AxisInfo JobSubmitAxis::info{.name = "job_submit",
                                   .interface = SPUR_JOB_SUBMIT_IFACE,
                                   .ops = job_submit_ops,
                                   .defaults = {},
                                   .has_safe_defaults = false,
                                   .several = true,
                                   .swaps_live = true,
                                   .is_policy = false,
                                   .chain = &gate};
const AxisInfo CgroupAxis::info{.name = "cgroup",
                                .interface = SPUR_CGROUP_IFACE,
                                .ops = cgroup_ops,
                                .defaults = cgroup_defaults,
                                .has_safe_defaults = false,
                                .several = false,
                                .swaps_live = true,
                                .is_policy = false};

std::span<const AxisInfo* const> all_axes() {
    static constexpr std::array<const AxisInfo*, 10> axes{
        &StateAxis::info, &SchedAxis::info, &SelectAxis::info, &PriorityAxis::info, &AccountingAxis::info,
        &AuthAxis::info,  &NetAxis::info,   &GpuAxis::info,    &CgroupAxis::info,   &JobSubmitAxis::info};
    return axes;
}

const AxisInfo* find_axis(std::string_view name) {
    for (const auto* const axis : all_axes())
        if (name == axis->name) return axis;
    return nullptr;
}

}  // namespace spur::host
