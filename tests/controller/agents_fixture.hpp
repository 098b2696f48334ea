// The controller's agents on an engine whose log, users and clocks the test plays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/engine_rig.hpp"
#include "tests/support/fake_agent.hpp"
#include "tests/support/fake_directory.hpp"

namespace spur::ctld {

class AgentsTest : public ::testing::Test {
protected:
    using Message = v1::ControllerMessage;

    static std::string beginning() {
        testing::ClusterBuilder builder;
        builder.nodes("n[1-2]", testing::cpus(8)).pending("a").pending("b").pending("c", testing::node_count(2));
        builder.cluster();
        return testing::snapshot_of(builder.cluster());
    }
    explicit AgentsTest(std::uint32_t version = newest_state_version)
        : rig{[](testing::FakeLog& log) { log.first_snapshot = beginning(); }} {
        directory->add(uid, "user", {100, 200});
        rig.engine->observe(agents);
        rig.start();
        if (!rig.propose(SetStateVersion{version})) throw std::runtime_error{"the version stays"};
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
    static Message await(testing::FakeAgent& agent, Message::BodyCase kind) {
        for (;;) {
            for (auto& message : agent.take())
                if (message.body_case() == kind) return message;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    bool has_line(std::string_view part) {
        const std::lock_guard lock{mutex};
        return std::ranges::any_of(lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
    }

    std::mutex mutex;
    std::vector<std::string> lines;   // of the agents' log
    static constexpr Uid uid = 1000;  // of testing::ClusterBuilder's jobs
    std::shared_ptr<testing::FakeDirectory> directory = std::make_shared<testing::FakeDirectory>();
    testing::EngineRig rig;
    Users users{directory, {.answer = std::chrono::milliseconds{20}, .again = std::chrono::milliseconds{10}}};
    std::atomic<UnixSeconds> wall{1'000'000}, steady{77};  // the machine's clocks
    Agents agents{*rig.engine,
                  users,
                  AgentConfig{},
                  "test",
                  [this](std::string line) {
                      const std::lock_guard lock{mutex};
                      lines.push_back(std::move(line));
                  },
                  {[this] { return wall * ClusterClock::second; }, [this] { return steady * ClusterClock::second; }}};
};

}  // namespace spur::ctld
