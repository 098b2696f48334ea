// The keys of the configuration that Slurm has too, and what is known only at run time.
#include "daemons/spurctld/settings/config_items.hpp"

#include <algorithm>

#include "core/version.hpp"
#include "daemons/common/config/config.hpp"

namespace spur::ctld {

namespace {

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

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_config(const Config& config,
                                                                 const std::vector<host::PluginStatus>& plugins) {
    const Chosen plugin_of{config, plugins};
    std::vector<std::pair<std::string, std::string>> items{
        {"AuthType", plugin_of("auth", config.auth.plugin)},
        {"PriorityType", plugin_of("priority", "priority/fairshare")},
        {"SchedulerType", plugin_of("sched", config.scheduler.plugin)},
        {"SelectType", plugin_of("select", "select/gpu")},
        {"SLURM_CONF", or_null(config.path)},
        {"SLURM_VERSION", "22.05.8"},
        {"SPUR_VERSION", program_version},
        {"StateType", plugin_of("state", "state/raft")},
        {"TopologyPlugin", config.cluster.switches.empty() ? "topology/none" : "topology/tree"},
        {"TLS", config.tls.certificate.empty() ? "No" : "Yes"},
    };
    for (const auto& key : config::config_keys())
        if (key.show) items.emplace_back(key.slurm, or_null(key.show(config)));
    std::vector<std::string> quarantined;
    for (const auto& plugin : plugins)
        if (plugin.state == "quarantined") quarantined.push_back(plugin.type);
    if (!quarantined.empty()) items.emplace_back("QuarantinedPlugins", joined(quarantined));
    std::ranges::sort(items);
    return items;
}

}  // namespace spur::ctld
