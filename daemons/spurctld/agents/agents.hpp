// The agents: one session a node, and what the nodes report turned into commands. What they are told is made by
// Dispatch.
//
// agents.cpp has the sessions, agents_reports.cpp what is heard.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/model/config.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/spurctld/agents/dispatch.hpp"
#include "daemons/spurctld/engine/cluster_clock.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

struct NodeVitals {  // what heartbeats say; soft, never in the log
    double load{};
    std::uint64_t free_memory_mib{};
    UnixSeconds clock_skew_s{};  // its clock ahead of the one here, where that is more than most_skew_s; else 0
};

class Agents final : public EngineObserver {
public:
    using Clock = std::chrono::steady_clock;
    using Log = std::function<void(std::string)>;
    static constexpr UnixSeconds most_skew_s = 30;
    static constexpr UnixSeconds unfit_skew_s = 300;  // credentials are valid for as long
    Agents(Engine& engine, Users& users, AgentConfig config, std::string cluster_name, Log log,
           ClusterClock::Sources clocks = ClusterClock::machine());
    ~Agents() override;

    // A stream has been opened; the caller may be an agent (the service has checked who it is).
    void open(wire::Session session);
    void reconfigure(AgentConfig config);
    void close_all(const std::string& why);  // agents come back and prove themselves anew
    std::optional<NodeVitals> vitals(NodeId node) const;
    std::size_t connected() const;
    bool can_reboot() const;  // a program for it is configured

    void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                    const std::shared_ptr<const planning::ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    struct Link {  // one open session
        explicit Link(wire::Session stream) : session{std::move(stream)}, heard{Clock::now()} {}
        wire::Session session;
        std::optional<NodeId> node;  // once registered
        std::string name;            // of the node
        std::string agent;           // which of those that might use the name
        Clock::time_point heard;
        Clock::time_point pinged{};  // asked whether it is still there
        bool closed{false};
    };
    struct Presence {  // one node
        std::shared_ptr<Link> link;
        std::weak_ptr<Link> joining;  // its registration is on its way through the log
        NodeVitals vitals;
        Clock::time_point silent_since;
        Clock::time_point rival_told;  // when the log was last told of a second agent of its name
        bool told_silent{false};
        bool told_lost{false};
    };

    // agents.cpp
    void park(const wire::Session& session);
    void send_parked_on(const Leadership& now);
    void receive(const std::shared_ptr<Link>& link, const std::string& bytes);
    void enrol(const std::shared_ptr<Link>& link, const v1::Register& request);
    Result<NodeId> may_join(const Link& link, const v1::Register& request);
    Result<void> check_certificate(const wire::Peer& peer, const std::string& node);
    Result<void> claim_name(const std::shared_ptr<Link>& link, NodeId node);
    void refuse(const Link& link, const Error& why);
    void registered(const std::shared_ptr<Link>& link, NodeId node, const Events& events);
    v1::ControllerMessage welcome(NodeId node, const Events& events);
    void lost(const std::shared_ptr<Link>& link);
    void take_heartbeat(const Link& link, NodeId node, const v1::Heartbeat& beat);
    void judge_clock(NodeId node, UnixSeconds reported, UnixSeconds here);
    void watch_silence(const std::stop_token& stop);
    void check_silence();
    void propose_silence(NodeId node, Command command);
    v1::AgentPolicy policy(NodeId node) const;

    // agents_reports.cpp
    void take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report);
    void drain(NodeId node, const std::string& why);
    void undrain(NodeId node, std::string_view why);
    void reboot_failed(NodeId node, const std::string& why);
    void finish_step(NodeId node, const v1::StepReport& report, const Engine::Done& decided);

    Engine& engine_;
    std::string cluster_name_;
    Log log_;
    const ClusterClock::Sources clocks_;
    const ClusterClock::Nanoseconds steady_began_;  // the wall clock's time when the steady one was 0

    mutable std::mutex mutex_;
    AgentConfig config_;
    std::map<NodeId, Presence> nodes_;
    std::vector<wire::Session> parked_;  // of agents that came while nobody led
    bool leads_{false};
    Dispatch dispatch_;
    std::jthread watchdog_;
};

}  // namespace spur::ctld
