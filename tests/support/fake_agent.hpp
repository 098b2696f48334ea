// An agent as the controller's Agents see one: a session that the test speaks through, and the orders that came to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemons/common/wire/server_state.hpp"
#include "daemons/spurctld/agents/agents.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::testing {

class FakeAgent {
public:
    explicit FakeAgent(ctld::Agents& agents, std::string node, wire::Peer peer = {"127.0.0.1:40000", "", {}});
    ~FakeAgent() { hang_up(); }
    FakeAgent(const FakeAgent&) = delete;
    FakeAgent& operator=(const FakeAgent&) = delete;

    void send(const v1::AgentMessage& message);
    v1::Register registration() const;     // eight cores, nothing held
    void join() { join(registration()); }  // says Register
    void join(const v1::Register& hello);
    void report(v1::StepReport report);  // with the next number
    void hang_up();
    // What came since the last time. It counts as read.
    std::vector<v1::ControllerMessage> take();
    bool is_open() const { return !state_->closed; }
    std::size_t unread() const { return state_->queued; }

    std::string id{"agent-1"};  // which of those that might use the name
    v1::SeenHistory seen;

private:
    std::string node_;
    std::shared_ptr<wire::Inbox> inbox_;
    std::shared_ptr<wire::SessionState> state_;
    std::uint64_t reports_{0};
};

}  // namespace spur::testing
