// Limits as the scheduler asks about them: the same answers as the state machine's, plus what a plan has started.
#include <gtest/gtest.h>

#include "core/machine/validate.hpp"
#include "core/model/tres.hpp"
#include "daemons/common/planning/limit_counts.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::planning {
namespace {

using namespace spur::testing;

class T24LimitCounts : public ::testing::Test {
protected:
    T24LimitCounts() {
        b.nodes("n[1-2]", cpus(8)).policies([](Policies& policies) { policies.enforce = enforce_flag::limits; });
        b.cluster();
        b.must(EditAccount{Edit::create, {"phys", {}, {}, {}}});
        b.must(EditAssociation{Edit::create, entry("phys", ""), {}});
        for (const auto* name : {"alice", "bob"}) {
            b.must(EditUser{Edit::create, {name, "phys", {}, AdminLevel::none}});
            b.must(EditAssociation{Edit::create, entry("phys", name), {}});
        }
    }
    static Association entry(std::string_view account, std::string_view name) {
        Association made;
        made.account = Text{account};
        made.user = Text{name};
        return made;
    }
    void limit(std::string_view name, const std::function<void(Limits&)>& change) {
        auto made = entry("phys", name);
        change(made.limits);
        b.must(EditAssociation{Edit::update, made, {}});
    }
    void submit(std::string_view name, Uid uid = 1000, std::string_view user_name = "alice") {
        b.pending(name, user(user_name, uid), spec([](JobSpec& job) { job.account = "phys"; }));
    }
    // The counts as a scheduling cycle would have it now.
    LimitCounts& counts() {
        Changes all;
        all.everything = true;
        model_ = builder_.publish(b.cluster(), all);
        Changes seen;
        seen.everything = true;
        counts_.update(model_, seen);
        return counts_;
    }
    const Job& job(std::string_view name) { return *model_->jobs.get(b.id(name).value); }
    spur_job_view view(std::string_view name) {
        spur_job_view made{};
        made.klass = 1;
        made.association = job(name).association.value;
        made.uid = job(name).spec->uid;
        made.qos = made.reservation = SPUR_NONE;
        return made;
    }
    Text partition_of(std::string_view name) { return job(name).spec->partitions.front(); }
    Reason judge(std::string_view name) { return counts_.judge(job(name), view(name), partition_of(name)); }
    void start(std::string_view name) {
        counts_.start(job(name), requested_tres(*model_, job(name)), partition_of(name));
    }

    ClusterBuilder b;
    ReadModelBuilder builder_;
    std::shared_ptr<const ReadModel> model_;
    LimitCounts counts_;
};

TEST_F(T24LimitCounts, WhatThePlanHasStartedCounts) {
    limit("alice", [](Limits& limits) { limits.max_jobs = 1; });
    submit("a");
    submit("b");
    submit("c", 1001, "bob");
    counts();
    EXPECT_EQ(judge("a"), Reason::none);
    start("a");
    EXPECT_EQ(judge("b"), Reason::assoc_max_jobs_limit);
    EXPECT_EQ(judge("c"), Reason::none);
    counts_.begin_plan();
    EXPECT_EQ(judge("b"), Reason::none) << "a new plan has started nothing yet";
}

TEST_F(T24LimitCounts, RunningJobsCountUntilTheyEnd) {
    limit("", [](Limits& limits) { limits.grp_tres.set("cpu", 2); });
    submit("a");
    submit("b", 1001, "bob");
    ASSERT_TRUE(b.start_on(b.id("a"), "n1", 2));
    counts();
    EXPECT_EQ(judge("b"), Reason::assoc_grp_cpu_limit);
    b.finish(b.id("a"));
    Changes changes;
    changes.jobs = {b.id("a")};
    Changes seen = changes;
    model_ = builder_.publish(b.cluster(), changes);
    counts_.update(model_, seen);
    EXPECT_EQ(judge("b"), Reason::none);
}

TEST_F(T24LimitCounts, ItSaysWhatTheStateMachineWouldSay) {
    limit("", [](Limits& limits) { limits.grp_jobs = 1; });
    submit("a");
    submit("b", 1001, "bob");
    ASSERT_TRUE(b.start_on(b.id("a"), "n1", 1));
    counts();
    const auto& live = b.job("b");
    EXPECT_EQ(judge("b"), b.cluster().limit_reason(live, requested_tres(b.cluster(), live)));
    EXPECT_EQ(judge("b"), Reason::assoc_grp_jobs_limit);
}

TEST_F(T24LimitCounts, WhoGetsMoreThanAskedForIsJudgedByWhatItGets) {
    limit("alice", [](Limits& limits) { limits.max_tres_per_job.set("cpu", 4); });
    submit("a");
    counts();
    EXPECT_EQ(judge("a"), Reason::none);
    TresList whole_node;
    whole_node.set("cpu", 8);
    EXPECT_EQ(counts_.judge(job("a"), whole_node, partition_of("a")), Reason::assoc_max_cpu_per_job_limit);
}

TEST_F(T24LimitCounts, WithoutEnforcementNothingIsLimited) {
    limit("alice", [](Limits& limits) { limits.max_jobs = 0; });
    submit("a");
    b.policies([](Policies& policies) { policies.enforce = 0; });
    counts();
    EXPECT_EQ(judge("a"), Reason::none);
    EXPECT_FALSE(counts_.enforces());
}

}  // namespace
}  // namespace spur::planning
