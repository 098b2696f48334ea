#include "tests/agent/fake_controller.hpp"

#include <algorithm>
#include <stdexcept>

namespace spur::test {

FakeController::FakeController(std::shared_ptr<wire::Authenticator> authenticator)
    : server_{wire::ServerOptions{.listen = {"127.0.0.1", 0}, .authenticator = std::move(authenticator)}} {
    policy.set_kill_wait_s(2);
    policy.set_cluster_name("testing");
    server_.stream("/spur.v1.Controller/AgentSession", [this](wire::Session session) { open(std::move(session)); });
    if (const auto started = server_.start(); !started) throw std::runtime_error(started.error().text);
}

FakeController::~FakeController() { server_.drain(0ms); }

std::string FakeController::address() const { return "127.0.0.1:" + std::to_string(server_.port()); }

void FakeController::open(wire::Session session) {
    if (leader) return session.close(Error{ErrorCode::unavailable, "not the leader"}, {{"spur-leader", *leader}});
    session.on_message([this, session](const std::string& bytes) { receive(session, bytes); });
    session.on_closed([](const std::optional<Error>&) {});
    const std::lock_guard lock{mutex_};
    sessions_ = {session};
}

void FakeController::receive(const wire::Session& session, const std::string& bytes) {
    v1::AgentMessage message;
    if (!message.ParseFromString(bytes)) return session.close(Error{ErrorCode::invalid, "malformed"});
    v1::ControllerMessage reply;
    const std::lock_guard lock{mutex_};
    if (message.has_register_()) {
        registrations_.push_back(message.register_());
        auto& welcome = *reply.mutable_welcome();
        welcome.set_heartbeat_s(1);
        *welcome.mutable_now() = now;
        welcome.mutable_keys()->add_keys(key.public_key());
        *welcome.mutable_policy() = policy;
        for (const auto& held : unknown) *welcome.add_unknown() = held;
    }
    if (message.has_heartbeat()) heartbeat_ = message.heartbeat();
    if (message.has_report()) {
        reports_.push_back(message.report());
        if (acknowledges) reply.mutable_ack()->set_report_id(message.report().report_id());
    }
    // The answer first: whoever waits for the report may send the next order at once.
    if (reply.body_case() != v1::ControllerMessage::BODY_NOT_SET) session.send_message(reply);
    changed_.notify_all();
}

std::optional<v1::Register> FakeController::wait_registration(std::size_t count) {
    if (!wait([&] { return registrations_.size() >= count; })) return std::nullopt;
    const std::lock_guard lock{mutex_};
    return registrations_[count - 1];
}

std::optional<v1::StepReport> FakeController::wait_report(std::uint32_t job, v1::StepReport::Kind kind,
                                                          std::uint32_t step) {
    std::optional<v1::StepReport> found;
    wait([&] {
        const auto match = std::ranges::find_if(reports_, [&](const v1::StepReport& report) {
            return report.job_id() == job && report.kind() == kind && report.step_id() == step;
        });
        if (match != reports_.end()) found = *match;
        return found.has_value();
    });
    return found;
}

std::optional<v1::Heartbeat> FakeController::wait_heartbeat() {
    wait([&] { return heartbeat_.has_value(); });
    const std::lock_guard lock{mutex_};
    return heartbeat_;
}

void FakeController::send(const v1::ControllerMessage& message) {
    const std::lock_guard lock{mutex_};
    for (const auto& session : sessions_) session.send_message(message);
}

std::vector<v1::StepReport> FakeController::reports() {
    const std::lock_guard lock{mutex_};
    return reports_;
}

void FakeController::forget_reports() {
    const std::lock_guard lock{mutex_};
    reports_.clear();
}

void FakeController::close_sessions() {
    const std::lock_guard lock{mutex_};
    for (const auto& session : sessions_) session.close(Error{ErrorCode::unavailable, "the test closes it"});
    sessions_.clear();
}

}  // namespace spur::test
