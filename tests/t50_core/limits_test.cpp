// Limits by association and QOS, and the reasons they give.
#include <gtest/gtest.h>

#include "core/machine/limits.hpp"
#include "core/machine/validate.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

class T50Limits : public ::testing::Test {
protected:
    T50Limits() {
        b.nodes("n[1-2]", cpus(8)).policies([](Policies& policies) { policies.enforce = enforce_flag::limits; });
        b.cluster();
        b.must(EditAccount{Edit::create, {"phys", {}, {}, {}}});
        b.must(EditAccount{Edit::create, {"lasers", {}, {}, {}}});
        for (const auto* name : {"alice", "bob"})
            b.must(EditUser{Edit::create, {name, "lasers", {}, AdminLevel::none}});
        limit("phys", "", [](Limits&) {});
        limit(
            "lasers", "", [](Limits&) {}, "phys");
        limit("lasers", "alice", [](Limits&) {});
        limit("lasers", "bob", [](Limits&) {});
    }

    void limit(std::string_view account, std::string_view user, const std::function<void(Limits&)>& change,
               std::string_view parent = "") {
        Association entry;
        entry.account = Text{account};
        entry.user = Text{user};
        change(entry.limits);
        const bool exists = [&] {
            for (const auto& [id, known] : b.cluster().associations())
                if (known.account == account && known.user == user) return true;
            return false;
        }();
        const auto under = exists && user.empty() && account == "lasers" ? Text{"phys"} : Text{parent};
        b.must(EditAssociation{exists ? Edit::update : Edit::create, entry, under});
    }
    void quality(const std::function<void(Qos&)>& change) {
        Qos qos;
        qos.name = "normal";
        change(qos);
        b.must(EditQos{Edit::update, qos});
    }
    // Starts the job if limits allow, else says why not.
    std::string try_start(std::string_view name, std::uint32_t cpus = 1) {
        if (auto started = b.start_on(b.id(name), "n1", cpus)) return "started";
        auto placed = b.place(b.id(name), "n1", cpus);
        Allocation would;
        would.shares = placed.shares;
        would.cpus = cpus;
        would.partition = "main";
        return std::string{to_string(b.cluster().limit_reason(b.job(name), allocated_tres(b.cluster(), would)))};
    }

    ClusterBuilder b;
};

TEST_F(T50Limits, TheTreeIsBuiltFromTheRootDown) {
    const auto* lasers = b.cluster().find_association("lasers", "", "");
    const auto* phys = b.cluster().find_association(lasers->parent);
    EXPECT_EQ(phys->account, "phys");
    EXPECT_EQ(b.cluster().find_association(phys->parent)->account, "root");
    EXPECT_EQ(b.cluster().find_association("lasers", "alice", "main")->parent, lasers->id);
}

TEST_F(T50Limits, MaxJobsHoldsBackTheUser) {
    limit("lasers", "alice", [](Limits& limits) { limits.max_jobs = 1; });
    b.pending("a").pending("b").pending("c", user("bob", 1001));
    EXPECT_EQ(try_start("a"), "started");
    EXPECT_EQ(try_start("b"), "AssocMaxJobsLimit");
    EXPECT_EQ(try_start("c"), "started");
    b.finish(b.id("a"));
    EXPECT_EQ(try_start("b"), "started");
}

TEST_F(T50Limits, GroupLimitsCountEverybodyBelow) {
    limit("phys", "", [](Limits& limits) { limits.grp_tres.set("cpu", 4); });
    b.pending("a").pending("b", user("bob", 1001)).pending("c");
    EXPECT_EQ(try_start("a", 2), "started");
    EXPECT_EQ(try_start("b", 2), "started");
    EXPECT_EQ(try_start("c", 1), "AssocGrpCpuLimit");
}

TEST_F(T50Limits, RunMinutesLookAtWhatRunningJobsMayStillUse) {
    limit("phys", "", [](Limits& limits) { limits.grp_tres_run_mins.set("cpu", 100); });
    b.pending("a", limit_min(30)).pending("b", limit_min(30), user("bob", 1001));
    EXPECT_EQ(try_start("a", 2), "started");
    EXPECT_EQ(try_start("b", 2), "AssocGrpCPURunMinutesLimit") << "60 minutes are promised already";
    b.at(11 * 60).must(Tick{});
    EXPECT_EQ(try_start("b", 2), "started") << "38 are left of them";
}

TEST_F(T50Limits, LimitsOfAnAccountAreInheritedByItsUsers) {
    limit("phys", "", [](Limits& limits) { limits.max_wall_min = 10; });
    b.pending("a", limit_min(11)).pending("b", limit_min(10));
    EXPECT_EQ(try_start("a"), "AssocMaxWallDurationPerJobLimit");
    EXPECT_EQ(try_start("b"), "started");
    limit("lasers", "alice", [](Limits& limits) { limits.max_wall_min = 20; });
    EXPECT_EQ(try_start("a"), "started") << "her own limit goes before";
}

TEST_F(T50Limits, QosLimitsHaveReasonsOfTheirOwn) {
    quality([](Qos& qos) {
        qos.limits.max_jobs = 1;
        qos.limits.max_tres_per_job.set("cpu", 4);
    });
    b.pending("a").pending("b").pending("c", user("bob", 1001));
    EXPECT_EQ(try_start("a", 5), "QOSMaxCpuPerJobLimit");
    EXPECT_EQ(try_start("a", 1), "started");
    EXPECT_EQ(try_start("b"), "QOSMaxJobsPerUserLimit");
    EXPECT_EQ(try_start("c"), "started");
    quality([](Qos& qos) { qos.max_tres_per_user.set("cpu", 1); });
    EXPECT_EQ(try_start("b"), "QOSMaxCpuPerUserLimit");
    quality([](Qos& qos) { qos.limits.grp_jobs = 2; });
    EXPECT_EQ(try_start("b"), "QOSGrpJobsLimit");
    quality([](Qos& qos) { qos.min_tres_per_job.set("cpu", 2); });
    EXPECT_EQ(try_start("b"), "QOSMinCpuNotSatisfied");
}

TEST_F(T50Limits, TooManySubmissionsAreRefusedWithTheLimitsName) {
    limit("lasers", "alice", [](Limits& limits) { limits.max_submit_jobs = 3; });
    b.pending("a", array("0-1"));
    JobSpec more;
    more.script = "#!/bin/sh\n";
    more.uid = 1000;
    more.user_name = "alice";
    more.account = "lasers";
    more.array = "0-1";
    const auto refused = b.apply(SubmitJob{{more}, Actor::root(), {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text,
              "AssocMaxSubmitJobLimit\nJob violates accounting/QOS policy (job submit limit, user's size and/or time "
              "limits)");
    more.array = {};
    EXPECT_TRUE(b.apply(SubmitJob{{more}, Actor::root(), {}}));
}

TEST_F(T50Limits, DenyOnLimitRefusesWhatWouldOnlyWait) {
    const auto submit = [&] {
        JobSpec job;
        job.script = "#!/bin/sh\n";
        job.user_name = "alice";
        job.qos = "normal";
        job.time_limit_min = 100;
        return b.apply(SubmitJob{{job}, Actor::root(), {}});
    };
    quality([](Qos& qos) { qos.limits.max_wall_min = 10; });
    EXPECT_TRUE(submit());
    quality([](Qos& qos) {
        qos.limits.max_wall_min = 10;
        qos.flags = qos_flag::deny_on_limit;
    });
    const auto refused = submit();
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().text.starts_with("QOSMaxWallDurationPerJobLimit\n"));
}

TEST_F(T50Limits, LimitsDoNothingUnlessTheyAreEnforced) {
    limit("lasers", "alice", [](Limits& limits) { limits.max_jobs = 0; });
    b.pending("a");
    EXPECT_EQ(try_start("a"), "AssocMaxJobsLimit");
    b.policies([](Policies& policies) { policies.enforce = 0; });
    EXPECT_EQ(try_start("a"), "started");
}

TEST_F(T50Limits, UsageIsChargedUpTheTreeAndFades) {
    b.policies([](Policies& policies) { policies.usage_half_life_s = 100; });
    b.running("a", on("n1"), cpus_each(4));
    b.must(DecayUsage{});
    b.at(50).finish(b.id("a"));
    const auto raw = [&](std::string_view account, std::string_view name) {
        return b.cluster().find_association(account, name, "")->usage.raw;
    };
    EXPECT_DOUBLE_EQ(raw("lasers", "alice"), 200);
    EXPECT_DOUBLE_EQ(raw("phys", ""), 200);
    EXPECT_DOUBLE_EQ(raw("lasers", "bob"), 0);
    b.at(100).must(DecayUsage{});
    EXPECT_NEAR(raw("lasers", "alice"), 100, 1e-9);
    b.at(150).must(DecayUsage{});
    EXPECT_NEAR(raw("lasers", "alice"), 70.71067811865476, 1e-9);
    b.must(ResetUsage{"phys", {}, {}});
    EXPECT_DOUBLE_EQ(raw("phys", ""), 0);
}

TEST_F(T50Limits, UsageFadesByTheFactorOfTheCommand) {
    b.running("a", on("n1"), cpus_each(4));
    b.must(DecayUsage{});
    b.at(50).must(DecayUsage{.factor = 0.25});
    EXPECT_DOUBLE_EQ(b.cluster().find_association("lasers", "alice", "")->usage.raw, 50);
    EXPECT_EQ(b.cluster().usage_time(), b.now());
    EXPECT_FALSE(b.apply(DecayUsage{.factor = 1.5})) << "usage never grows by fading";
}

TEST_F(T50Limits, GpuTimeCountsThroughBillingWeights) {
    Partition partition;
    partition.billing_weights = {{"CPU", 1.0}, {"Mem", 0.25}, {"GRES/gpu", 10.0}, {"license/matlab", 3.0}};
    TresList tres;
    tres.set("cpu", 4);
    tres.set("mem", 16 * 1024);
    tres.set("gres/gpu", 2);
    tres.set("license/matlab", 1);
    EXPECT_EQ(billing_of(&partition, tres, false), 31U);
    EXPECT_EQ(billing_of(&partition, tres, true), 23U) << "MAX_TRES: the dearest, and what belongs to no node";
    EXPECT_EQ(billing_of(nullptr, tres, false), 4U);
}

TEST_F(T50Limits, SafeStartsNothingThatCouldNotRunToItsEnd) {
    limit("phys", "", [](Limits& limits) { limits.grp_tres_mins.set("cpu", 100); });
    b.pending("a", limit_min(60)).pending("b", limit_min(40));
    b.policies([](Policies& policies) { policies.enforce = enforce_flag::limits | enforce_flag::safe; });
    EXPECT_EQ(try_start("a", 2), "AssocGrpCPUMinutesLimit");
    EXPECT_EQ(try_start("b", 2), "started");
    b.policies([](Policies& policies) { policies.enforce = enforce_flag::limits; });
    EXPECT_EQ(try_start("a", 2), "started") << "without it, what has been used decides";
}

TEST_F(T50Limits, ThePartitionsQosGoesFirstUnlessTheJobsIsOverIt) {
    Qos strict;
    strict.name = "strict";
    strict.limits.max_tres_per_job.set("cpu", 1);
    b.must(EditQos{Edit::create, strict});
    quality([](Qos& qos) { qos.limits.max_tres_per_job.set("cpu", 4); });
    auto partition = *b.cluster().find_partition("main");
    partition.qos = "strict";
    b.must(EditPartition{Edit::update, partition});
    b.pending("a", spec([](JobSpec& job) { job.qos = "normal"; }));
    EXPECT_EQ(try_start("a", 2), "QOSMaxCpuPerJobLimit");
    quality([](Qos& qos) {
        qos.limits.max_tres_per_job.set("cpu", 4);
        qos.flags = qos_flag::over_part_qos;
    });
    EXPECT_EQ(try_start("a", 2), "started");
}

TEST_F(T50Limits, WhoNamesNoTimeLimitGetsTheLongestAllowed) {
    limit("phys", "", [](Limits& limits) { limits.max_wall_min = 10; });
    JobSpec job;
    job.script = "#!/bin/sh\n";
    job.uid = 1000;
    job.user_name = "alice";
    const auto valid = validate(b.cluster(), job, Actor{1000, AdminLevel::none, "alice"}, b.now());
    ASSERT_TRUE(valid);
    EXPECT_EQ(valid->account, "lasers") << "her default account";
    EXPECT_EQ(valid->time_limit_min, 10U);
}

TEST_F(T50Limits, WhatIsInUseCannotBeRemoved) {
    b.pending("a");
    Association entry;
    entry.account = "lasers";
    entry.user = "alice";
    const auto refused = b.apply(EditAssociation{Edit::remove, entry, {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Job(s) active, cancel job(s) before remove");
    EXPECT_FALSE(b.apply(EditAccount{Edit::remove, {"phys", {}, {}, {}}}));
    b.must(CancelJob{{.job = b.id("a").value}, Actor::root()});
    EXPECT_TRUE(b.apply(EditAssociation{Edit::remove, entry, {}}));
    EXPECT_TRUE(b.apply(EditUser{Edit::remove, {"alice", {}, {}, AdminLevel::none}}));
}

TEST_F(T50Limits, AnAccountCannotBeBelowItself) {
    Association phys;
    phys.account = "phys";
    EXPECT_FALSE(b.apply(EditAssociation{Edit::update, phys, "lasers"}));
}

TEST_F(T50Limits, CoordinatorsMayChangeTheirAccountsJobs) {
    b.pending("a");
    const Actor carol{1005, AdminLevel::none, "carol"};
    EXPECT_FALSE(b.apply(HoldJob{{.job = b.id("a").value}, carol}));
    b.must(EditAccount{Edit::update, {"lasers", {}, {}, {"carol"}}});
    EXPECT_TRUE(b.apply(HoldJob{{.job = b.id("a").value}, carol}));
}

TEST_F(T50Limits, LimitFactorWidensWhatAssociationsMayHave) {
    limit("lasers", "alice", [](Limits& limits) { limits.max_tres_per_job.set("cpu", 2); });
    quality([](Qos& qos) { qos.limits.max_tres_per_job.set("cpu", 5); });
    const auto alices = spec([](JobSpec& job) { job.account = "lasers"; });
    b.pending("a", user("alice", 1001), alices, tasks(3)).pending("b", user("alice", 1001), alices, tasks(6));
    EXPECT_EQ(try_start("a", 3), "AssocMaxCpuPerJobLimit");
    quality([](Qos& qos) {
        qos.limits.max_tres_per_job.set("cpu", 5);
        qos.limit_factor = 2;
    });
    EXPECT_EQ(try_start("b", 6), "QOSMaxCpuPerJobLimit") << "the QOS's own limits stay";
    EXPECT_EQ(try_start("a", 3), "started");
}

TEST_F(T50Limits, ALimitSaysWhatItAllowsWhatIsInUseAndWhatIsAsked) {
    limit("phys", "", [](Limits& limits) { limits.grp_tres.set("cpu", 4); });
    const auto alices = spec([](JobSpec& job) { job.account = "lasers"; });
    b.pending("a", user("alice", 1001), alices, tasks(3)).pending("b", user("alice", 1001), alices, tasks(2));
    EXPECT_EQ(try_start("a", 3), "started");
    TresList wanted;
    wanted.set("cpu", 2);
    const auto hit = b.cluster().limit_hit(b.job("b"), wanted);
    EXPECT_EQ(hit.reason, Reason::assoc_grp_cpu_limit);
    EXPECT_EQ(hit.name, "GrpTRES");
    EXPECT_EQ(hit.tres, "cpu");
    EXPECT_EQ(hit.most, 4);
    EXPECT_EQ(hit.used, 3);
    EXPECT_EQ(hit.asked, 2);
    ASSERT_NE(hit.association, nullptr);
    EXPECT_EQ(hit.association->account, "phys");
}

TEST_F(T50Limits, JobsEndWhenTheirGroupHasUsedUpItsMinutes) {
    limit("phys", "", [](Limits& limits) { limits.grp_tres_mins.set("cpu", 10); });
    const auto alices = spec([](JobSpec& job) { job.account = "lasers"; });
    b.pending("a", user("alice", 1001), alices, tasks(4)).pending("b", user("alice", 1001), alices);
    EXPECT_EQ(try_start("a", 4), "started");
    b.at(60).must(DecayUsage{1.0});
    EXPECT_EQ(b.job("a").state, JobState::running);
    b.at(180).must(DecayUsage{1.0});
    EXPECT_EQ(b.job("a").state, JobState::timeout);
    EXPECT_EQ(b.job("a").reason, Reason::assoc_grp_cpu_minutes_limit);
    EXPECT_EQ(try_start("b"), "AssocGrpCPUMinutesLimit");
}

TEST_F(T50Limits, TimeCountsAgainstGrpWallAndThePartitionsQosIsChargedToo) {
    Qos lanes;
    lanes.name = "lanes";
    lanes.limits.grp_wall_min = 2;
    b.must(EditQos{Edit::create, lanes});
    b.partition("fast", "n1", [](Partition& partition) { partition.qos = "lanes"; });
    b.pending("a", partition("fast"), user("alice", 1001));
    EXPECT_TRUE(b.start_on(b.id("a"), "n1", 1));
    b.at(121).must(DecayUsage{1.0});
    EXPECT_EQ(b.job("a").state, JobState::timeout);
    EXPECT_EQ(b.job("a").reason, Reason::qos_grp_wall_limit);
}

TEST_F(T50Limits, OnlySoManyWaitingJobsGetOlder) {
    limit("lasers", "", [](Limits& limits) { limits.grp_jobs_accrue = 2; });
    const auto mine = spec([](JobSpec& job) { job.account = "lasers"; });
    for (const auto* name : {"a", "b", "c"}) b.pending(name, user("alice", 1001), mine);
    EXPECT_NE(b.job("a").accrue_time, 0);
    EXPECT_NE(b.job("b").accrue_time, 0);
    EXPECT_EQ(b.job("c").accrue_time, 0);
    b.at(50).must(CancelJob{.job = {.job = b.id("a").value}, .actor = Actor::root()});
    b.at(60).must(DecayUsage{1.0});
    EXPECT_EQ(b.job("c").accrue_time, b.now());
}

TEST_F(T50Limits, UsageFactorSafeCountsWhatTheJobWouldBeCharged) {
    b.policies([](Policies& policies) { policies.enforce = enforce_flag::limits | enforce_flag::safe; });
    const auto strict = [&](std::uint32_t flags) {
        quality([&](Qos& qos) {
            qos.limits.grp_tres_mins.set("cpu", 10);
            qos.usage_factor = 3;
            qos.flags = flags;
        });
    };
    b.pending("a", user("alice", 1001), limit_min(5));
    strict(qos_flag::usage_factor_safe);
    EXPECT_EQ(try_start("a"), "QOSGrpCPUMinutesLimit");
    strict(0);
    EXPECT_EQ(try_start("a"), "started");
}

TEST_F(T50Limits, EditsOfOneCommandHappenTogetherOrNotAtAll) {
    const auto before = snapshot_of(b.cluster());
    EditAccounts all;
    all.edits.push_back({.account = EditAccount{Edit::create, {"chem", {}, {}, {}}}});
    all.edits.push_back({.qos = EditQos{Edit::remove, {.name = "nosuch"}}});
    EXPECT_FALSE(b.apply(all));
    EXPECT_EQ(snapshot_of(b.cluster()), before);
    EXPECT_EQ(b.cluster().find_account("chem"), nullptr);
    all.edits.pop_back();
    Association entry;
    entry.account = "chem";
    all.edits.push_back({.association = EditAssociation{Edit::create, entry, {}}});
    b.must(all);
    EXPECT_NE(b.cluster().find_association("chem", "", ""), nullptr) << "later edits build on earlier ones";
}

}  // namespace
}  // namespace spur
