// What is written arrives where it belongs.
#include <gtest/gtest.h>

#include "core/text/lexical.hpp"
#include "tests/t52_config/parse.hpp"

namespace spur::config {
namespace {

TEST(T52Config, AnEmptyFileIsAClusterNamedSpurWithEveryDefault) {
    const auto config = config_of("");
    EXPECT_EQ(config.cluster.cluster_name, "spur");
    EXPECT_TRUE(config.cluster.nodes.empty());
    EXPECT_EQ(config.scheduler.plugin, "sched/backfill");
    EXPECT_EQ(config.auth.plugin, "auth/local");
    EXPECT_EQ(config.cluster.policies.kill_wait_s, 30U);
}

TEST(T52Config, TheExampleOfTheManualWorksAsAWhole) {
    const auto config = config_of(R"(
cluster_name = "production"

[controller]
listen_addr = "[::]:6817"
state_dir = "/var/spool/spur"
hosts = ["ctrl1", "ctrl2", "ctrl3"]

[scheduler]
plugin = "backfill"
interval_secs = 1
fairshare_halflife_days = 14

[accounting]
database_url = "postgresql://spur:spur@db1/spur"

[[partitions]]
name = "gpu"
default = true
nodes = "gpu[001-064]"
max_time = "72:00:00"
default_time = "1:00:00"
state = "UP"

[[nodes]]
names = "gpu[001-064]"
cpus = 128
sockets = 2
cores_per_socket = 32
threads_per_core = 2
memory_mb = 512000
gres = ["gpu:mi300x:8"]
features = ["mi300x", "ib"]
weight = 5
state = "UNKNOWN"

[plugins]
dirs   = ["/usr/lib/spur", "/opt/acme/spur"]
state  = "state/raft"
sched  = "sched/backfill"
select = "select/gpu"
gpu    = ["gpu/rocm", "gpu/nvml"]

[plugin."sched/backfill"]
window = "2-00:00:00"
depth = 100
strict = true

[auth]
plugin = "munge"
administrators = ["alice"]

[update]
check_on_startup = false
)");
    EXPECT_EQ(config.controller.hosts, (std::vector<std::string>{"ctrl1", "ctrl2", "ctrl3"}));
    EXPECT_EQ(config.scheduler.interval_s, 1U);
    EXPECT_EQ(config.cluster.policies.usage_half_life_s, 14U * 86'400);
    const auto& fairshare = config.plugin_options.at("priority/fairshare");
    ASSERT_EQ(fairshare.size(), 1U);
    EXPECT_EQ(fairshare[0].key, "half_life");
    EXPECT_EQ(std::get<std::string>(fairshare[0].value), "1209600s");
    EXPECT_EQ(config.accounting.database_url, "postgresql://spur:spur@db1/spur");
    ASSERT_EQ(config.cluster.partitions.size(), 1U);
    EXPECT_EQ(config.cluster.partitions[0].max_time_min, 72U * 60);
    EXPECT_EQ(config.cluster.partitions[0].default_time_min, 60U);
    EXPECT_TRUE(config.cluster.partitions[0].is_default);
    ASSERT_EQ(config.cluster.nodes.size(), 1U);
    const auto& node = config.cluster.nodes[0];
    EXPECT_EQ(node.names.size(), 64U);
    EXPECT_EQ(node.names.back(), "gpu064");
    EXPECT_EQ(node.topology.threads(), 128U);
    EXPECT_EQ(node.memory_mib, 512'000U);
    ASSERT_EQ(node.gres.size(), 1U);
    EXPECT_EQ(node.gres[0].type, "mi300x");
    EXPECT_EQ(node.gres[0].count, 8U);
    EXPECT_TRUE(node.gres[0].has_devices);
    EXPECT_EQ(config.plugins.at("gpu"), (std::vector<std::string>{"gpu/rocm", "gpu/nvml"}));
    EXPECT_EQ(config.plugins.at("auth"), std::vector<std::string>{"auth/munge"});
    const auto& options = config.plugin_options.at("sched/backfill");
    ASSERT_EQ(options.size(), 3U);
    EXPECT_EQ(std::get<std::string>(options[0].value), "2-00:00:00");
    EXPECT_EQ(options[0].line, 45U);
    EXPECT_EQ(std::get<std::int64_t>(options[1].value), 100);
    EXPECT_TRUE(std::get<bool>(options[2].value));
}

TEST(T52Config, WhatProtectsTheClusterIsOnUnlessSomebodySaysOtherwise) {
    const auto plain = config_of("").cluster.policies;
    EXPECT_TRUE(plain.disable_root_jobs);
    EXPECT_EQ(plain.max_stored_per_user_mib, 256U);
    EXPECT_EQ(plain.private_data, 0U);
    const auto said = config_of(
                          "[jobs]\ndisable_root_jobs = false\nmax_stored_per_user = \"2G\"\n"
                          "[auth]\nprivate_data = [\"jobs\", \"Usage\"]")
                          .cluster.policies;
    EXPECT_FALSE(said.disable_root_jobs);
    EXPECT_EQ(said.max_stored_per_user_mib, 2048U);
    EXPECT_EQ(said.private_data, private_data::jobs | private_data::usage);
    EXPECT_EQ(config_of("[auth]\nprivate_data = \"all\"").cluster.policies.private_data, 0xffU);
    EXPECT_FALSE(parse_config("[auth]\nprivate_data = \"job\"", "spur.conf"));
    EXPECT_EQ(config_of("[auth]\nprivate_data = \"events\"").cluster.policies.private_data, private_data::events);
}

TEST(T52Config, HowOftenTasksAreMeasuredAndWhatFollowsIsTheAgents) {
    const auto usual = config_of("").agent;
    EXPECT_EQ(usual.sample_s, 30U);
    EXPECT_FALSE(usual.over_memory_kill);
    const auto agent = config_of("[agent]\nsample_interval = 5\nover_memory_kill = true\n").agent;
    EXPECT_EQ(agent.sample_s, 5U);
    EXPECT_TRUE(agent.over_memory_kill);
}

TEST(T52Config, ASchedulerNamedInEitherPlaceIsTheSame) {
    EXPECT_EQ(config_of("[scheduler]\nplugin = \"fifo\"").plugins.at("sched"), std::vector<std::string>{"sched/fifo"});
    EXPECT_EQ(config_of("[plugins]\nsched = \"sched/fifo\"").scheduler.plugin, "sched/fifo");
}

TEST(T52Config, TheKeyFileOfAuthGoesToThePluginThatWasChosen) {
    const auto config = config_of("[auth]\nkey_file = \"/etc/spur/key\"\nplugin = \"jwt\"");
    const auto& options = config.plugin_options.at("auth/jwt");
    ASSERT_EQ(options.size(), 1U);
    EXPECT_EQ(options[0].key, "key_file");
    EXPECT_EQ(options[0].line, 2U);
}

TEST(T52Config, TopologyFollowsFromWhatIsGiven) {
    const auto topology = [](std::string_view keys) {
        const auto config = config_of("[[nodes]]\nnames = \"n1\"\n" + std::string{keys});
        const auto& node = config.cluster.nodes.at(0);
        return fmt::format("{}: {}x{}x{}", node.cpus, node.topology.sockets, node.topology.cores_per_socket,
                           node.topology.threads_per_core);
    };
    EXPECT_EQ(topology(""), "1: 1x1x1");
    EXPECT_EQ(topology("cpus = 8"), "8: 8x1x1");
    EXPECT_EQ(topology("sockets = 2\ncores_per_socket = 4\nthreads_per_core = 2"), "16: 2x4x2");
    EXPECT_EQ(topology("cpus = 8\nsockets = 2\ncores_per_socket = 4\nthreads_per_core = 2"), "8: 2x4x2");
    EXPECT_EQ(topology("cpus = 16\ncores_per_socket = 4\nthreads_per_core = 2"), "16: 2x4x2");
    EXPECT_EQ(topology("boards = 2\nsockets_per_board = 2\ncores_per_socket = 4"), "16: 4x4x1");
}

TEST(T52Config, AnEntryNamedDefaultGivesDefaultsToThoseThatFollow) {
    const auto config = config_of(R"(
[[nodes]]
names = "a1"
[[nodes]]
names = "DEFAULT"
cpus = 4
memory_mb = "16G"
[[nodes]]
names = "b[1-2]"
[[nodes]]
names = "c1"
cpus = 8
[[partitions]]
name = "DEFAULT"
max_time = 60
[[partitions]]
name = "short"
nodes = "ALL"
)");
    ASSERT_EQ(config.cluster.nodes.size(), 3U);
    EXPECT_EQ(config.cluster.nodes[0].cpus, 1U);
    EXPECT_EQ(config.cluster.nodes[1].cpus, 4U);
    EXPECT_EQ(config.cluster.nodes[1].memory_mib, 16'384U);
    EXPECT_EQ(config.cluster.nodes[2].cpus, 8U);
    EXPECT_EQ(config.cluster.nodes[2].memory_mib, 16'384U);
    ASSERT_EQ(config.cluster.partitions.size(), 1U);
    EXPECT_EQ(config.cluster.partitions[0].max_time_min, 60U);
}

TEST(T52Config, GpusOfSeveralTypesAreNumberedThrough) {
    const auto config = config_of("[[nodes]]\nnames = \"n1\"\ngres = [\"gpu:a100:2\", \"gpu:v100:4\", \"nvme:3\"]");
    const auto& gres = config.cluster.nodes.at(0).gres;
    ASSERT_EQ(gres.size(), 3U);
    EXPECT_EQ(gres[0].first_index, 0U);
    EXPECT_EQ(gres[1].first_index, 2U);
    EXPECT_FALSE(gres[2].has_devices);
}

TEST(T52Config, NodeStatesBecomeStatesAndFlags) {
    const auto node = [](std::string_view state) {
        return config_of(fmt::format("[[nodes]]\nnames = \"n1\"\nstate = \"{}\"", state)).cluster.nodes.at(0);
    };
    EXPECT_EQ(node("down").state, NodeState::down);
    EXPECT_EQ(node("DRAIN").state_flags, node_flag::drain);
    EXPECT_EQ(node("FUTURE").state, NodeState::future);
    EXPECT_EQ(node("CLOUD").state_flags, node_flag::cloud);
}

TEST(T52Config, EveryKeyOfAPartitionArrives) {
    const auto config = config_of(R"(
[[nodes]]
names = "n[1-4]"
[[partitions]]
name = "other"
[[partitions]]
name = "p"
nodes = ["n[1-2]", "n4"]
state = "drain"
max_time = "UNLIMITED"
default_time = 30
min_nodes = 1
max_nodes = 3
max_cpus_per_node = 8
priority_tier = 10
priority_job_factor = 20
hidden = "YES"
root_only = true
req_resv = true
exclusive_user = true
disable_root_jobs = true
lln = true
oversubscribe = "FORCE:6"
preempt_mode = "requeue"
grace_time = "2m"
over_time_limit = 5
allow_groups = ["a", "b"]
allow_accounts = "ALL"
deny_qos = "low"
alloc_nodes = ["login1"]
qos = "part"
def_mem_per_cpu = "2G"
def_mem_per_gpu = 1024
max_mem_per_node = 64000
def_cpu_per_gpu = 4
tres_billing_weights = "CPU=1.0,Mem=0.25G,GRES/gpu=2.5"
alternate = "other"
)");
    const auto& part = config.cluster.partitions.at(1);
    EXPECT_EQ(part.node_text, "n[1-2],n4");
    EXPECT_EQ(part.state, PartitionState::drain);
    EXPECT_EQ(part.max_time_min, unlimited);
    EXPECT_EQ(part.default_time_min, 30U);
    EXPECT_EQ(part.max_nodes, 3U);
    EXPECT_EQ(part.max_cpus_per_node, 8U);
    EXPECT_EQ(part.priority_tier, 10U);
    EXPECT_TRUE(part.hidden && part.root_only && part.require_reservation && part.exclusive_user &&
                part.disable_root_jobs && part.lln);
    EXPECT_EQ(part.oversubscribe, OverSubscribe::force);
    EXPECT_EQ(part.oversubscribe_jobs, 6U);
    EXPECT_EQ(part.preempt_mode, PreemptMode::requeue);
    EXPECT_EQ(part.grace_time_s, 120U);
    EXPECT_EQ(part.allow_groups.size(), 2U);
    EXPECT_TRUE(part.allow_accounts.empty());
    EXPECT_EQ(part.default_mem_per_cpu_mib, 2'048U);
    EXPECT_EQ(part.default_mem_per_gpu_mib, 1'024U);
    EXPECT_EQ(part.default_cpus_per_gpu, 4U);
    ASSERT_EQ(part.billing_weights.size(), 3U);
    EXPECT_DOUBLE_EQ(part.billing_weights[1].weight, 0.25);
    EXPECT_EQ(part.alternate, "other");
}

TEST(T52Config, RulesForJobsArrive) {
    const auto config = config_of(R"(
licenses = { fluent = 20, comsol = 5 }
[jobs]
max_array_size = 100001
min_job_age = "10m"
kill_wait = 5
requeue_exit = [3, 4]
enforce_part_limits = "ALL"
return_to_service = 2
[accounting]
host = "db1:6819"
enforce = ["limits", "qos"]
[scheduler]
preempt_mode = "SUSPEND"
)");
    const auto& policies = config.cluster.policies;
    EXPECT_EQ(policies.max_array_size, 100'001U);
    EXPECT_EQ(policies.min_job_age_s, 600U);
    EXPECT_EQ(policies.kill_wait_s, 5U);
    EXPECT_EQ(policies.requeue_exit, (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(policies.enforce_part_limits, EnforcePartLimits::all);
    EXPECT_EQ(policies.enforce, enforce_flag::associations | enforce_flag::limits | enforce_flag::qos);
    EXPECT_EQ(policies.preempt_mode, PreemptMode::suspend);
    EXPECT_TRUE(policies.keep_outbox);
    ASSERT_EQ(config.cluster.licenses.size(), 2U);
}

TEST(T52Config, ControllersMayBeWrittenAsAHostlist) {
    EXPECT_EQ(config_of("[controller]\nhosts = \"ctrl[1-3]\"").controller.hosts.size(), 3U);
}

}  // namespace
}  // namespace spur::config
