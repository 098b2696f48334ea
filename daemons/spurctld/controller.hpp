// The controller put together: plugins, engine, agents, scheduler and the server in front of them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/common/wire/client.hpp"
#include "daemons/spurctld/accounting/outbox_sender.hpp"
#include "daemons/spurctld/agents/agents.hpp"
#include "daemons/spurctld/agents/step_keys.hpp"
#include "daemons/spurctld/engine/background.hpp"
#include "daemons/spurctld/engine/cluster_clock.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "daemons/spurctld/engine/peers.hpp"
#include "daemons/spurctld/planning/scheduler.hpp"
#include "daemons/spurctld/planning/what_if.hpp"
#include "daemons/spurctld/service/audit.hpp"
#include "daemons/spurctld/service/authority.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "daemons/spurctld/service/watch.hpp"
#include "daemons/spurctld/settings/config_keeper.hpp"

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
    // Reads the configuration again and brings it into force, on all controllers. The leader's to do. What came of it
    // is in the log.
    Result<v1::ReconfigureReply> reconfigure(const std::string& by);
    // The same on a leader; on a follower only what concerns itself.
    Result<v1::ReconfigureReply> reload(const std::string& by);
    std::uint16_t port() const { return server_->port(); }

    // What -t does: every plugin can be opened with this configuration. The answer are warnings.
    static Result<std::vector<std::string>> check(const Config& config);

private:
    static host::HostOptions host_options(const Config& config);
    static std::vector<std::string> warnings_about(const Config& config);
    Result<void> open_plugins();
    Result<void> serve();
    void listen_to_plugins();
    void read_metrics(const wire::Call& call) const;
    Result<v1::ReconfigureReply> take_new_config(bool into_force);
    Result<planning::PolicyPlugins> open_more_policies();
    void give_up(const Error& error);  // asks for the end of the daemon
    bool take_name(const spur::Cluster& cluster);
    Result<v1::ReconfigureReply> take(Config fresh, bool into_force);
    Result<void> bring_into_force(const Config& fresh);
    void reload_after_change();
    ServiceHooks hooks();
    static wire::ChannelOptions peer_options(const Config& config, const host::Bound<host::AuthAxis>& auth);
    ReadGate::AskLeader leader_question();
    Result<void> open_outbox();
    v1::PluginStatsReply plugin_stats() const;
    std::vector<std::pair<std::string, std::string>> config_items() const;
    std::string priority_option(std::string_view key) const;

    class LeadershipLog;
    std::mutex reconfiguring_;  // one at a time, whoever asks for it
    mutable std::mutex mutex_;  // config_, failure_
    std::optional<Error> failure_;
    Config config_;
    LoadConfig reload_;
    std::function<void()> request_stop_;
    const bool may_rename_;
    host::PluginHost plugins_;
    host::Bound<host::AuthAxis> auth_;
    planning::PolicyPlugins policies_;
    std::optional<JobSubmitChain> job_submit_;
    Users users_;
    Authority authority_;
    ClusterClock clock_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<LeadershipLog> leadership_log_;
    std::unique_ptr<ConfigKeeper> keeper_;
    std::unique_ptr<Peers> peers_;
    std::unique_ptr<StepKeys> step_keys_;
    std::unique_ptr<Audit> audit_;
    std::unique_ptr<OutboxSender> outbox_;  // none: no history is sent
    std::unique_ptr<Agents> agents_;
    std::unique_ptr<WatchHub> watchers_;
    std::unique_ptr<Scheduler> scheduler_;
    std::unique_ptr<WhatIf> what_if_;
    std::unique_ptr<ReadGate> gate_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<wire::RpcServer> server_;
    std::unique_ptr<BackgroundWorker> background_;  // reads the file when another controller has changed it
};

}  // namespace spur::ctld
