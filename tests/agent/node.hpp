// One node for tests: a fake controller, a real spurd, a directory for what jobs write.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/wire/client.hpp"
#include "spur/v1/agent.pb.h"
#include "tests/agent/fake_controller.hpp"

namespace spur::test {

struct SpurdOptions {
    std::string config;                    // the plugins of spur.conf; empty: cgroup/none and gpu/none
    std::vector<std::string> extra;        // further arguments
    std::uint32_t uid{0};                  // run it as this user; 0: as whoever runs the test
    std::vector<std::string> environment;  // KEY=VALUE, for spurd
    std::uint32_t open_files{0};           // its hard limit; 0: ours
};

class Node : public ::testing::Test {
protected:
    void TearDown() override;

    static std::filesystem::path make_root();
    std::filesystem::path programs(std::uint32_t uid) const;
    host::Bound<host::AuthAxis> open_auth();
    void start_spurd(SpurdOptions options = {});
    void kill_spurd(int signal = SIGKILL);  // and waits until it has gone
    void restart_spurd();
    std::optional<v1::Register> joined(std::size_t count = 1);

    // A one-node batch job of this process's user, working in `work`.
    v1::LaunchBatch batch(std::uint32_t job, const std::string& script) const;
    void launch(const v1::LaunchBatch& order);
    // launch() and the report of its end
    std::optional<v1::StepReport> run(const v1::LaunchBatch& order);
    void end(std::uint32_t job, const std::string& state = "CANCELLED", const std::string& why = "");
    void signal(std::uint32_t job, int number, bool batch_only, bool full = false);

    // srun: a credential for a step of `job` with `tasks` tasks, and a stream that starts it.
    v1::StepCredential credential(std::uint32_t job, std::uint32_t step, std::uint32_t tasks) const;
    std::string sign(const google::protobuf::MessageLite& body, const sign::SigningKey& key) const;
    wire::Channel channel_to_spurd() const;
    v1::StepLaunch step_launch(const v1::StepCredential& credential, std::vector<std::string> argv) const;
    void start_job(std::uint32_t job);  // StartJob: an allocation without a script
    struct StepRun {
        std::string out, err, failure;
        std::map<std::uint32_t, std::string> task_out;
        std::map<std::uint32_t, std::uint32_t> status;
        std::optional<std::uint32_t> end;
        bool started{false};
    };
    struct Srun {
        std::unique_ptr<wire::Channel> channel;
        std::unique_ptr<wire::Stream> stream;
        mutable std::uint64_t received{0};  // messages; they are confirmed as they come
        void send(const v1::StepInput& message) const;
        void input(const std::string& data, bool eof) const;
        // Reads until the step is over, or `until` says enough.
        StepRun read(const std::function<bool(const StepRun&)>& until = {}) const;
    };
    Srun srun(const v1::StepLaunch& launch) const;
    StepRun run_step(const v1::StepLaunch& launch) const;

    std::string file(const std::string& name) const;                              // its contents in `work`
    bool wait_file(const std::string& name, const std::string& part = "");        // until it holds `part`
    std::map<std::string, std::string> variables(const std::string& name) const;  // of an `env` output

    std::filesystem::path root{make_root()}, work{root / "work"}, state{root / "state"};
    host::PluginHost plugins{{.program = "agent tests", .check_owner = false}};
    host::Bound<host::AuthAxis> auth{open_auth()};
    FakeController controller{std::make_shared<auth::PluginAuthenticator>(auth)};
    std::string serve_addr;
    pid_t spurd_pid{-1};
    SpurdOptions options_;
};

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds patience = 20s);

}  // namespace spur::test
