// What sbatch's users are told when a request cannot be taken, word for word.
#include "core/machine/validate.hpp"

#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

class T50Validate : public ::testing::Test {
protected:
    T50Validate() {
        b.nodes("n[1-2]", cpus(8), memory_mib(4000), feature("fast"))
            .nodes("g1", topology(2, 4, 2), memory_mib(8000), gpus(4, "a100"));
        b.partition("main", "ALL", [](Partition& part) {
            part.default_time_min = 60;
            part.max_time_min = 120;
        });
        b.partition("closed", "n1", [](Partition& part) { part.state = PartitionState::inactive; });
        b.partition("staff", "n1", [](Partition& part) { part.root_only = true; });
        b.partition("small", "n1", [](Partition& part) { part.default_mem_per_cpu_mib = 100; });
        b.license("matlab", 2);
    }

    std::string refusal(const std::function<void(JobSpec&)>& change, Actor actor = {1000, AdminLevel::none, "alice"}) {
        const auto spec = checked(change, actor);
        return spec ? "accepted" : spec.error().text;
    }
    Result<JobSpec> checked(const std::function<void(JobSpec&)>& change,
                            Actor actor = {1000, AdminLevel::none, "alice"}) {
        JobSpec job;
        job.script = "#!/bin/sh\n";
        job.uid = 1000;
        job.user_name = "alice";
        change(job);
        return validate(b.cluster(), job, actor, b.now());
    }

    ClusterBuilder b;
};

TEST_F(T50Validate, DefaultsAreFilledIn) {
    const auto job = checked([](auto&) {});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->partitions, std::vector<Text>{"main"});
    EXPECT_EQ(job->time_limit_min, 60U);
    EXPECT_EQ(job->qos, "normal");
    EXPECT_EQ(checked([](auto& spec) { spec.partitions = {"small"}; })->mem_per_cpu_mib, 100U);
    EXPECT_EQ(checked([](auto& spec) { spec.partitions = {"small"}; })->time_limit_min, unlimited);
}

TEST_F(T50Validate, PartitionsMustExistAndBeOpen) {
    EXPECT_EQ(refusal([](auto& job) { job.partitions = {"nope"}; }), "Invalid partition name specified");
    EXPECT_EQ(refusal([](auto& job) { job.partitions = {"main", "nope"}; }), "Invalid partition name specified");
    EXPECT_EQ(refusal([](auto& job) { job.partitions = {"closed"}; }),
              "Required partition not available (inactive or drain)");
    EXPECT_EQ(refusal([](auto& job) { job.partitions = {"staff"}; }), "Access/permission denied");
}

TEST_F(T50Validate, CountsMustMakeSense) {
    EXPECT_EQ(refusal([](auto& job) { job.min_nodes = 0; }), "Node count specification invalid");
    EXPECT_EQ(refusal([](auto& job) {
                  job.min_nodes = 3;
                  job.max_nodes = 2;
              }),
              "Node count specification invalid");
    EXPECT_EQ(refusal([](auto& job) { job.min_nodes = 9; }), "accepted") << "it waits, with a reason";
    b.policies([](Policies& policies) { policies.enforce_part_limits = EnforcePartLimits::all; });
    EXPECT_EQ(refusal([](auto& job) { job.min_nodes = 9; }), "Node count specification invalid");
}

TEST_F(T50Validate, TimesMustMakeSense) {
    EXPECT_EQ(refusal([](auto& job) { job.time_limit_min = 121; }), "accepted") << "it waits, with PartitionTimeLimit";
    EXPECT_EQ(refusal([](auto& job) {
                  job.time_limit_min = 5;
                  job.time_min_min = 10;
              }),
              "Invalid time-min specification (exceeds job's time or other limits)");
    EXPECT_EQ(refusal([&](auto& job) { job.deadline = b.now() - 1; }), "Invalid time specified");
    b.policies([](Policies& policies) { policies.enforce_part_limits = EnforcePartLimits::all; });
    EXPECT_EQ(refusal([](auto& job) { job.time_limit_min = 121; }),
              "Requested time limit is invalid (missing or exceeds some limit)");
}

TEST_F(T50Validate, NodesAndFeaturesMustExist) {
    EXPECT_EQ(refusal([](auto& job) { job.node_list = "n9"; }), "Invalid node name specified");
    EXPECT_EQ(refusal([](auto& job) { job.exclude_nodes = "n[1-9]"; }), "Invalid node name specified");
    EXPECT_EQ(refusal([](auto& job) {
                  job.node_list = "n[1-2]";
                  job.min_nodes = 1;
              }),
              "Node count specification invalid");
    EXPECT_EQ(refusal([](auto& job) { job.node_list = "n[1-2]"; }), "accepted");
    EXPECT_EQ(refusal([](auto& job) { job.features = "slow"; }), "Invalid feature specification");
    EXPECT_EQ(refusal([](auto& job) { job.features = "fast&("; }), "Invalid feature specification");
    EXPECT_EQ(refusal([](auto& job) { job.features = "fast"; }), "accepted");
}

TEST_F(T50Validate, WhatNoNodeHasIsRefusedAtOnce) {
    EXPECT_EQ(refusal([](auto& job) { job.mem_per_node_mib = 8001; }),
              "Memory specification can not be satisfied\nRequested node configuration is not available");
    EXPECT_EQ(refusal([](auto& job) { job.tasks_per_node = 17; }),
              "CPU count per node can not be satisfied\nRequested node configuration is not available");
    EXPECT_EQ(refusal([](auto& job) { job.cores_per_socket = 99; }),
              "Socket, core and/or thread specification can not be satisfied\n"
              "Requested node configuration is not available");
    EXPECT_EQ(refusal([](auto& job) { job.min_tmp_mib = 1; }),
              "Temporary disk specification can not be satisfied\nRequested node configuration is not available");
}

TEST_F(T50Validate, GresAndLicensesMustExist) {
    EXPECT_EQ(refusal([](auto& job) { job.gres_per_node = "fpga:1"; }),
              "Invalid generic resource (gres) specification");
    EXPECT_EQ(refusal([](auto& job) { job.gres_per_node = "gpu:5"; }), "Requested node configuration is not available");
    EXPECT_EQ(refusal([](auto& job) { job.gres_per_node = "gpu:h100:1"; }),
              "Requested node configuration is not available");
    EXPECT_EQ(refusal([](auto& job) { job.gres_per_node = "gpu:a100:4"; }), "accepted");
    EXPECT_EQ(refusal([](auto& job) { job.licenses = "ansys"; }), "Invalid license specification");
    EXPECT_EQ(refusal([](auto& job) { job.licenses = "matlab:3"; }), "Invalid license specification");
    EXPECT_EQ(refusal([](auto& job) { job.licenses = "matlab:2"; }), "accepted");
}

TEST_F(T50Validate, ExpressionsMustBeReadable) {
    EXPECT_EQ(refusal([](auto& job) { job.dependency = "foo:1"; }), "Job dependency problem");
    EXPECT_EQ(refusal([](auto& job) { job.array = "5-2"; }), "Invalid job array specification");
    EXPECT_EQ(refusal([](auto& job) { job.array = "0-1000001"; }), "Invalid job array specification")
        << "MaxArraySize is 1000001";
    EXPECT_EQ(refusal([](auto& job) { job.reservation = "nores"; }), "Requested reservation is invalid");
    EXPECT_EQ(refusal([](auto& job) { job.script = {}; }), "Job script not specified");
    EXPECT_EQ(refusal([](auto& job) { job.qos = "nope"; }), "Invalid qos specification");
}

TEST_F(T50Validate, PrivilegesAreForThePrivileged) {
    EXPECT_EQ(refusal([](auto& job) { job.nice = -5; }), "Invalid --nice value");
    EXPECT_EQ(refusal([](auto& job) { job.uid = 1001; }), "Access/permission denied");
    EXPECT_EQ(refusal([](auto& job) { job.uid = 1001; }, Actor::root()), "accepted");
    EXPECT_EQ(checked([](auto& job) { job.priority = 5; })->priority, std::nullopt) << "ignored, as in Slurm";
    EXPECT_EQ(checked([](auto& job) { job.priority = 5; }, Actor::root())->priority, 5U);
}

TEST_F(T50Validate, AccountsMatterOnlyWhenTheyAreEnforced) {
    EXPECT_EQ(refusal([](auto& job) { job.account = "nope"; }), "accepted");
    b.policies([](Policies& policies) { policies.enforce = enforce_flag::associations; });
    EXPECT_EQ(refusal([](auto& job) { job.account = "nope"; }),
              "Invalid account or account/partition combination specified");
    b.must(EditAccount{Edit::create, {"phys", {}, {}, {}}});
    b.must(EditUser{Edit::create, {"alice", "phys", {}, AdminLevel::none}});
    Association entry;
    entry.account = "phys";
    b.must(EditAssociation{Edit::create, entry, {}});
    entry.user = "alice";
    b.must(EditAssociation{Edit::create, entry, {}});
    EXPECT_EQ(checked([](auto&) {})->account, "phys") << "her default account";
}

TEST(T50Demand, ARequestComesToNumbers) {
    JobSpec job;
    EXPECT_EQ(Request::of(job).demand, (Demand{1, 1, 1, 1, 1, 0}));
    job.tasks = 4;
    job.cpus_per_task = 2;
    EXPECT_EQ(Request::of(job).demand, (Demand{1, 4, 4, 2, 8, 0}));
    job.tasks_per_node = 2;
    EXPECT_EQ(Request::of(job).demand.min_nodes, 2U);
    job.min_nodes = 3;
    EXPECT_EQ(Request::of(job).demand.max_nodes, 3U) << "-N 3 is exactly three";
    job.mem_per_node_mib = 100;
    EXPECT_EQ(Request::of(job).demand.memory_mib, 300U);
    JobSpec listed;
    listed.node_list = "n[1-4]";
    EXPECT_EQ(Request::of(listed).demand.min_nodes, 4U);
    EXPECT_EQ(Request::of(listed).demand.tasks, 4U);
}

TEST(T50Demand, LicensesAreReadInBothSpellings) {
    EXPECT_EQ(*parse_licenses("a,b:2;c=3"), (std::vector<LicenseCount>{{"a", 1}, {"b", 2}, {"c", 3}}));
    EXPECT_FALSE(parse_licenses("a:x"));
    EXPECT_FALSE(parse_licenses(":2"));
}

}  // namespace
}  // namespace spur
