// What an agent remembers of its cluster while it is not running: which agent it is, how much of the controller's state
// it has seen, and whose signatures it trusts. Without its file the agent begins as a new one. How much it has seen
// changes with every job, so that has a second file, written in place.
#pragma once

#include <string>

#include "daemons/common/wire/socket.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

class ClusterMemory {
public:
    explicit ClusterMemory(const std::string& state_dir);  // what is there is taken; an agent without an id gets one

    [[nodiscard]] const std::string& agent_id() const { return kept_.agent_id(); }
    [[nodiscard]] const v1::SeenHistory& seen() const { return kept_.seen(); }
    [[nodiscard]] const v1::StepKeys& keys() const { return kept_.keys(); }

    // From now on it is part of this history.
    void join(const v1::SeenHistory& now, const v1::StepKeys& keys);
    void trust(const v1::StepKeys& keys);
    // It has been told something of this version, about this job; 0: about none. True if that is new: store_seen() soon.
    [[nodiscard]] bool see(std::uint64_t version, std::uint32_t job);
    void store_seen() const;

private:
    void load_seen();
    void store() const;

    std::string file_;
    wire::Fd seen_file_;
    v1::AgentMemory kept_;
};

}  // namespace spur::agent
