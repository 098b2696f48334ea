// The reasons behind limits on trackable resources: one for each kind of limit and of resource, in Slurm's spellings.
#pragma once

#include <string_view>

#include "core/model/reason.hpp"

namespace spur::limit_reasons {

// One limit on trackable resources has a reason of its own for each kind of them.
struct TresReasons {
    Reason cpu, memory, node, gres, license, billing, energy, other;
};
inline Reason reason_for(const TresReasons& reasons, std::string_view tres) {
    if (tres == "cpu") return reasons.cpu;
    if (tres == "mem") return reasons.memory;
    if (tres == "node") return reasons.node;
    if (tres == "billing") return reasons.billing;
    if (tres == "energy") return reasons.energy;
    if (tres.starts_with("gres/")) return reasons.gres;
    if (tres.starts_with("license/")) return reasons.license;
    return reasons.other;
}

using R = Reason;
constexpr TresReasons qos_grp{R::qos_grp_cpu_limit, R::qos_grp_mem_limit, R::qos_grp_node_limit, R::qos_grp_gres,
                              R::qos_grp_license,   R::qos_grp_billing,   R::qos_grp_energy,     R::qos_grp_unknown};
constexpr TresReasons qos_grp_mins{R::qos_grp_cpu_minutes_limit, R::qos_grp_memory_minutes,  R::qos_grp_node_minutes,
                                   R::qos_grp_gres_minutes,      R::qos_grp_license_minutes, R::qos_grp_billing_minutes,
                                   R::qos_grp_energy_minutes,    R::qos_grp_unknown_minutes};
constexpr TresReasons qos_grp_run{R::qos_grp_cpu_run_minutes_limit, R::qos_grp_memory_run_minutes,
                                  R::qos_grp_node_run_minutes,      R::qos_grp_gres_run_minutes,
                                  R::qos_grp_license_run_minutes,   R::qos_grp_billing_run_minutes,
                                  R::qos_grp_energy_run_minutes,    R::qos_grp_unknown_run_minutes};
constexpr TresReasons assoc_grp_run{R::assoc_grp_cpu_run_minutes_limit, R::assoc_grp_mem_run_minutes,
                                    R::assoc_grp_node_run_minutes,      R::assoc_grp_gres_run_minutes,
                                    R::assoc_grp_license_run_minutes,   R::assoc_grp_billing_run_minutes,
                                    R::assoc_grp_energy_run_minutes,    R::assoc_grp_unknown_run_minutes};
constexpr TresReasons qos_job{R::qos_max_cpu_per_job_limit, R::qos_max_memory_per_job,  R::qos_max_node_per_job_limit,
                              R::qos_max_gres_per_job,      R::qos_max_license_per_job, R::qos_max_billing_per_job,
                              R::qos_max_energy_per_job,    R::qos_max_unknown_per_job};
constexpr TresReasons qos_job_mins{R::qos_max_cpu_minutes_per_job_limit, R::qos_max_memory_minutes_per_job,
                                   R::qos_max_node_minutes_per_job,      R::qos_max_gres_minutes_per_job,
                                   R::qos_max_license_minutes_per_job,   R::qos_max_billing_minutes_per_job,
                                   R::qos_max_energy_minutes_per_job,    R::qos_max_unknown_minutes_per_job};
constexpr TresReasons qos_node{R::qos_max_cpu_per_node,    R::qos_max_memory_per_node,  R::qos_max_unknown_per_node,
                               R::qos_max_gres_per_node,   R::qos_max_unknown_per_node, R::qos_max_billing_per_node,
                               R::qos_max_energy_per_node, R::qos_max_unknown_per_node};
constexpr TresReasons qos_user{R::qos_max_cpu_per_user_limit,  R::qos_max_memory_per_user,
                               R::qos_max_node_per_user_limit, R::qos_max_gres_per_user,
                               R::qos_max_license_per_user,    R::qos_max_billing_per_user,
                               R::qos_max_energy_per_user,     R::qos_max_unknown_per_user};
constexpr TresReasons qos_account{R::max_cpu_per_account,    R::max_memory_per_account,  R::max_node_per_account,
                                  R::max_gres_per_account,   R::max_license_per_account, R::max_billing_per_account,
                                  R::max_energy_per_account, R::max_unknown_per_account};
constexpr TresReasons qos_least{
    R::qos_min_cpu_not_satisfied, R::qos_min_memory,  R::qos_min_node,   R::qos_min_gres,
    R::qos_min_license,           R::qos_min_billing, R::qos_min_energy, R::qos_min_unknown};
constexpr TresReasons assoc_grp{R::assoc_grp_cpu_limit, R::assoc_grp_mem_limit, R::assoc_grp_node_limit,
                                R::assoc_grp_gres,      R::assoc_grp_license,   R::assoc_grp_billing,
                                R::assoc_grp_energy,    R::assoc_grp_unknown};
constexpr TresReasons assoc_grp_mins{R::assoc_grp_cpu_minutes_limit, R::assoc_grp_mem_minutes,
                                     R::assoc_grp_node_minutes,      R::assoc_grp_gres_minutes,
                                     R::assoc_grp_license_minutes,   R::assoc_grp_billing_minutes,
                                     R::assoc_grp_energy_minutes,    R::assoc_grp_unknown_minutes};
constexpr TresReasons assoc_job{R::assoc_max_cpu_per_job_limit,  R::assoc_max_mem_per_job,
                                R::assoc_max_node_per_job_limit, R::assoc_max_gres_per_job,
                                R::assoc_max_license_per_job,    R::assoc_max_billing_per_job,
                                R::assoc_max_energy_per_job,     R::assoc_max_unknown_per_job};
constexpr TresReasons assoc_job_mins{R::assoc_max_cpu_minutes_per_job_limit, R::assoc_max_mem_minutes_per_job,
                                     R::assoc_max_node_minutes_per_job,      R::assoc_max_gres_minutes_per_job,
                                     R::assoc_max_license_minutes_per_job,   R::assoc_max_billing_minutes_per_job,
                                     R::assoc_max_energy_minutes_per_job,    R::assoc_max_unknown_minutes_per_job};
constexpr TresReasons assoc_node{R::assoc_max_cpu_per_node,     R::assoc_max_mem_per_node,
                                 R::assoc_max_unknown_per_node, R::assoc_max_gres_per_node,
                                 R::assoc_max_unknown_per_node, R::assoc_max_billing_per_node,
                                 R::assoc_max_energy_per_node,  R::assoc_max_unknown_per_node};

}  // namespace spur::limit_reasons
