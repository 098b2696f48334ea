// The agent and its cgroup plugin: the limits of jobs on this node, and clearing away what belongs to no job any more.
#include <signal.h>

#include <algorithm>

#include "core/model/node.hpp"
#include "core/slurm/refusal.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurd/agent.hpp"
#include "daemons/spurd/leftovers.hpp"
#include "daemons/spurd/strays.hpp"
#include "daemons/spurstepd/deadline_stop.hpp"

namespace spur::agent {

// Where the configuration asks for containment, nothing runs without it.
void Agent::open_cgroup(const Config& config) {
    auto opened = plugins_.open<host::CgroupAxis>(config);
    if (opened) cgroup_ = *opened;
    const auto ready = opened ? read_site_limits() : Result<void>{std::unexpected(opened.error())};
    if (ready) return;
    setup_.unfit = "Jobs cannot be contained: " + ready.error().text;
    log::error("{}; this node takes no jobs until that is mended or [plugins] cgroup = \"cgroup/none\" is set",
               setup_.unfit);
}

// Some options of the plugin say what this host is to hold jobs to. Those that it cannot are told of.
Result<void> Agent::read_site_limits() {
    const auto pin = cgroup_.pin();
    const auto& instance = pin.instance();
    SPUR_TRY(const auto config, host::PluginConfig::make(instance.info(), instance.options(), step_setup_.source));
    step_setup_.options = config.values();
    SPUR_TRY(site_limits_, step::SiteLimits::make(step_setup_.options));
    const auto can = cgroup_abilities();
    const struct {
        const char* option;
        bool is_set;
        std::uint32_t needs;
    } wishes[] = {{"cpu_quota", site_limits_.cpu_quota, SPUR_CGROUP_CPU},
                  {"weights", site_limits_.weights, SPUR_CGROUP_CPU},
                  {"swap_percent", site_limits_.swap_percent >= 0, SPUR_CGROUP_SWAP},
                  {"io_limits", !site_limits_.io.empty(), SPUR_CGROUP_IO},
                  {"allowed_devices", !site_limits_.allowed_devices.empty(), SPUR_CGROUP_DEVICES}};
    for (const auto& wish : wishes)
        if (wish.is_set && (can & wish.needs) == 0)
            log::warning("{} of {} has no effect on this node: the system does not give what it takes", wish.option,
                         pin.type());
    return {};
}

std::uint32_t Agent::cgroup_abilities() const {
    const auto pin = cgroup_.pin();
    return pin ? pin.call(&spur_cgroup_ops::capabilities).value_or(0) : 0;
}

// A limit for all jobs together, so that the system keeps what it needs.
void Agent::limit_node() {
    const auto pin = cgroup_.pin();
    if (!pin || !pin.can(&spur_cgroup_ops::scopes) || (cgroup_abilities() & SPUR_CGROUP_CONTAINS) == 0) return;
    const spur_cgroup_scope node{sizeof(spur_cgroup_scope), SPUR_NONE, 0, SPUR_NONE, SPUR_NONE, 0};
    spur_cgroup_limits limits{};
    limits.size = sizeof limits;
    limits.memory =
        step::limit_if(jobs_memory_mib(setup_.hardware.machine_memory_mib, settings_.kept_memory_mib) << 20);
    limits.processes = site_limits_.processes.node;
    if (const auto made = pin.call(&spur_cgroup_ops::make, &node, &limits); !made)
        log::warning("jobs may take all of this machine: {}", made.error().text);
}

// Before the first session: what the registration does not list must not be alive on this node.
void Agent::clear_leftovers() {
    const Known known{.step =
                          [this](auto job, auto attempt, auto step) {
                              return jobs_->holds_step({job, attempt}, step);
                          },
                      .job =
                          [this](auto job, auto attempt) {
                              return jobs_->holds_job({job, attempt});
                          }};
    const auto daemons = clear_step_daemons(store_->jobs_dir(), known), scopes = clear_scopes(cgroup_, known);
    if (daemons.forgotten || scopes.forgotten)
        if (const auto renewed = store_->renew_id(); !renewed) log::error("{}", renewed.error().text);
    for (const auto* stuck : {&daemons.unkillable, &scopes.unkillable})
        if (!stuck->empty()) unkillable_ = refusal::kill_failed.with(": {}", *stuck).text;
}

std::uint32_t Agent::enforced_limits() const {
    const auto can = cgroup_abilities();
    std::uint32_t limits = node_limit::known;
    if (can & SPUR_CGROUP_CONTAINS) limits |= node_limit::containment;
    if (can & SPUR_CGROUP_MEMORY) limits |= node_limit::memory;
    if (can & SPUR_CGROUP_PROCESSES) limits |= node_limit::processes;
    if (can & SPUR_CGROUP_CPUSET && setup_.binds_cpus) limits |= node_limit::cores;
    if (can & SPUR_CGROUP_DEVICES || setup_.gpus.devices().empty()) limits |= node_limit::devices;
    return limits;
}

bool Agent::kill_strays(const v1::JobLaunch& job, std::uint32_t step) {
    const spur_cgroup_scope scope{sizeof(spur_cgroup_scope), job.job_id(), job.attempt(), step, SPUR_NONE, 0};
    const auto stop = step::stop_after(kill_patience);
    spur_cgroup_usage usage{};
    usage.size = sizeof usage;
    if (cgroup_) {
        static_cast<void>(cgroup_.call(&spur_cgroup_ops::usage, &scope, &usage));
        static_cast<void>(cgroup_.call(&spur_cgroup_ops::signal, &scope, SIGKILL, &stop));
        static_cast<void>(cgroup_.call(&spur_cgroup_ops::remove, &scope));
        auto whole = scope;
        whole.step = SPUR_NONE;
        static_cast<void>(cgroup_.call(&spur_cgroup_ops::remove, &whole));  // if this was the last of its steps
    }
    const auto marked = kill_marked(step_mark(setup_.cookie, job.job_id(), job.attempt(), step));
    const auto found = std::max<std::size_t>(usage.processes, marked);
    if (found > 0)
        log::warning("killed {} processes that step {}.{} left behind", found, job.job_id(), step::step_name(step));
    return found > 0;
}

}  // namespace spur::agent
