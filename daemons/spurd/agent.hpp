// The agent: everything spurd consists of, wired together.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "daemons/common/daemon/daemon.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/spurd/cluster_memory.hpp"
#include "daemons/spurd/controller_link.hpp"
#include "daemons/spurd/gpu_worker.hpp"
#include "daemons/spurd/node_jobs.hpp"
#include "daemons/spurd/settings.hpp"
#include "daemons/spurd/step_service.hpp"
#include "daemons/spurstepd/setup.hpp"
#include "daemons/spurstepd/site_limits.hpp"

namespace spur::agent {

class Agent {
public:
    // Opens the plugins that know the node's hardware.
    Agent(Settings settings, const Config& config);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    // Takes over what an earlier spurd left and starts to serve; nothing runs before run(). The state directory is
    // ours.
    Result<void> open(const Config& config);
    Result<void> run(daemon::Frame& frame);  // until SIGTERM or SIGINT; jobs live on
    std::string describe() const;            // what -t prints

private:
    void open_cgroup(const Config& config);
    Result<void> read_site_limits();
    [[nodiscard]] std::uint32_t cgroup_abilities() const;
    [[nodiscard]] std::uint32_t enforced_limits() const;
    void limit_node();
    void clear_leftovers();
    Result<void> open_auth(const Config& config);
    void listen_to_plugins();
    void scan_again(const std::string& plugin, const std::string& reason);
    [[nodiscard]] LauncherOptions launcher_options() const;
    bool kill_strays(const v1::JobLaunch& job, std::uint32_t step);

    void join();
    void note_progress(const v1::ControllerMessage& message);
    void obey(const v1::ControllerMessage& message);
    void take_policy(const v1::AgentPolicy& policy);
    void reboot();
    void take_keys(const v1::StepKeys& keys);
    void take_welcome(const v1::Welcome& welcome);
    void beat();
    void answer(std::uint64_t sequence, const Result<void>& result);
    [[nodiscard]] v1::Node describe_node() const;

    Settings settings_;
    NodeSetup setup_;
    std::string serve_addr_;
    std::string unkillable_;  // what an earlier spurd left and nothing ends; empty: there is no such thing
    std::int64_t start_time_;
    Loop loop_;
    host::PluginHost plugins_;
    host::Bound<host::CgroupAxis> cgroup_;
    step::Setup step_setup_;  // with the options of that plugin
    step::SiteLimits site_limits_;
    std::shared_ptr<wire::Authenticator> authenticator_;
    std::shared_ptr<wire::CredentialSource> credentials_;
    std::optional<wire::TlsOptions> tls_;
    std::optional<JobStore> store_;
    std::optional<ClusterMemory> memory_;
    std::unique_ptr<Launcher> launcher_;
    std::unique_ptr<Reports> reports_;
    std::unique_ptr<NodeJobs> jobs_;
    std::unique_ptr<StepService> service_;
    std::unique_ptr<ControllerLink> link_;
    std::unique_ptr<wire::RpcServer> server_;  // the last to be made and the first to go: its threads call the others
    std::string refusal_;                      // the last one, as the log was told
    std::chrono::seconds heartbeat_{15};
    Loop::TimerId heartbeat_timer_{0};
    bool welcomed_{false};
    bool storing_progress_{false};  // it is posted
    std::mutex scanning_;
    Gpus scanned_;  // as found last; setup_ has them a moment later
    std::unique_ptr<GpuWorker> gpu_worker_;
    bool is_rebooting_{false};  // the program for it runs
};

}  // namespace spur::agent
