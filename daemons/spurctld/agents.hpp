// The agents: one session a node. Turns what happened in the cluster into messages for its nodes, and what the nodes
// report into commands. Nothing here waits for an agent: a message is queued for its session or, where there is none,
// left to the reconciliation when the agent registers again.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "core/config.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/spurctld/engine.hpp"
#include "daemons/spurctld/users.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

struct NodeVitals {  // what heartbeats say; soft, never in the log
    double load{};
    std::uint64_t free_memory_mib{};
};

class Agents final : public EngineObserver {
public:
    using Log = std::function<void(std::string)>;
    Agents(Engine& engine, Users& users, AgentConfig config, std::string cluster_name, std::string credential_key,
           Log log);
    ~Agents() override;

    // A stream has been opened; the caller may be an agent (the service has checked who it is).
    void open(wire::Session session);
    void reconfigure(AgentConfig config);
    std::optional<NodeVitals> vitals(NodeId node) const;
    std::size_t connected() const;

    void on_applied(const Cluster& cluster, const Events& events, const Changes& changes,
                    const std::shared_ptr<const ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    using Clock = std::chrono::steady_clock;
    struct Link {  // one open session
        wire::Session session;
        std::optional<NodeId> node;  // once registered
        std::string name;
        Clock::time_point heard;
    };
    struct Presence {  // one node
        std::shared_ptr<Link> link;
        NodeVitals vitals;
        Clock::time_point silent_since;
        bool told_silent{false};
        bool told_lost{false};
    };
    struct Unfinished {  // a step some of whose nodes have not reported its end
        std::set<NodeId> nodes;
        std::uint32_t worst_status{};
    };

    void receive(const std::shared_ptr<Link>& link, const std::string& bytes);
    void enrol(const std::shared_ptr<Link>& link, const v1::Register& request);
    void welcome(const std::shared_ptr<Link>& link, NodeId node, const Events& events);
    void take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report);
    void finish_step(NodeId node, const v1::StepReport& report);
    void lost(const std::shared_ptr<Link>& link);
    bool send(NodeId node, const v1::ControllerMessage& message);
    void send_to_job(const Job& job, const v1::ControllerMessage& message);
    void act(const Cluster& cluster, const Event& event);
    // A launch waits for the owner's groups: a job must not run without them.
    struct Launch {
        JobId job;
        std::uint32_t attempt{};
        std::optional<NodeId> only;  // of its nodes; else all
        Clock::time_point since;
    };
    void launch(const Job& job, std::optional<NodeId> only);
    void launch(const Launch& wanted);
    void launch_as(const Launch& wanted, const Result<Users::Record>& owner);
    void try_again();
    void watch_silence(const std::stop_token& stop);
    void check_silence();
    v1::AgentPolicy policy(NodeId node) const;

    Engine& engine_;
    Users& users_;
    std::string cluster_name_;
    std::string credential_key_;
    Log log_;

    mutable std::mutex mutex_;
    AgentConfig config_;
    std::map<NodeId, Presence> nodes_;
    std::map<StepKey, Unfinished> unfinished_;
    std::vector<Launch> postponed_;  // nobody could say what groups the owner is in
    bool leads_{false};
    std::jthread watchdog_;
};

}  // namespace spur::ctld
