// The audit trail: one line in the log for whatever happens to jobs, nodes and accounts, and by whose hand. Written by
// the leader, for what it proposed itself, so each thing is said once in a cluster.
//
//   job 12: submitted by uid 1000 (alice), name "relax", partition main
//   job 12: started on n1, n2, partition main, attempt 1
//   job 12: ended COMPLETED, exit code 0:0, after 95 s
//   node n2: IDLE+DRAIN, reason "disk", set by uid 0
//
// The engine's thread makes the lines and queues them; another writes them, so a slow disk holds up nobody.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

class Audit final : public EngineObserver {
public:
    using Write = std::function<void(const std::vector<std::string>& lines)>;
    explicit Audit(Write write);
    ~Audit() override;
    void stop();  // what is queued is written first

    void add(std::string line);  // [any thread] something that is not in the commands: which account, which field

    void on_command(const Cluster& cluster, const Stamped<Command>& command, const Events& events) override;
    void on_applied(const Cluster&, const Events&, const planning::Changes&,
                    const std::shared_ptr<const planning::ReadModel>&, bool) override {}
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    struct NodeStanding {  // what of a node's state is worth a line when it changes
        NodeState state{NodeState::unknown};
        std::uint32_t flags{};
        bool operator==(const NodeStanding&) const = default;
    };
    static NodeStanding standing_of(const Node& node);
    void tell(const Cluster& cluster, const Event& event);
    void tell_node(const Node& node);
    void loop(const std::stop_token& stop);

    Write write_;
    std::map<NodeId, NodeStanding> nodes_;  // engine thread only
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::vector<std::string> lines_;
    std::size_t left_out_{0};
    bool idle_{false};  // the thread sleeps until it is woken
    std::jthread thread_;
};

// Who, as the trail has it: "uid 1000 (alice)".
std::string audited(const Actor& actor);
// Text that a user chose, in quotes, cut, on one line.
std::string audited(std::string_view text);
std::string_view past_of(Edit edit);  // "created"

// What somebody changed, as he wrote it: comment="x", priority="5".
template <class Map>
std::string list_changes(const Map& changes) {
    std::string text;
    for (const auto& [key, value] : std::map<std::string, std::string>(changes.begin(), changes.end()))
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, audited(std::string_view{value}));
    return text;
}

}  // namespace spur::ctld
