// What listings show to whom, and which jobs long lists of ids mean.
#include <gtest/gtest.h>

#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/job_query.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::ctld {
namespace {

using namespace spur::testing;

std::shared_ptr<const planning::ReadModel> model_of(const Cluster& cluster) {
    planning::Changes all;
    all.everything = true;
    return planning::ReadModelBuilder{}.publish(cluster, all);
}

const Actor alice{1000, AdminLevel::none, "alice"};
const Actor bob{1001, AdminLevel::none, "bob"};
const Actor olga{1002, AdminLevel::operator_, "olga"};

class Listing : public ::testing::Test {
protected:
    Listing() {
        b.nodes("n[1-4]", cpus(4));
        b.pending("hers", user("alice", 1000), spec([](JobSpec& job) {
                      job.account = "phys";
                      job.spank_environment = {"SECRET=1"};
                  }));
        b.pending("his", user("bob", 1001), spec([](JobSpec& job) { job.account = "chem"; }));
        b.must(EditAccount{Edit::create, {"phys", {}, {}, {"carla"}}});
        b.must(EditAccount{Edit::create, {"chem", {}, {}, {}}});
        for (const auto* name : {"phys", "chem"}) {
            Association of_account;
            of_account.account = name;
            b.must(EditAssociation{Edit::create, of_account, "root"});
        }
        for (const auto& [account, name] : {std::pair{"phys", "alice"}, {"chem", "bob"}}) {
            User one;
            one.name = name;
            one.default_account = account;
            b.must(EditUser{Edit::create, one});
            Association own;
            own.account = account;
            own.user = name;
            b.must(EditAssociation{Edit::create, own, {}});
        }
    }
    std::shared_ptr<const planning::ReadModel> model(std::uint32_t hidden = 0) {
        b.policies([&](Policies& policies) { policies.private_data = hidden; });
        return model_of(b.cluster());
    }
    const Job& job(const planning::ReadModel& model, const char* name) { return *model.jobs.get(b.id(name).value); }

    ClusterBuilder b;
};

TEST_F(Listing, JobsOfOthersAreHiddenWhereJobsArePrivate) {
    const auto open = model();
    EXPECT_TRUE(Privacy(bob, *open).shows(job(*open, "hers")));
    const auto closed = model(private_data::jobs);
    EXPECT_TRUE(Privacy(alice, *closed).shows(job(*closed, "hers")));
    EXPECT_FALSE(Privacy(bob, *closed).shows(job(*closed, "hers")));
    EXPECT_TRUE(Privacy(olga, *closed).shows(job(*closed, "hers")));
    const Actor carla{1003, AdminLevel::none, "carla"};
    EXPECT_TRUE(Privacy(carla, *closed).shows(job(*closed, "hers"))) << "a coordinator of the account";
    EXPECT_FALSE(Privacy(carla, *closed).shows(job(*closed, "his")));
}

TEST_F(Listing, EachKindOfRecordHasItsOwnWord) {
    const auto all = model(0xff);
    const Privacy hers{alice, *all};
    EXPECT_TRUE(hers.hides(private_data::nodes) && hers.hides(private_data::partitions));
    EXPECT_FALSE(Privacy(olga, *all).hides(0xff));
    const auto& directory = *all->directory;
    EXPECT_TRUE(hers.shows(directory.users.at("alice")));
    EXPECT_FALSE(hers.shows(directory.users.at("bob")));
    EXPECT_FALSE(hers.shows(directory.accounts.at("phys"))) << "only coordinators see definitions of accounts";
    EXPECT_TRUE(Privacy(Actor{1003, AdminLevel::none, "carla"}, *all).shows(directory.accounts.at("phys")));
    for (const auto& [id, entry] : directory.associations)
        if (!entry.user.empty()) {
            EXPECT_EQ(hers.shows(entry), entry.user == "alice");
            EXPECT_EQ(hers.shows_usage(entry), entry.user == "alice");
        }
    Reservation maintenance;
    maintenance.users = {"bob"};
    EXPECT_FALSE(hers.shows(maintenance));
    maintenance.deny_users = true;
    EXPECT_TRUE(hers.shows(maintenance)) << "all but bob may use it";
    Reservation lab;
    lab.accounts = {"phys"};
    EXPECT_TRUE(hers.shows(lab));
    EXPECT_FALSE(Privacy(bob, *all).shows(lab));
    Reservation grouped;
    grouped.groups = {"staff"};
    grouped.group_members = {1001};
    EXPECT_FALSE(hers.shows(grouped));
    EXPECT_TRUE(Privacy(bob, *all).shows(grouped));
}

TEST_F(Listing, WhatASpankPluginWasToldIsBetweenTheOwnerAndOperators) {
    const auto all = model();
    v1::Job wire;
    job_to_wire(*all, job(*all, "hers"), {}, wire);
    EXPECT_EQ(wire.spec().spank_environment_size(), 0);
    job_to_wire(*all, job(*all, "hers"), {.spank_environment = true}, wire);
    EXPECT_EQ(wire.spec().spank_environment_size(), 1);
    EXPECT_TRUE(Privacy(alice, *all).shows_secrets(job(*all, "hers")));
    EXPECT_TRUE(Privacy(olga, *all).shows_secrets(job(*all, "hers")));
    EXPECT_FALSE(Privacy(bob, *all).shows_secrets(job(*all, "hers")));
}

// ---- ids -----------------------------------------------------------------------------------------------------------

TEST_F(Listing, ManyIdsOfOneArrayAreLookedAtOnce) {
    b.pending("many", user("alice", 1000), array("0-99999"));
    const auto id = b.id("many").value;
    ASSERT_TRUE(b.start_on(b.id("many"), "n1", 1, 7));
    const auto all = model();
    v1::ListJobsRequest request;
    request.add_states("all");
    for (int i = 0; i < 20'000; ++i) request.add_ids(fmt::format("{}_[0-99999]", id));
    const auto found = select_jobs(*all, request);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->size(), 2U) << "the record and the task that runs";
    request.clear_ids();
    request.add_ids(fmt::format("{}_7", id));
    request.add_ids(std::to_string(b.id("his").value));
    EXPECT_EQ(select_jobs(*all, request)->size(), 2U);
    request.clear_ids();
    request.add_ids("4000000");
    EXPECT_FALSE(select_jobs(*all, request)) << "one unknown id is an error";
    request.add_ids("4000001");
    EXPECT_TRUE(select_jobs(*all, request)->empty()) << "several are an empty answer";
    for (std::size_t i = 0; i <= 100'000; ++i) request.add_ids("1");
    EXPECT_FALSE(select_jobs(*all, request)) << "no list is that long";
}

TEST(Founding, AStateIsNewUntilAConfigurationIsInForce) {
    EXPECT_FALSE(model_of(Cluster{})->directory->is_configured);
    ClusterBuilder builder;
    builder.nodes("n1", cpus(1));
    EXPECT_TRUE(model_of(builder.cluster())->directory->is_configured);
}

}  // namespace
}  // namespace spur::ctld
