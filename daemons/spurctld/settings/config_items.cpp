// The list of configuration items, each with the place its value comes from.
#include "daemons/spurctld/settings/config_items.hpp"

#include <algorithm>

#include "core/text/endpoint.hpp"
#include "core/text/timefmt.hpp"
#include "core/version.hpp"

namespace spur::ctld {

namespace {

constexpr const char* preempt_types[] = {"preempt/any", "preempt/none", "preempt/partition_prio", "preempt/qos"};

std::string seconds(std::uint64_t value) { return fmt::format("{} sec", value); }
std::string yes_no(bool value) { return value ? "Yes" : "No"; }
std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
}

// The plugin that serves an axis: what is in force, else what the configuration says.
class Chosen {
public:
    Chosen(const Config& config, const std::vector<host::PluginStatus>& plugins) : config_{config}, plugins_{plugins} {}
    std::string operator()(const std::string& axis, const std::string& fallback) const {
        for (const auto& plugin : plugins_)
            if (plugin.state == "active" && plugin.type.starts_with(axis + "/")) return plugin.type;
        const auto found = config_.plugins.find(axis);
        return found == config_.plugins.end() || found->second.empty() ? fallback : joined(found->second);
    }

private:
    const Config& config_;
    const std::vector<host::PluginStatus>& plugins_;
};

std::string private_data_words(std::uint32_t flags) {
    constexpr std::pair<std::uint32_t, const char*> words[] = {{private_data::accounts, "accounts"},
                                                               {private_data::events, "events"},
                                                               {private_data::jobs, "jobs"},
                                                               {private_data::nodes, "nodes"},
                                                               {private_data::partitions, "partitions"},
                                                               {private_data::reservations, "reservations"},
                                                               {private_data::usage, "usage"},
                                                               {private_data::users, "users"}};
    std::vector<std::string> set;
    for (const auto& [flag, word] : words)
        if (flags & flag) set.emplace_back(word);
    return set.empty() ? "none" : joined(set);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_config(const Config& config,
                                                                 const std::vector<host::PluginStatus>& plugins) {
    const auto& policies = config.cluster.policies;
    const Chosen plugin_of{config, plugins};
    std::vector<std::pair<std::string, std::string>> items{
        {"AuthType", plugin_of("auth", config.auth.plugin)},
        {"BatchStartTimeout", seconds(policies.batch_start_timeout_s)},
        {"ClusterName", config.cluster.cluster_name.str()},
        {"DisableRootJobs", yes_no(policies.disable_root_jobs)},
        {"Epilog", or_null(config.agent.epilog)},
        {"FirstJobId", std::to_string(policies.first_job_id)},
        {"JobRequeue", policies.job_requeue ? "1" : "0"},
        {"KillWait", seconds(policies.kill_wait_s)},
        {"MaxArraySize", std::to_string(policies.max_array_size)},
        {"MaxJobCount", std::to_string(policies.max_job_count)},
        {"MaxJobId", std::to_string(policies.max_job_id)},
        {"MaxStepCount", std::to_string(policies.max_step_count)},
        {"MaxTasksPerNode", std::to_string(policies.max_tasks_per_node)},
        {"MinJobAge", seconds(policies.min_job_age_s)},
        {"OverTimeLimit", fmt::format("{} min", policies.over_time_limit_min)},
        {"PreemptExemptTime", print_long_duration(policies.preempt_exempt_time_s)},
        {"PreemptMode", std::string{to_string(std::max(policies.preempt_mode, PreemptMode::off))}},
        {"PreemptType", preempt_types[static_cast<std::size_t>(policies.preempt_type)]},
        {"PriorityType", plugin_of("priority", "priority/fairshare")},
        {"PrivateData", private_data_words(policies.private_data)},
        {"Prolog", or_null(config.agent.prolog)},
        {"RebootProgram", or_null(config.agent.reboot_program)},
        {"ResvOverRun", policies.resv_over_run_min == unlimited ? std::string{"UNLIMITED"}
                                                                : fmt::format("{} min", policies.resv_over_run_min)},
        {"ReturnToService", std::to_string(policies.return_to_service)},
        {"SchedulerType", plugin_of("sched", config.scheduler.plugin)},
        {"SelectType", plugin_of("select", "select/gpu")},
        {"SlurmctldHost[0]",
         config.controller.hosts.empty() ? config.controller.listen_addr : config.controller.hosts.front()},
        {"SlurmctldPort", std::to_string(Endpoint::parse(config.controller.listen_addr).value_or(Endpoint{}).port)},
        {"SlurmdTimeout", seconds(config.agent.timeout_s)},
        {"SLURM_CONF", or_null(config.path)},
        {"SLURM_VERSION", "22.05.8"},
        {"SPUR_VERSION", program_version},
        {"StateSaveLocation", or_null(config.controller.state_dir)},
        {"StateType", plugin_of("state", "state/raft")},
        {"TaskEpilog", or_null(config.agent.task_epilog)},
        {"TaskProlog", or_null(config.agent.task_prolog)},
        {"TopologyPlugin", config.cluster.switches.empty() ? "topology/none" : "topology/tree"},
        {"TLS", yes_no(!config.tls.certificate.empty())},
    };
    std::vector<std::string> quarantined;
    for (const auto& plugin : plugins)
        if (plugin.state == "quarantined") quarantined.push_back(plugin.type);
    if (!quarantined.empty()) items.emplace_back("QuarantinedPlugins", joined(quarantined));
    std::ranges::sort(items);
    return items;
}

}  // namespace spur::ctld
