// Turns what happened in the cluster into orders for its nodes, on a thread of its own.
//
// Every order leaves through this one thread, in the order of the events: a job's end never overtakes its launch.
// Nothing waits for an agent: an order is queued for its session or, where there is none, left to the reconciliation
// when the agent registers again.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemons/common/wire/server.hpp"
#include "daemons/spurctld/agents/launch.hpp"
#include "daemons/spurctld/engine/background.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

class Dispatch {
public:
    using Clock = std::chrono::steady_clock;
    using Log = std::function<void(std::string)>;
    using FindSession = std::function<std::optional<wire::Session>(NodeId)>;  // [any thread]
    Dispatch(Engine& engine, Users& users, FindSession find_session, Log log);

    // ---- any thread
    // `events` have happened, and `model` shows their effect.
    void act(const Events& events, std::shared_ptr<const planning::ReadModel> model);
    // The agent of `node` has joined: what it lacks or still has to end is sent through its new session.
    void joined(NodeId node, std::vector<JobId> to_launch, std::vector<JobId> to_end);
    void drained(NodeId node);  // its session has room again
    void try_again();           // launches whose owner nobody could name
    bool has_waiting() const { return nodes_waiting_ != 0; }
    bool send(NodeId node, v1::ControllerMessage message) const;
    std::string pack(v1::ControllerMessage message) const;
    void stop() { thread_.stop(); }  // what is queued is done first

private:
    // A launch waits for the owner's groups: a job must not run without them.
    struct Launch {
        JobId job;
        std::uint32_t attempt{};
        std::optional<NodeId> only;  // of its nodes; else all
        Clock::time_point since;
    };
    using JobPtr = std::shared_ptr<const Job>;
    struct Orders;  // what each event calls for

    // ---- dispatch thread
    void send_reboot(NodeId node) const;
    void send_to_job(const Job& job, v1::ControllerMessage message) const;
    void launch(const Launch& wanted);
    void launch_as(const Launch& wanted, const Result<Users::Record>& owner);
    JobPtr find_launchable(const planning::ReadModel& model, const Launch& wanted) const;
    void send_launch(const Launch& wanted, const planning::ReadModel& model, std::size_t index);
    void fail_launch(const Launch& wanted, const std::string& why);

    Engine& engine_;
    Users& users_;
    FindSession find_session_;
    Log log_;
    std::optional<LaunchBody> body_;                // the last one made: the next launch is often of the same job
    std::map<NodeId, std::deque<Launch>> waiting_;  // until there is room in the node's session
    std::atomic<std::size_t> nodes_waiting_{0};     // waiting_.size()
    std::vector<Launch> postponed_;                 // nobody could say what groups the owner is in
    BackgroundWorker thread_;
};

}  // namespace spur::ctld
