// The controller's side of its agents: what is sent when, what is taken from them, and what they are told about it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/engine_rig.hpp"
#include "tests/support/fake_agent.hpp"
#include "tests/support/fake_directory.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Message = v1::ControllerMessage;

class AgentsTest : public ::testing::Test {
protected:
    static std::string beginning() {
        ClusterBuilder builder;
        builder.nodes("n1", testing::cpus(8)).pending("a").pending("b");
        builder.cluster();
        return snapshot_of(builder.cluster());
    }
    AgentsTest() : rig{[](FakeLog& log) { log.first_snapshot = beginning(); }} {
        directory->add(uid, "user", {100, 200});
        rig.engine->observe(agents);
        rig.start();
    }
    ~AgentsTest() override {
        users.stop();
        rig.engine->stop();
    }

    // Starts job `id` on n1 as a scheduler would.
    void start_job(std::uint32_t id) {
        Placement place;
        rig.look([&](const Cluster& cluster) {
            const auto& node = *cluster.find_node("n1");
            NodeShare share{.node = node.id, .cpus = 1};
            share.cores.add(*(node.usable_cores() - node.use.busy_cores()).next(0));
            place = {.job = JobId{id}, .partition = cluster.find_job(JobId{id})->spec->partitions.front()};
            place.shares = {share};
        });
        const auto started = rig.propose(StartJob{{place}});
        ASSERT_TRUE(started) << started.error().text;
    }
    JobState state_of(std::uint32_t id) {
        JobState state{};
        rig.look([&](const Cluster& cluster) { state = cluster.find_job(JobId{id})->state; });
        return state;
    }
    // Waits for a message of this kind; others that come before are dropped.
    static Message await(FakeAgent& agent, Message::BodyCase kind) {
        for (;;) {
            for (auto& message : agent.take())
                if (message.body_case() == kind) return message;
            std::this_thread::sleep_for(1ms);
        }
    }

    bool has_line(std::string_view part) {
        const std::lock_guard lock{mutex};
        return std::ranges::any_of(lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
    }

    std::mutex mutex;
    std::vector<std::string> lines;   // of the agents' log
    static constexpr Uid uid = 1000;  // of ClusterBuilder's jobs
    std::shared_ptr<FakeDirectory> directory = std::make_shared<FakeDirectory>();
    EngineRig rig;
    Users users{directory, {.answer = 20ms, .again = 10ms}};
    Agents agents{*rig.engine, users, AgentConfig{}, "test", std::string(32, 'k'), [this](std::string line) {
                      const std::lock_guard lock{mutex};
                      lines.push_back(std::move(line));
                  }};
};

TEST_F(AgentsTest, ALaunchCarriesTheGroupsOfTheOwner) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    start_job(1);
    const auto launch = await(agent, Message::kLaunch).launch().job();
    EXPECT_EQ((std::vector<std::uint32_t>{launch.groups().begin(), launch.groups().end()}),
              (std::vector<std::uint32_t>{100, 200}));
}

TEST_F(AgentsTest, ADirectoryThatHangsHoldsUpTheLaunchAndNothingElse) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    directory->hang();
    start_job(1);
    start_job(2);  // the engine goes on
    while (!has_line("job 1 cannot be launched: the directory service")) std::this_thread::sleep_for(1ms);
    for (const auto& message : agent.take()) EXPECT_FALSE(message.has_launch()) << "a job without its groups";
    EXPECT_EQ(state_of(1), JobState::running);
    directory->answer();
    EXPECT_EQ(await(agent, Message::kLaunch).launch().job().groups_size(), 2);
}

TEST_F(AgentsTest, AJobWhoseOwnerHasGoneIsNotLaunched) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    directory->remove(uid);
    start_job(1);
    EXPECT_EQ(await(agent, Message::kEnd).end().job_id(), 1U);
    rig.look([](const Cluster& cluster) {
        EXPECT_NE(cluster.find_job(JobId{1})->reason_text.view().find("does not know uid 1000"), std::string::npos);
    });
}

}  // namespace
}  // namespace spur::ctld
