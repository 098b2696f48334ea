// The streams of srun: checking the credential, starting the step, passing its bytes both ways.
#include "daemons/spurd/step_service.hpp"

#include <ctime>
#include <utility>
#include <vector>

#include "core/text/quote.hpp"
#include "spur/v1/agent.pb.h"

namespace spur::agent {

namespace {

constexpr std::size_t most_queued_output = 4U << 20;
constexpr std::uint64_t most_waiting_input = 1U << 20;
constexpr auto join_patience = std::chrono::seconds{10};  // an agent that has just been restarted takes steps soon
constexpr auto key_patience = std::chrono::seconds{3};    // and hears soon of a key that is new
constexpr auto join_poll = std::chrono::milliseconds{20};

NodeJobs::StepId step_of(const v1::StepCredential& credential) {
    return {credential.job().job_id(), credential.job().attempt(), credential.step().step_id()};
}

}  // namespace

// One srun. Its messages arrive on the wire's threads and are handed to the loop; what the step says goes back at once.
class StepService::Client final : public StepClient, public std::enable_shared_from_this<Client> {
public:
    Client(NodeJobs& node_jobs, wire::Session stream, std::shared_ptr<log::Throttle> log)
        : jobs{node_jobs}, session{std::move(stream)}, refusals{std::move(log)} {}

    void started(const step::Started& started) override {
        v1::StepOutput message;
        auto& out = *message.mutable_started();
        for (const auto& task : started.tasks) {
            out.add_tasks(task.id);
            out.add_pids(task.pid);
        }
        session.send_message(message);
        running = true;
        for (const auto& waiting : std::exchange(early, {})) obey(waiting);
    }
    void output(const step::Chunk& chunk) override {
        v1::StepOutput message;
        auto& out = *message.mutable_output();
        out.set_task(chunk.task);
        out.set_error_stream(chunk.error_stream);
        out.set_data(std::string{chunk.data});
        out.set_eof(chunk.eof);
        session.send_message(message);
    }
    void input_taken(std::uint64_t bytes) override {
        waiting_input -= std::min(bytes, waiting_input);
        if (paused && waiting_input < most_waiting_input / 2) {
            paused = false;
            session.resume();
        }
    }
    void task_exited(const step::TaskExit& task) override {
        v1::StepOutput message;
        message.mutable_exited()->set_task(task.task);
        message.mutable_exited()->set_status(task.status);
        message.mutable_exited()->set_oom(task.oom);
        session.send_message(message);
    }
    void resumed(std::uint64_t inputs) override {
        v1::StepOutput message;
        message.mutable_resumed()->set_inputs(inputs);
        session.send_message(message);
        running = true;
        for (const auto& waiting : std::exchange(early, {})) obey(waiting);
    }
    void aborted() override {
        v1::StepOutput message;
        message.mutable_aborted();
        session.send_message(message);
    }
    void ended(std::uint32_t status) override {
        v1::StepOutput message;
        message.mutable_end()->set_exit_status(status);
        finish(message);
    }
    void failed(const std::string& error) override {
        refusals->warning(fmt::format("a step of uid {} was not started: {}", session.caller().uid, error));
        v1::StepOutput message;
        message.mutable_failed()->set_error(error);
        finish(message);
    }
    [[nodiscard]] bool is_congested() const override { return session.queued_bytes() > most_queued_output; }

    // [loop] Bytes that a step has not taken yet; srun is made to wait when there are too many.
    void add_input(std::size_t bytes) {
        waiting_input += bytes;
        if (paused || waiting_input < most_waiting_input) return;
        paused = true;
        session.pause();
    }

    // [loop] What srun says after its launch. It may come before the step runs, even before the job is known here.
    void hear(v1::StepInput message) {
        if (message.has_input()) add_input(message.input().data().size());
        if (running) return obey(message);
        early.push_back(std::move(message));
    }
    void obey(const v1::StepInput& message) {
        if (message.has_input()) {
            const auto& input = message.input();
            jobs.send_input(step, {.task = input.has_task() ? input.task() : spur::step::every_task,
                                   .eof = input.eof(),
                                   .data = input.data()});
        }
        if (message.has_signal()) jobs.send_signal(step, message.signal().signal());
        if (message.has_received()) jobs.send_received(step, message.received().count());
        if (message.has_window()) jobs.send_window(step, {message.window().rows(), message.window().columns()});
    }

    NodeJobs& jobs;
    wire::Session session;
    std::shared_ptr<log::Throttle> refusals;
    NodeJobs::StepId step;
    bool asked{false}, launched{false}, running{false}, over{false}, keep{false};  // [loop]
    std::vector<v1::StepInput> early;                                              // [loop] for when it runs
    std::uint64_t waiting_input{0};
    bool paused{false};

private:
    void finish(const v1::StepOutput& message) {
        over = true;
        session.send_message(message);
        session.close();
    }
};

StepService::StepService(Loop& loop, NodeJobs& jobs, Facts facts)
    : loop_{loop}, jobs_{jobs}, facts_{std::move(facts)}, refusals_{std::make_shared<log::Throttle>()} {}

void StepService::serve(wire::RpcServer& server) {
    server.stream("/spur.v1.Agent/RunStep", [this](wire::Session session) { open(std::move(session)); });
    server.unary("/spur.v1.Agent/MeasureStep", [this](const wire::Call& call) { loop_.post([this, call] { measure(call); }); });
    server.unary("/spur.v1.Agent/AgentStatus", [this](wire::Call call) {
        loop_.post([this, call] {
            v1::AgentStatusReply reply;
            reply.set_text(facts_.status());
            call.reply_with(reply);
        });
    });
}

void StepService::open(wire::Session session) {
    const auto client = std::make_shared<Client>(jobs_, session, refusals_);
    session.on_message([this, client](std::string bytes) {
        loop_.post([this, client, bytes = std::move(bytes)] {
            v1::StepInput message;
            if (!message.ParseFromString(bytes)) return client->failed("srun sent bytes that are not a StepInput");
            if (client->asked) return client->hear(std::move(message));
            client->asked = true;
            const auto until = std::chrono::steady_clock::now() + join_patience;
            if (message.has_launch()) return launch(client, message.launch(), until);
            if (message.has_attach()) return attach(client, message.attach(), until);
            client->failed("a step's first message must be its launch");
        });
    });
    session.on_drained([this, client] {
        loop_.post([this, client] {
            if (client->launched) jobs_.client_ready(client->step);
        });
    });
    session.on_closed([this, client](const std::optional<Error>&) {
        loop_.post([this, client] {
            if (client->launched && !client->over) jobs_.client_gone(client->step, client.get(), client->keep);
            client->over = true;
        });
    });
}

// Calls `then` once the signature is known to be good. A controller that has just begun to lead signs with a key that
// this agent may be about to hear of.
void StepService::when_verified(const std::shared_ptr<Client>& client, const std::string& credential,
                                std::optional<std::int64_t> now, std::chrono::steady_clock::time_point until,
                                std::function<void(VerifiedCredential)> then) {
    if (client->over) return;  // srun did not wait
    const auto keys = facts_.keys();
    auto verified = verify_credential(
        credential, {.keys = keys, .node = facts_.node, .caller = client->session.caller().uid, .now = now});
    if (verified) return then(*std::move(verified));
    const auto limit = keys.keys().empty() ? until : until - join_patience + key_patience;
    if (verified.error().code != ErrorCode::unavailable || std::chrono::steady_clock::now() >= limit)
        return client->failed(verified.error().text);
    loop_.after(join_poll, [this, client, credential, now, until, then = std::move(then)] {
        when_verified(client, credential, now, until, then);
    });
}

void StepService::launch(const std::shared_ptr<Client>& client, const v1::StepLaunch& launch,
                         std::chrono::steady_clock::time_point until) {
    when_verified(
        client, launch.credential(), std::time(nullptr), until, [this, client, launch](VerifiedCredential verified) {
            if (!launch.node().empty() && launch.node() != facts_.node)
                return client->failed(fmt::format("this is node {}, not {}", facts_.node, quote(launch.node())));
            client->launched = true;
            client->keep = launch.keep_on_disconnect();
            client->step = step_of(verified.credential);
            jobs_.run_step({.credential = std::move(verified.credential),
                            .launch = launch,
                            .node = verified.node,
                            .launcher_address = client->session.peer().address,
                            .client = client});
        });
}

// The credential says whose step it is; how old it is does not matter, it starts nothing.
void StepService::attach(const std::shared_ptr<Client>& client, const v1::StepAttach& attach,
                         std::chrono::steady_clock::time_point until) {
    when_verified(client, attach.credential(), std::nullopt, until,
                  [this, client, received = attach.received()](const VerifiedCredential& verified) {
                      client->launched = true;
                      client->step = step_of(verified.credential);
                      jobs_.attach_client(client->step, received, client);
                  });
}

void StepService::measure(const wire::Call& call) {
    const auto request = call.parse<v1::MeasureStepRequest>();
    if (!request) return call.fail(request.error());
    const auto keys = facts_.keys();
    const auto permit = verify_permit(
        request->permit(),
        {.keys = keys, .node = facts_.node, .caller = call.caller().uid, .now = std::time(nullptr)});
    if (!permit) return call.fail(permit.error());
    jobs_.measure({permit->job_id(), permit->attempt(), request->step_id()},
                  [call](const Result<v1::MeasureStepReply>& answer) {
                      return answer ? call.reply_with(*answer) : call.fail(answer.error());
                  });
}

}  // namespace spur::agent
