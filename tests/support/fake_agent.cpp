#include "tests/support/fake_agent.hpp"

namespace spur::testing {

FakeAgent::FakeAgent(ctld::Agents& agents, std::string node, wire::Peer peer)
    : node_{std::move(node)}, inbox_{*wire::Inbox::make()}, state_{std::make_shared<wire::SessionState>()} {
    state_->route = {inbox_, 1, 1};
    state_->method = "/spur.v1.Controller/AgentSession";
    state_->peer = std::make_shared<wire::Peer>(std::move(peer));
    state_->caller = {.uid = 0, .gid = 0, .name = "root"};
    state_->max_queue = 64U << 20;
    agents.open(wire::Session{state_});
}

void FakeAgent::send(const v1::AgentMessage& message) {
    if (state_->on_message) state_->on_message(message.SerializeAsString());
}

v1::Register FakeAgent::registration() const {
    v1::Register hello;
    auto& found = *hello.mutable_node();
    found.set_name(node_);
    found.set_cpus(8);
    found.set_sockets(1);
    found.set_cores_per_socket(8);
    found.set_threads_per_core(1);
    found.set_memory_mib(1 << 20);
    hello.set_boot_id("boot-1");
    hello.set_agent_id(id);
    *hello.mutable_seen() = seen;
    hello.set_serve_addr("127.0.0.1:6818");
    return hello;
}

void FakeAgent::join(const v1::Register& hello) {
    v1::AgentMessage message;
    *message.mutable_register_() = hello;
    send(message);
}

void FakeAgent::report(v1::StepReport report) {
    report.set_report_id(++reports_);
    v1::AgentMessage message;
    *message.mutable_report() = std::move(report);
    send(message);
}

void FakeAgent::hang_up() {
    state_->closed = true;
    if (const auto closed = std::exchange(state_->on_closed, {})) closed(std::nullopt);
    state_->on_message = {};
    state_->on_half_closed = {};
}

std::vector<v1::ControllerMessage> FakeAgent::take() {
    std::vector<wire::Order> orders;
    inbox_->take(orders);
    std::vector<v1::ControllerMessage> messages;
    for (const auto& order : orders) {
        if (order.kind != wire::Order::Kind::send) continue;
        messages.emplace_back().ParseFromString(order.bytes);
        state_->queued -= order.bytes.size() + 5;
    }
    if (!messages.empty() && state_->queued == 0 && state_->on_drained) state_->on_drained();
    return messages;
}

}  // namespace spur::testing
