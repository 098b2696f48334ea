// The axes of this release.
#include "case.hpp"

namespace spur::check {

extern const Axis state_axis, sched_axis, select_axis, priority_axis, accounting_axis, auth_axis, net_axis, gpu_axis,
    cgroup_axis, job_submit_axis;

std::span<const Axis* const> axes() {
    static constexpr const Axis* all[] = {&state_axis, &sched_axis, &select_axis, &priority_axis, &accounting_axis,
                                          &auth_axis,  &net_axis,   &gpu_axis,    &cgroup_axis,   &job_submit_axis};
    return all;
}

const Axis* find_axis(std::string_view type) {
    const auto name = type.substr(0, type.find('/'));
    for (const auto* axis : axes())
        if (name == axis->name) return axis;
    return nullptr;
}

}  // namespace spur::check
