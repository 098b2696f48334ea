// A controller for tests of the agent: accepts sessions, sends what the test says, keeps what the agent reports.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "daemons/common/sign/signing_key.hpp"
#include "daemons/common/wire/auth.hpp"
#include "daemons/common/wire/server.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::test {

using namespace std::chrono_literals;

class FakeController {
public:
    explicit FakeController(std::shared_ptr<wire::Authenticator> authenticator);
    ~FakeController();

    [[nodiscard]] std::string address() const;
    [[nodiscard]] std::uint16_t port() const { return server_.port(); }

    // What a joining agent is told; set before it joins.
    v1::AgentPolicy policy;
    sign::SigningKey key{*sign::SigningKey::make()};  // of steps
    std::vector<v1::StepOnNode> unknown;
    v1::SeenHistory now;
    bool acknowledges{true};
    std::optional<std::string> leader;  // turn agents away to there

    // All wait; nothing: it did not come in time.
    std::optional<v1::Register> wait_registration(std::size_t count = 1);
    std::optional<v1::StepReport> wait_report(std::uint32_t job, v1::StepReport::Kind kind,
                                              std::uint32_t step = step_batch);
    std::optional<v1::Heartbeat> wait_heartbeat();

    void send(const v1::ControllerMessage& message);
    std::vector<v1::StepReport> reports();
    void forget_reports();
    void close_sessions();

private:
    template <class Condition>
    bool wait(Condition condition) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 20s, condition);
    }
    void open(wire::Session session);
    void receive(const wire::Session& session, const std::string& bytes);

    wire::RpcServer server_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<wire::Session> sessions_;
    std::vector<v1::Register> registrations_;
    std::vector<v1::StepReport> reports_;
    std::optional<v1::Heartbeat> heartbeat_;
};

}  // namespace spur::test
