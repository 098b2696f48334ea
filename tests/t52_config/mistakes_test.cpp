// Every mistake is a sentence with its line, and one reading shows all of them.
#include <gtest/gtest.h>

#include "tests/t52_config/parse.hpp"

namespace spur::config {
namespace {

TEST(T52Config, AnUnknownKeyNamesItsLineAndTheNearestOne) {
    EXPECT_EQ(mistakes_in("[controller]\n\nlisten_adr = \":6817\""),
              "[controller] has no key \"listen_adr\"; did you mean \"listen_addr\"? (spur.conf:3)");
    EXPECT_EQ(mistakes_in("[[nodes]]\nname = \"n1\"\nnames = \"n1\""),
              "[[nodes]] has no key \"name\"; did you mean \"names\"? (spur.conf:2)");
}

TEST(T52Config, AKeyInTheWrongSectionIsToldWhereItBelongs) {
    EXPECT_EQ(mistakes_in("[controller]\nmax_batch_requeue = 5"),
              "[controller] has no key \"max_batch_requeue\"; it belongs in [jobs] (spur.conf:2)");
}

TEST(T52Config, NamesOfNodesAreHostNames) {
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"my node\""),
              "node \"my node\": names has a blank in a name; separate names by commas (spur.conf:1)");
    EXPECT_EQ(
        mistakes_in("[[nodes]]\nnames = \"n1;rm\""),
        "node \"n1;rm\": \"n1;rm\" is not a host name: use letters, digits, - _ and ., and begin with a letter or a "
        "digit (spur.conf:1)");
    EXPECT_NE(mistakes_in("[[nodes]]\nnames = \"-x\""), "none");
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n[1-2], rack-3.lab,_x\""), "none");
}

TEST(T52Config, AnEmptyNameIsNoName) {
    EXPECT_EQ(mistakes_in("cluster_name = \"\""),
              "cluster_name must not be empty: the cluster is known by it (spur.conf:1)");
}

TEST(T52Config, WhatIsSeldomMeantIsAWarning) {
    EXPECT_EQ(config_warnings(config_of("")),
              (std::vector<std::string>{"no [[nodes]] are described in spur.conf: no agent can join and no job can run",
                                        "no [[partitions]] are described in spur.conf: no job can be submitted"}));
    EXPECT_EQ(
        config_warnings(config_of("[[nodes]]\nnames = \"n1\"\n[[partitions]]\nname = \"p\"\nnodes = \"ALL\"")).size(),
        1U);
    EXPECT_TRUE(
        config_warnings(
            config_of("[[nodes]]\nnames = \"n1\"\n[[partitions]]\nname = \"p\"\nnodes = \"ALL\"\ndefault = true"))
            .empty());
}

TEST(T52Config, AnUnknownSectionIsAMistake) {
    EXPECT_EQ(mistakes_in("[contoller]\nhosts = []"),
              "there is no section \"contoller\"; did you mean \"controller\"? (spur.conf:1)");
    EXPECT_EQ(mistakes_in("cluster_nam = \"x\""),
              "there is no key \"cluster_nam\"; did you mean \"cluster_name\"? (spur.conf:1)");
}

TEST(T52Config, AllMistakesAreReportedInTheOrderOfTheirLines) {
    EXPECT_EQ(
        mistakes_in(
            "cluster_name = 3\n[scheduler]\ninterval_secs = \"x\"\n[[partitions]]\nname = \"p\"\nmax_time = true\n"),
        "cluster_name must be a text in quotes, not 3 (spur.conf:1)\n"
        "[scheduler] interval_secs must be a whole number, not \"x\" (spur.conf:3)\n"
        "partition \"p\": max_time must be a time limit such as 90 (minutes), \"1-12:00:00\" or \"UNLIMITED\", not "
        "true "
        "(spur.conf:6)");
}

TEST(T52Config, AnUnclosedBracketIsFoundInItsPartition) {
    const auto mistakes = mistakes_in("[[partitions]]\nname = \"gpu\"\nnodes = \"n[01-04\"");
    EXPECT_TRUE(mistakes.starts_with("partition \"gpu\": nodes is \"n[01-04\": ")) << mistakes;
    EXPECT_TRUE(mistakes.ends_with("(spur.conf:3)")) << mistakes;
}

TEST(T52Config, BrokenTomlIsOneMistakeWithItsLine) {
    const auto mistakes = mistakes_in("cluster_name = \"x\"\n[controller\n");
    EXPECT_TRUE(mistakes.starts_with("not valid TOML: ")) << mistakes;
    EXPECT_TRUE(mistakes.ends_with("(spur.conf:2)")) << mistakes;
}

TEST(T52Config, AValueOutOfRangeIsRefused) {
    EXPECT_EQ(mistakes_in("[jobs]\nmax_job_id = -4"),
              "[jobs] max_job_id must lie between 2 and 67043328, and -4 does not (spur.conf:2)");
    EXPECT_EQ(mistakes_in("[scheduler]\nbudget_secs = nan"),
              "[scheduler] budget_secs must lie between 0.001 and 3600, and nan does not (spur.conf:2)");
    EXPECT_EQ(mistakes_in("[controller]\nlisten_addr = \"host:99999\""),
              "[controller] listen_addr must be an address such as \"host:6817\" or \"[::]:6817\", not \"host:99999\" "
              "(spur.conf:2)");
}

TEST(T52Config, AChoiceThatDoesNotExistListsThoseThatDo) {
    EXPECT_EQ(mistakes_in("[[partitions]]\nname = \"p\"\nstate = \"UPP\""),
              "partition \"p\": state must be one of UP, DOWN, DRAIN, INACTIVE, not \"UPP\"; did you mean \"UP\"? "
              "(spur.conf:3)");
}

TEST(T52Config, PartitionsMustMakeSenseTogether) {
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n[1-2]\"\n[[partitions]]\nname = \"p\"\nnodes = \"n[1-4]\""),
              "partition \"p\": no [[nodes]] describes n[3-4] (spur.conf:3)");
    EXPECT_EQ(mistakes_in("[[partitions]]\nname = \"a\"\ndefault = true\n[[partitions]]\nname = \"b\"\ndefault = true"),
              "partition \"b\": \"a\" is the default already; only one can be (spur.conf:4)");
    EXPECT_EQ(mistakes_in("[[partitions]]\nname = \"a\"\n[[partitions]]\nname = \"a\""),
              "partition \"a\" is described twice, here and in line 1; remove one (spur.conf:3)");
    EXPECT_EQ(mistakes_in("[[partitions]]\nname = \"a\"\nmax_time = 10\ndefault_time = 20"),
              "partition \"a\": default_time is longer than max_time (spur.conf:1)");
    EXPECT_EQ(mistakes_in("[[partitions]]\nnodes = \"ALL\""),
              "[[partitions]] needs a name: add name = \"batch\" (spur.conf:1)");
}

TEST(T52Config, NodesMustMakeSense) {
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n[1-3]\"\n[[nodes]]\nnames = \"n[3-5]\""),
              "node \"n3\" is described twice, here and in line 1; remove it from one of the two (spur.conf:3)");
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n1\"\ncpus = 7\nsockets = 2\ncores_per_socket = 2"),
              "node \"n1\": cpus is 7 and sockets × cores × threads is 2 × 2 × 1 = 4; make cpus 4 (threads) or 4 "
              "(cores) (spur.conf:1)");
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n[1-2]\"\naddr = \"10.0.0.1\""),
              "node \"n[1-2]\": addr has 1 names and the entry has 2; they must match one to one (spur.conf:1)");
    EXPECT_TRUE(mistakes_in("[[nodes]]\nnames = \"n1\"\ngres = [\"gpu:a:b:c\"]")
                    .starts_with("node \"n1\": gres is \"gpu:a:b:c\": "));
}

TEST(T52Config, TwoNamesForTheSameChoiceMustNotDiffer) {
    EXPECT_EQ(mistakes_in("[scheduler]\nplugin = \"fifo\"\n[plugins]\nsched = \"sched/backfill\""),
              "[scheduler] plugin is sched/fifo and [plugins] sched is sched/backfill (line 4); they mean the same, "
              "remove one "
              "(spur.conf:2)");
}

TEST(T52Config, APluginOfTheWrongAxisIsRefused) {
    EXPECT_EQ(mistakes_in("[plugins]\nselect = \"sched/fifo\""),
              "[plugins] select must name a plugin of the axis select, such as \"select/name\", not \"sched/fifo\" "
              "(spur.conf:2)");
    EXPECT_EQ(mistakes_in("[plugins]\nshed = \"sched/fifo\""),
              "[plugins] has no key \"shed\"; did you mean \"sched\"? (spur.conf:2)");
    EXPECT_EQ(mistakes_in("[plugin.backfill]\nx = 1"),
              "[plugin.\"backfill\"] does not name a plugin: write [plugin.\"axis/name\"] with an axis of state, "
              "sched, select, priority, "
              "accounting, auth, net, gpu, cgroup, job_submit (spur.conf:1)");
}

TEST(T52Config, TlsIsAllOrNothing) {
    EXPECT_EQ(mistakes_in("[tls]\ncert = \"/a\"\nkey = \"/b\""),
              "[tls] needs certificate, key and ca, all three or none (spur.conf:1)");
}

TEST(T52Config, SpurDoesNotUpdateItself) {
    EXPECT_TRUE(mistakes_in("[update]\nauto_update = true").starts_with("[update] auto_update cannot be true: "));
}

TEST(T52Config, ADateIsNothingThatSpurKnows) {
    EXPECT_EQ(mistakes_in("cluster_name = 2026-01-01"),
              "cluster_name must be a text in quotes, not a date (spur.conf:1)");
}

TEST(T52Config, SwitchesMustMakeATreeOfNodesThatExist) {
    EXPECT_EQ(mistakes_in("[[switches]]\nnodes = \"n1\""),
              "[[switches]] needs a name: add name = \"leaf1\" (spur.conf:1)");
    EXPECT_EQ(mistakes_in("[[nodes]]\nnames = \"n1\"\n[[switches]]\nname = \"s\"\nnodes = \"n[1-2]\""),
              "switch \"s\": node \"n2\" is not described; add it to a [[nodes]] (spur.conf:3)");
    EXPECT_EQ(mistakes_in("[[switches]]\nname = \"s\"\nswitches = \"t\""),
              "switch \"s\": switch \"t\" is not described; add a [[switches]] (spur.conf:1)");
    EXPECT_EQ(mistakes_in("[switches]\nname = \"s\""),
              "switches must be a list of tables: write [[switches]] before each (spur.conf:1)");
}

TEST(T52Config, ATypeOfPreemptionThatPushesNobodyOutHasNoMode) {
    EXPECT_EQ(mistakes_in("[scheduler]\npreempt_type = \"none\"\npreempt_mode = \"REQUEUE\""),
              "[scheduler] preempt_type none lets nobody be preempted, and preempt_mode says how; set preempt_type to "
              "partition_prio or qos, or preempt_mode to OFF (spur.conf:1)");
    EXPECT_EQ(mistakes_in("[scheduler]\npreempt_type = \"quos\""),
              "[scheduler] preempt_type must be one of any, none, partition_prio, qos, preempt/any, preempt/none, "
              "preempt/partition_prio, preempt/qos, not \"quos\"; did you mean \"qos\"? (spur.conf:2)");
}

}  // namespace
}  // namespace spur::config
