// The controller's side of its agents: what is sent when, what is taken from them, and what they are told about it.
#include "tests/controller/agents_fixture.hpp"

#include <set>

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;

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

TEST_F(AgentsTest, AnAgentWithoutItsMemoryIsNotSentWhatItMayHaveRun) {
    auto agent = std::make_unique<FakeAgent>(agents, "n1");
    auto hello = agent->registration();
    hello.set_spool_id("first");
    agent->join(hello);
    await(*agent, Message::kWelcome);
    start_job(1);
    await(*agent, Message::kLaunch);
    agent = std::make_unique<FakeAgent>(agents, "n1");
    hello.set_spool_id("second");
    agent->join(hello);
    await(*agent, Message::kWelcome);
    EXPECT_EQ(state_of(1), JobState::pending);
    for (const auto& message : agent->take()) EXPECT_FALSE(message.has_launch());
}

TEST_F(AgentsTest, AReportThatAsksForItDrainsTheNodeBeforeItsJobIsOver) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    start_job(1);
    await(agent, Message::kLaunch);
    v1::StepReport report;
    report.set_job_id(1);
    report.set_attempt(1);
    report.set_step_id(step_batch);
    report.set_kind(v1::StepReport::FINISHED);
    report.set_drain("Kill task failed");
    agent.report(report);
    await(agent, Message::kAck);
    rig.look([](const Cluster& cluster) {
        EXPECT_TRUE(cluster.find_node("n1")->flags & node_flag::drain);
        EXPECT_EQ(cluster.find_node("n1")->reason, "Kill task failed");
    });
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

// ---- sessions ------------------------------------------------------------------------------------------------------

TEST_F(AgentsTest, ASessionThatClosesBeforeItsRegistrationIsCommittedIsNotInstalled) {
    FakeAgent agent{agents, "n1"};
    rig.log->hold();
    agent.join();
    rig.settle();
    agent.hang_up();
    rig.log->release();
    rig.settle();
    EXPECT_EQ(agents.connected(), 0U);
    rig.look([](const Cluster& cluster) {
        EXPECT_TRUE(cluster.find_node("n1")->flags & node_flag::no_respond)
            << "the node must not look as if it were up";
    });
    FakeAgent next{agents, "n1"};
    next.join();
    await(next, Message::kWelcome);
    start_job(1);
    EXPECT_EQ(await(next, Message::kLaunch).launch().job().job_id(), 1U);
}

TEST_F(AgentsTest, ANodeWhoseAgentIsOnItsWayIsNotGivenUp) {
    ClusterConfig config;
    rig.look([&](const Cluster& cluster) { config = cluster.config(); });
    auto& fresh = config.nodes.emplace_back();
    fresh.names = {"n9"};
    ASSERT_TRUE(rig.propose(ApplyConfig{config}));
    FakeAgent agent{agents, "n9"};
    rig.log->hold();
    agent.join();
    std::this_thread::sleep_for(1500ms);  // whoever looks for silent nodes looks once a second
    rig.log->release();
    await(agent, Message::kWelcome);
    rig.settle();
    rig.look([](const Cluster& cluster) {
        const auto& node = *cluster.find_node("n9");
        EXPECT_FALSE(node.flags & node_flag::no_respond);
        EXPECT_NE(node.state, NodeState::down) << node.reason.view();
    });
}

TEST_F(AgentsTest, TheNextSessionOfAnAgentTakesOverFromItsLast) {
    FakeAgent first{agents, "n1"}, second{agents, "n1"};
    first.join();
    await(first, Message::kWelcome);
    second.join();
    await(second, Message::kWelcome);
    EXPECT_FALSE(first.is_open());
    EXPECT_TRUE(second.is_open());
}

TEST_F(AgentsTest, OfTwoAgentsWithOneNameTheSecondIsTurnedAwayAndTheLogSaysSoOnce) {
    FakeAgent first{agents, "n1", {"10.0.0.1:40000", "", {}}};
    first.join();
    await(first, Message::kWelcome);
    for (int i = 0; i < 5; ++i) {
        FakeAgent second{agents, "n1", {"10.0.0.2:40001", "", {}}};
        second.id = "agent-2";
        second.join();
        const auto why = await(second, Message::kRefused).refused().why();
        EXPECT_NE(why.find("the one at 10.0.0.1:40000 has the session, the one at 10.0.0.2:40001 is turned away"),
                  std::string::npos)
            << why;
        EXPECT_FALSE(second.is_open());
        rig.settle();
    }
    EXPECT_TRUE(first.is_open());
    EXPECT_EQ(agents.connected(), 1U);
    const std::lock_guard lock{mutex};
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& line) { return line.find("two agents") != line.npos; }), 1);
}

TEST_F(AgentsTest, AnAgentThatDoesNotAnswerGivesItsNameToTheNext) {
    FakeAgent first{agents, "n1"};
    first.join();
    await(first, Message::kWelcome);
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    bool joined = false;
    while (!joined && std::chrono::steady_clock::now() < give_up) {
        FakeAgent second{agents, "n1"};
        second.id = "agent-2";
        second.join();
        rig.settle();
        for (const auto& message : second.take()) joined = joined || message.has_welcome();
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_TRUE(joined) << "it was asked whether it lives, and said nothing";
    EXPECT_FALSE(first.is_open());
}

TEST_F(AgentsTest, ACertificateSpeaksForTheNodeItIsMadeOutTo) {
    const auto verdict = [&](std::vector<std::string> names) {
        FakeAgent agent{agents, "n1", {"10.0.0.1:40000", names.front(), names}};
        agent.join();
        rig.settle();
        for (const auto& message : agent.take())
            if (message.has_welcome()) return std::string{"welcome"};
        return agent.is_open() ? std::string{"nothing"} : std::string{"refused"};
    };
    EXPECT_EQ(verdict({"n1"}), "welcome");
    EXPECT_EQ(verdict({"N1.cluster.example"}), "welcome");
    EXPECT_EQ(verdict({"daemon", "n1"}), "welcome");
    EXPECT_EQ(verdict({"n2"}), "refused");
    EXPECT_EQ(verdict({"n11"}), "refused");
    EXPECT_EQ(verdict({std::string{"n1\0.evil.example", 16}}), "refused");
    EXPECT_TRUE(has_line("its certificate is made out to n2, and node n1 wants one of n1, n1.*"));
    AgentConfig config;
    config.certificate_names = {"%n", "node-*"};
    agents.reconfigure(config);
    EXPECT_EQ(verdict({"node-17"}), "welcome");
    EXPECT_EQ(verdict({"mode-17"}), "refused");
}

// ---- histories -----------------------------------------------------------------------------------------------------

TEST_F(AgentsTest, AnAgentThatHasSeenALaterStateIsToldAndTheLogSaysSo) {
    ASSERT_TRUE(rig.propose(BeginEra{"history", 7}));
    FakeAgent agent{agents, "n1"};
    agent.join();
    const auto welcome = await(agent, Message::kWelcome).welcome();
    EXPECT_EQ(welcome.standing(), v1::SAME_HISTORY);
    EXPECT_EQ(welcome.now().history(), "history");
    EXPECT_EQ(welcome.now().mark(), 7U);
    agent.hang_up();

    FakeAgent later{agents, "n1"};
    later.seen = welcome.now();
    later.seen.set_version(welcome.now().version() + 1000);
    later.seen.set_job_id(77);
    later.join();
    EXPECT_EQ(await(later, Message::kWelcome).welcome().standing(), v1::OLDER_STATE);
    EXPECT_TRUE(has_line("n1: its agent has seen a later state than this one: an older copy was put back"));
    rig.look([](const Cluster& cluster) { EXPECT_EQ(cluster.next_job_id(), JobId{78}); });
    later.hang_up();

    FakeAgent other{agents, "n1"};
    other.seen.set_history("another");
    other.join();
    EXPECT_EQ(await(other, Message::kWelcome).welcome().standing(), v1::OTHER_HISTORY);
    EXPECT_TRUE(has_line("another history of this cluster"));
}

TEST_F(AgentsTest, AgentsHearOfKeysWhenTheyJoinAndWhenThereIsANewOne) {
    const std::string one(32, '1'), two(32, '2');
    ASSERT_TRUE(rig.propose(TrustStepKey{one}));
    FakeAgent agent{agents, "n1"};
    agent.join();
    const auto welcome = await(agent, Message::kWelcome).welcome();
    ASSERT_EQ(welcome.keys().keys_size(), 1);
    EXPECT_EQ(welcome.keys().keys(0), one);
    ASSERT_TRUE(rig.propose(TrustStepKey{two}));
    v1::StepKeys keys;  // of the first it may hear once more, if dispatch comes to that only now
    while (keys.keys_size() < 2) {
        for (const auto& message : agent.take())
            if (message.has_keys()) keys = message.keys();
        std::this_thread::yield();
    }
    EXPECT_EQ(keys.keys(1), two);
}

// ---- reports -------------------------------------------------------------------------------------------------------

class StepReports : public AgentsTest {
protected:
    // A step of job 3 on both nodes.
    explicit StepReports(std::uint32_t version = newest_state_version) : AgentsTest{version} {
        for (auto* agent : {&one, &two}) {
            agent->join();
            await(*agent, Message::kWelcome);
        }
        Placement place;
        CreateStep step{.job = JobId{3}, .attempt = 1, .name = "step", .tasks = 2, .actor = Actor::root()};
        rig.look([&](const Cluster& cluster) {
            place = {.job = JobId{3}, .partition = cluster.find_job(JobId{3})->spec->partitions.front()};
            for (const auto* name : {"n1", "n2"}) {
                NodeShare share{.node = cluster.find_node(name)->id, .cpus = 1};
                share.cores.add(0);
                place.shares.push_back(share);
            }
        });
        must(rig.propose(StartJob{{place}}));
        step.shares = place.shares;
        step.task_ids = {{0}, {1}};
        must(rig.propose(std::move(step)));
        rig.settle();
        for (auto* agent : {&one, &two}) agent->take();
    }
    static void must(const Result<Events>& result) {
        if (!result) throw std::runtime_error{result.error().text};
    }
    static v1::StepReport end_of_step() {
        v1::StepReport report;
        report.set_job_id(3);
        report.set_attempt(1);
        report.set_step_id(0);
        report.set_kind(v1::StepReport::FINISHED);
        report.mutable_usage()->set_user_us(1000);
        report.mutable_usage()->set_max_rss_kib(64);
        return report;
    }
    void report_end(FakeAgent& agent) {
        agent.report(end_of_step());
        rig.settle();
    }
    static int acks(FakeAgent& agent) {
        int count = 0;
        for (const auto& message : agent.take()) count += message.has_ack() ? 1 : 0;
        return count;
    }
    bool is_over() {
        bool over = false;
        rig.look([&](const Cluster& cluster) { over = cluster.find_step({JobId{3}, StepId{0}})->is_over(); });
        return over;
    }
    FakeAgent one{agents, "n1"}, two{agents, "n2"};
};

TEST_F(StepReports, TheEndOnANodeIsAcknowledgedOnceItIsCommitted) {
    rig.log->hold();
    report_end(one);
    EXPECT_EQ(acks(one), 0) << "a leader that comes now would never hear of it";
    rig.log->release();
    rig.settle();
    EXPECT_EQ(acks(one), 1);
    EXPECT_FALSE(is_over()) << "the other node goes on";
    report_end(two);
    EXPECT_EQ(acks(two), 1);
    EXPECT_TRUE(is_over());
    report_end(one);
    EXPECT_EQ(acks(one), 1) << "of something that is over";
}

TEST_F(StepReports, AnEndThatCouldNotBeProposedIsNotAcknowledgedAndMayBeSaidAgain) {
    report_end(one);
    EXPECT_EQ(acks(one), 1);
    rig.log->refuse(Error{ErrorCode::unavailable, "no leader"});
    report_end(two);
    EXPECT_EQ(acks(two), 0);
    EXPECT_FALSE(is_over());
    rig.log->refuse(std::nullopt);
    report_end(two);
    EXPECT_TRUE(is_over());
    EXPECT_EQ(acks(two), 1);
}

TEST_F(StepReports, EndsAndUsageSurviveAChangeOfLeader) {
    report_end(one);
    EXPECT_EQ(acks(one), 1) << "this agent will not say it again";
    EngineRig heir{[&](FakeLog& log) {
        log.first_snapshot = beginning();
        log.first_entries = rig.log->entries();
    }};
    Agents its_agents{*heir.engine, users, AgentConfig{}, "test", [](const std::string&) {}};
    heir.engine->observe(its_agents);
    heir.start();
    FakeAgent agent{its_agents, "n2"};
    agent.join();
    await(agent, Message::kWelcome);
    agent.report(end_of_step());
    await(agent, Message::kAck);
    heir.look([](const Cluster& cluster) {
        const auto& step = *cluster.find_step({JobId{3}, StepId{0}});
        EXPECT_EQ(step.state, JobState::completed);
        EXPECT_EQ(step.usage.user_us, 2000U);
        EXPECT_EQ(step.usage.max_rss_kib, 64U);
    });
    agent.hang_up();
    heir.engine->stop();
}

TEST_F(StepReports, WhatABatchScriptUsedIsKept) {
    auto report = end_of_step();
    report.set_step_id(step_batch);
    one.report(report);
    rig.settle();
    rig.look([](const Cluster& cluster) {
        EXPECT_EQ(cluster.find_step({JobId{3}, StepId{step_batch}})->usage.user_us, 1000U);
    });
}

class StepReportsBefore : public StepReports {
protected:
    StepReportsBefore() : StepReports{version_with_step_ends - 1} {}
};

TEST_F(StepReportsBefore, UntilAllControllersCountEndsAgentsKeepThemAndSrunEndsTheStep) {
    report_end(one);
    report_end(two);
    EXPECT_EQ(acks(one) + acks(two), 0);
    EXPECT_FALSE(is_over());
    must(rig.propose(FinishStep{{JobId{3}, StepId{0}}, 1, EndCause::exited, 0, {}}));
    report_end(one);
    EXPECT_EQ(acks(one), 1);
    auto batch = end_of_step();
    batch.set_step_id(step_batch);
    two.report(batch);
    one.report(batch);
    rig.settle();
    EXPECT_NE(state_of(3), JobState::running) << "usage does not keep a job from ending";
}

// ---- launches ------------------------------------------------------------------------------------------------------

class FatJobs : public AgentsTest {
protected:
    // Submits a job whose script has so many bytes.
    std::uint32_t submit(std::size_t bytes) {
        JobSpec spec;
        rig.look([&](const Cluster& cluster) { spec = *cluster.find_job(JobId{1})->spec; });
        spec.script = std::string(bytes, '#');
        const auto queued = rig.propose(SubmitJob{{spec}, Actor::root(), {}});
        if (!queued) throw std::runtime_error{queued.error().text};
        for (const auto& event : *queued)
            if (const auto* job = std::get_if<JobQueued>(&event)) return job->job.value;
        return 0;
    }
};

TEST_F(FatJobs, LaunchesWaitForAnAgentThatReadsSlowly) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    for (int i = 0; i < 8; ++i) start_job(submit(3U << 20));
    rig.settle();
    EXPECT_LT(agent.unread(), 8U << 20) << "24 MiB are not pushed into a session at once";
    EXPECT_TRUE(agent.is_open());
    std::set<std::uint32_t> launched;
    while (launched.size() < 8) {
        for (const auto& message : agent.take())
            if (message.has_launch()) launched.insert(message.launch().job().job_id());
        rig.settle();
    }
}

TEST_F(FatJobs, AJobThatCannotBeSentIsHeldAndTheSessionLives) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    const auto fat = submit(40U << 20);
    start_job(fat);
    EXPECT_EQ(await(agent, Message::kEnd).end().job_id(), fat);
    EXPECT_TRUE(agent.is_open());
    EXPECT_TRUE(has_line("cannot be launched: its launch has"));
    EXPECT_NE(state_of(fat), JobState::running);
    start_job(1);
    EXPECT_EQ(await(agent, Message::kLaunch).launch().job().job_id(), 1U);
}

// ---- what is written down, and clocks ----

TEST_F(AgentsTest, AReportThatCouldNotBeWrittenDownIsNotAcknowledged) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    start_job(1);
    await(agent, Message::kLaunch);
    v1::StepReport report;
    report.set_job_id(1);
    report.set_attempt(1);
    report.set_step_id(step_batch);
    report.set_kind(v1::StepReport::FINISHED);
    for (const auto code : {ErrorCode::invalid, ErrorCode::internal, ErrorCode::unavailable, ErrorCode::limit}) {
        rig.log->refuse(Error{code, "not now"});
        agent.report(report);
        rig.settle();
        for (const auto& message : agent.take()) EXPECT_FALSE(message.has_ack()) << "the job's end would be lost";
        EXPECT_EQ(state_of(1), JobState::running);
    }
    rig.log->refuse({});
    agent.report(report);
    await(agent, Message::kAck);
    EXPECT_NE(state_of(1), JobState::running);
    agent.report(report);  // again: a refusal by the state is the last word
    await(agent, Message::kAck);
}

TEST_F(AgentsTest, ALaunchSaysHowManySecondsAreLeft) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    UpdateJob limit{.job = {.job = 1}, .changes = {}, .actor = Actor::root()};
    limit.changes.time_limit_min = 30;
    ASSERT_TRUE(rig.propose(limit));
    start_job(1);
    const auto launch = await(agent, Message::kLaunch).launch().job();
    ASSERT_NE(launch.end_time(), 0);
    EXPECT_EQ(launch.remaining_s(), launch.end_time() - rig.now);
}

}  // namespace
}  // namespace spur::ctld
