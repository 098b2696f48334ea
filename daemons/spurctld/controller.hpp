// The controller put together: plugins, engine, agents, scheduler and the server in front of them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/config.hpp"
#include "core/result.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/spurctld/agents.hpp"
#include "daemons/spurctld/audit.hpp"
#include "daemons/spurctld/authority.hpp"
#include "daemons/spurctld/engine.hpp"
#include "daemons/spurctld/scheduler.hpp"
#include "daemons/spurctld/service.hpp"
#include "daemons/spurctld/step_keys.hpp"
#include "daemons/spurctld/users.hpp"
#include "daemons/spurctld/watch.hpp"
#include "daemons/spurctld/what_if.hpp"

namespace spur::ctld {

class Controller {
public:
    using LoadConfig =
        std::function<Result<Config>()>;  // reads the configuration again, with the command line's changes
    // `may_rename`: the state may be that of a cluster of another name.
    Controller(Config config, LoadConfig reload, std::function<void()> request_stop, bool may_rename = false);
    ~Controller();

    // Opens plugins, recovers the state, applies the configuration and serves.
    Result<void> start();
    void stop();
    Result<void> failure() const;  // why it had to ask for its end; nothing if nothing is wrong
    Result<v1::ReconfigureReply> reconfigure(const std::string& by);  // what came of it is in the log
    std::uint16_t port() const { return server_->port(); }

    // Where the crashes of plugins are written down, for the quarantine at the next start.
    static std::filesystem::path crash_journal(const Config& config);

    // What -t does: every plugin can be opened with this configuration. The answer are warnings.
    static Result<std::vector<std::string>> check(const Config& config);

private:
    static daemon::HostOptions host_options(const Config& config);
    static std::vector<std::string> warnings_about(const Config& config);
    Result<void> open_plugins();
    Result<void> serve();
    Result<v1::ReconfigureReply> take_new_config();
    Result<PolicyPlugins> open_more_policies();
    void give_up(const Error& error);  // asks for the end of the daemon
    bool take_name(const spur::Cluster& cluster);
    ServiceHooks hooks();
    ReadGate::AskLeader leader_question();
    v1::PluginStatsReply plugin_stats() const;
    std::vector<std::pair<std::string, std::string>> config_items() const;
    std::string priority_option(std::string_view key) const;

    class ConfigApplier;
    mutable std::mutex mutex_;  // config_, failure_
    std::optional<Error> failure_;
    Config config_;
    LoadConfig reload_;
    std::function<void()> request_stop_;
    const bool may_rename_;
    daemon::PluginHost plugins_;
    daemon::Bound<daemon::AuthAxis> auth_;
    PolicyPlugins policies_;
    Users users_;
    Authority authority_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<ConfigApplier> applier_;
    std::unique_ptr<StepKeys> step_keys_;
    std::unique_ptr<Audit> audit_;
    std::unique_ptr<Agents> agents_;
    std::unique_ptr<WatchHub> watchers_;
    std::unique_ptr<Scheduler> scheduler_;
    std::unique_ptr<WhatIf> what_if_;
    std::unique_ptr<ReadGate> gate_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<wire::RpcServer> server_;
};

}  // namespace spur::ctld
