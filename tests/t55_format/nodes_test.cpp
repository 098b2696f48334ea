// sinfo's lines: how nodes are grouped, and what is printed of them. Observed of Slurm 22.05.
#include "cli/sinfo/json.hpp"
#include "cli/sinfo/listing.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace spur::cli::sinfo {
namespace {

using test::node;
using test::partition;

constexpr std::uint32_t unlimited = 0xffffffffU;

Snapshot cluster(const char* n1 = "IDLE", const char* n2 = "IDLE", const char* n3 = "IDLE", const char* n4 = "IDLE") {
    Snapshot snapshot;
    snapshot.now = test::listing_time;
    *snapshot.nodes.add_nodes() = node("n1", n1, {"main", "hid"});
    *snapshot.nodes.add_nodes() = node("n2", n2, {"main", "hid"});
    *snapshot.nodes.add_nodes() = node("n3", n3, {"main", "down"});
    auto big = node("n4", n4, {"main", "gpu"});
    big.set_cpus(16);
    big.set_threads_per_core(2);
    big.set_memory_mib(128000);
    big.set_tmp_mib(0);
    big.set_weight(5);
    big.clear_features();
    big.add_features("b");
    auto& gpus = *big.add_gres();
    gpus.set_name("gpu");
    gpus.set_type("mi300x");
    gpus.set_count(4);
    *snapshot.nodes.add_nodes() = big;

    auto& partitions = snapshot.partitions;
    *partitions.add_partitions() = partition("main", unlimited, true);
    auto gpu = partition("gpu", 2880);
    gpu.set_oversubscribe("FORCE:4");
    gpu.set_priority_tier(10);
    gpu.set_max_nodes(2);
    *partitions.add_partitions() = gpu;
    *partitions.add_partitions() = partition("hid", 30);
    auto down = partition("down", 60);
    down.set_state("DOWN");
    down.set_allow_groups("root,users");
    *partitions.add_partitions() = down;
    return snapshot;
}

Snapshot busy() {
    auto snapshot = cluster("MIXED", "ALLOCATED", "IDLE+DRAIN", "MIXED");
    const std::uint32_t used[] = {2, 8, 0, 2};
    for (int i = 0; i < 4; ++i) snapshot.nodes.mutable_nodes(i)->set_alloc_cpus(used[i]);
    auto& drained = *snapshot.nodes.mutable_nodes(2);
    drained.set_reason("bad disk here and more text");
    drained.set_reason_user("root");
    drained.set_reason_time(test::listing_time);
    return snapshot;
}

class T55Nodes : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
        ::unsetenv("SLURM_TIME_FORMAT");
    }
    std::string print(const Snapshot& snapshot) { return print_listing(options_, snapshot).text; }
    std::string with(const char* format, const Snapshot& snapshot) {
        options_.format = format;
        return print(snapshot);
    }
    Options options_;
};

TEST_F(T55Nodes, TheDefaultListingGroupsByPartitionAndState) {
    EXPECT_EQ(print(busy()),
              "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
              "main*        up   infinite      1  drain n3\n"
              "main*        up   infinite      2    mix n[1,4]\n"
              "main*        up   infinite      1  alloc n2\n"
              "gpu          up 2-00:00:00      1    mix n4\n"
              "hid          up      30:00      1    mix n1\n"
              "hid          up      30:00      1  alloc n2\n"
              "down       down    1:00:00      1  drain n3\n");
}

TEST_F(T55Nodes, NodesThatDoNotRespondHaveAStarAndALineOfTheirOwn) {
    EXPECT_EQ(print(cluster("IDLE", "IDLE", "IDLE", "IDLE+NOT_RESPONDING")),
              "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
              "main*        up   infinite      1  idle* n4\n"
              "main*        up   infinite      3   idle n[1-3]\n"
              "gpu          up 2-00:00:00      1  idle* n4\n"
              "hid          up      30:00      2   idle n[1-2]\n"
              "down       down    1:00:00      1   idle n3\n");
}

TEST_F(T55Nodes, TheLongListingHasMoreColumns) {
    options_.long_listing = true;
    EXPECT_EQ(print(cluster()),
              "Mon Nov 16 21:34:32 2026\n"
              "PARTITION AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  NODES       STATE NODELIST\n"
              "main*        up   infinite 1-infinite   no       NO        all      4        idle n[1-4]\n"
              "gpu          up 2-00:00:00        1-2   no  FORCE:4        all      1        idle n4\n"
              "hid          up      30:00 1-infinite   no       NO        all      2        idle n[1-2]\n"
              "down       down    1:00:00 1-infinite   no       NO root,users      1        idle n3\n");
}

TEST_F(T55Nodes, OneLineANodeAndPartition) {
    options_.by_node = true;
    EXPECT_EQ(print(busy()),
              "NODELIST   NODES PARTITION STATE \n"
              "n1             1     main* mix   \n"
              "n1             1       hid mix   \n"
              "n2             1     main* alloc \n"
              "n2             1       hid alloc \n"
              "n3             1     main* drain \n"
              "n3             1      down drain \n"
              "n4             1     main* mix   \n"
              "n4             1       gpu mix   \n");
}

TEST_F(T55Nodes, TheLongNodeListingShowsReasons) {
    options_.by_node = true;
    options_.long_listing = true;
    options_.partitions = {"main"};
    EXPECT_EQ(
        print(busy()),
        "Mon Nov 16 21:34:32 2026\n"
        "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON              \n"
        "n1             1     main*       mixed 8       2:4:1 256000     1000      1      a,b none                \n"
        "n2             1     main*   allocated 8       2:4:1 256000     1000      1      a,b none                \n"
        "n3             1     main*     drained 8       2:4:1 256000     1000      1      a,b bad disk here and mo\n"
        "n4             1     main*       mixed 16      2:4:2 128000        0      5        b none                \n");
}

TEST_F(T55Nodes, TheSummaryCountsNodesByState) {
    options_.summarize = true;
    EXPECT_EQ(print(busy()),
              "PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\n"
              "main*        up   infinite          3/0/1/4 n[1-4]\n"
              "gpu          up 2-00:00:00          1/0/0/1 n4\n"
              "hid          up      30:00          2/0/0/2 n[1-2]\n"
              "down       down    1:00:00          0/0/1/1 n3\n");
}

TEST_F(T55Nodes, ReasonsAreListedOnce) {
    options_.reasons = true;
    EXPECT_EQ(print(busy()),
              "REASON               USER      TIMESTAMP           NODELIST\n"
              "bad disk here and mo root      2026-11-16T21:34:32 n3\n");
}

TEST_F(T55Nodes, WithoutAPartitionColumnANodeIsCountedOnce) {
    EXPECT_EQ(with("%D %N", busy()), "NODES NODELIST\n4 n[1-4]\n");
    EXPECT_EQ(with("%t %D", busy()), "STATE NODES\ndrain 1\nmix 2\nalloc 1\n");
    EXPECT_EQ(with("%F/%C", busy()), "NODES(A/I/O/T)/CPUS(A/I/O/T)\n3/0/1/4/12/20/8/40\n");
}

TEST_F(T55Nodes, DifferentSizesShowTheLeastAndAPlus) {
    EXPECT_EQ(with("%c %m %d %w %X %Y %Z %z %D", cluster()),
              "CPUS MEMORY TMP_DISK WEIGHT SOCKETS CORES THREADS S:C:T NODES\n8+ 128000+ 0+ 1+ 2 4 1+ 2:4:1+ 4\n");
    EXPECT_EQ(with("%P %c %m %D %N", cluster()),
              "PARTITION CPUS MEMORY NODES NODELIST\nmain* 8+ 128000+ 4 n[1-4]\ngpu 16 128000 1 n4\n"
              "hid 8 256000 2 n[1-2]\ndown 8 256000 1 n3\n");
}

TEST_F(T55Nodes, ExactKeepsDifferentSizesApart) {
    options_.exact = true;
    EXPECT_EQ(with("%P %c %m %D %N", cluster()),
              "PARTITION CPUS MEMORY NODES NODELIST\nmain* 8 256000 3 n[1-3]\nmain* 16 128000 1 n4\n"
              "gpu 16 128000 1 n4\nhid 8 256000 2 n[1-2]\ndown 8 256000 1 n3\n");
}

TEST_F(T55Nodes, FeaturesAndGresDivideNodes) {
    EXPECT_EQ(with("%f %G %D %N", cluster()),
              "AVAIL_FEATURES GRES NODES NODELIST\na,b (null) 3 n[1-3]\nb gpu:mi300x:4 1 n4\n");
}

TEST_F(T55Nodes, PartitionsWithoutAMatchingNodeAreShownEmpty) {
    options_.nodes = *HostSet::parse("n1,n4");
    EXPECT_EQ(print(busy()),
              "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
              "main*        up   infinite      2    mix n[1,4]\n"
              "gpu          up 2-00:00:00      1    mix n4\n"
              "hid          up      30:00      1    mix n1\n"
              "down       down    1:00:00      0    n/a \n");
}

TEST_F(T55Nodes, StatesSelectByBaseAndByFlag) {
    options_.partitions = {"main"};
    options_.header = false;
    const auto nodes_in = [&](const char* states) {
        options_.states = *StateFilter::parse(states);
        return with("%N", busy());
    };
    EXPECT_EQ(nodes_in("mix"), "n[1,4]\n");
    EXPECT_EQ(nodes_in("alloc"), "n[1-2,4]\n");
    EXPECT_EQ(nodes_in("idle&drain"), "n3\n");
    EXPECT_EQ(nodes_in("drained,allocated"), "n[1-4]\n");
    EXPECT_FALSE(StateFilter::parse("FOO"));
}

TEST_F(T55Nodes, PartitionsMayBeSortedByNameOrAsConfigured) {
    options_.sort = "-P";
    EXPECT_EQ(with("%P %N", cluster()), "PARTITION NODELIST\nmain* n[1-4]\nhid n[1-2]\ngpu n4\ndown n3\n");
    options_.sort = "P";
    EXPECT_EQ(with("%R", cluster()), "PARTITION\ndown\ngpu\nhid\nmain\n");
}

TEST_F(T55Nodes, TheStarOfTheDefaultPartitionSurvivesCutting) {
    EXPECT_EQ(with("%.3P|%3P|%7P|", cluster()),
              "PAR|PAR|PARTITI|\nma*|ma*|main*  |\ngpu|gpu|gpu    |\nhid|hid|hid    |\ndow|dow|down   |\n");
}

TEST_F(T55Nodes, HiddenPartitionsAreShownWhenAskedFor) {
    auto snapshot = cluster();
    snapshot.partitions.mutable_partitions(2)->set_hidden(true);
    EXPECT_EQ(with("%R", snapshot), "PARTITION\nmain\ngpu\ndown\n");
    options_.all_partitions = true;
    EXPECT_EQ(with("%R", snapshot), "PARTITION\nmain\ngpu\nhid\ndown\n");
}

TEST_F(T55Nodes, LoadsAndFreeMemoryOfAGroupAreRanges) {
    auto snapshot = cluster();
    for (int i = 0; i < 4; ++i) {
        snapshot.nodes.mutable_nodes(i)->set_load(i == 2 ? 0.18 : 0.28);
        snapshot.nodes.mutable_nodes(i)->set_free_memory_mib(i == 2 ? 23513 : 22902);
    }
    EXPECT_EQ(with("%D %O %e %v", snapshot), "NODES CPU_LOAD FREE_MEM VERSION\n4 0.18-0.28 22902-23513 22.05.8\n");
}

TEST_F(T55Nodes, WhatANodeNeverToldIsNotAvailable) {
    auto snapshot = cluster();
    snapshot.nodes.mutable_nodes(0)->set_load(1.6);
    snapshot.nodes.mutable_nodes(0)->set_free_memory_mib(21831);
    snapshot.nodes.mutable_nodes(1)->clear_version();
    EXPECT_EQ(with("%P %D %O %e", snapshot),
              "PARTITION NODES CPU_LOAD FREE_MEM\nmain* 4 1.60-N/A 21831-N/A\ngpu 1 N/A N/A\n"
              "hid 2 1.60-N/A 21831-N/A\ndown 1 N/A N/A\n");
    options_.partitions = {"hid"};
    EXPECT_EQ(with("%n %v", snapshot), "HOSTNAMES VERSION\nn1 22.05.8\nn2 N/A\n");
}

TEST_F(T55Nodes, APartitionWithoutNodesHasEveryColumn) {
    options_.nodes = *HostSet::parse("n1");
    options_.partitions = {"down"};
    options_.header = false;
    EXPECT_EQ(with("%P|%b|%f|%v|%o|%t|%T|%G|%E|%H|%n|%N|%c|%e|%O|%z|%C|%F|%w|%V|%A|%D|%m|%d|%l", cluster()),
              "down|(null)|(null)|N/A||n/a|n/a|(null)|none|Unknown|||0|0|0.00|0:0:0|0/0/0/0|0/0/0/0|0|N/A|0/0|0|0|0|"
              "1:00:00\n");
    options_.long_format = "allocmem,comment,extra,gresused,port,statecomplete";
    EXPECT_EQ(print(cluster()),
              "0                   (null)              (null)              (null)              0                   "
              "n/a                 \n");
}

TEST_F(T55Nodes, APartitionsRulesAreColumns) {
    auto snapshot = cluster();
    auto& own = *snapshot.partitions.mutable_partitions(1);
    own.set_preempt_mode("REQUEUE");
    own.set_alloc_nodes("n[1-2]");
    own.set_default_time_min(unlimited);
    own.set_max_cpus_per_node(4);
    options_.partitions = {"main", "gpu"};
    EXPECT_EQ(with("%V|%P|%M|%S|%L|%B|%s|%p|%I", snapshot),
              "CLUSTER|PARTITION|PREEMPT_MODE|ALLOCNODES|DEFAULTTIME|MAX_CPUS_PER_NODE|JOB_SIZE|PRIO_TIER|"
              "PRIO_JOB_FACTOR\n"
              "N/A|main*|OFF|all|n/a|UNLIMITED|1-infinite|1|1\n"
              "N/A|gpu|REQUEUE|n[1-2]|infinite|4|1-2|10|1\n");
    options_.long_format = "prioritytier:3,priority:3,root:3";
    options_.header = false;
    EXPECT_EQ(print(snapshot), "1  1  no \n10 10 no \n");
}

TEST_F(T55Nodes, SizesSortByTheLeast) {
    options_.sort = "-c";
    EXPECT_EQ(with("%P %c", cluster()), "PARTITION CPUS\ngpu 16\nmain* 8+\nhid 8\ndown 8\n");
    options_.sort = "l";
    EXPECT_EQ(with("%R %l", cluster()),
              "PARTITION TIMELIMIT\nhid 30:00\ndown 1:00:00\ngpu 2-00:00:00\nmain infinite\n");
}

TEST_F(T55Nodes, ReservationsAreATable) {
    v1::ListReservationsReply reply;
    EXPECT_EQ(print_reservations(options_, reply, test::listing_time), "No reservations in the system\n");
    auto& one = *reply.add_reservations();
    one.set_name("x");
    one.set_state("ACTIVE");
    one.set_start_time(test::listing_time);
    one.set_end_time(test::listing_time + 600);
    one.set_nodes("n2");
    EXPECT_EQ(print_reservations(options_, reply, test::listing_time),
              "RESV_NAME     STATE           START_TIME             END_TIME     DURATION  NODELIST\n"
              "x            ACTIVE  2026-11-16T21:34:32  2026-11-16T21:44:32     00:10:00  n2\n");
}

TEST_F(T55Nodes, JsonHasSlurmsKeysInItsOrder) {
    auto snapshot = busy();
    snapshot.nodes.mutable_nodes(2)->set_state("IDLE+DRAIN+NOT_RESPONDING");
    const auto json = nodes_json(snapshot.nodes);
    std::size_t at = 0;
    for (const auto* key : {"architecture",
                            "burstbuffer_network_address",
                            "boards",
                            "boot_time",
                            "comment",
                            "cores",
                            "cpu_binding",
                            "cpu_load",
                            "extra",
                            "free_memory",
                            "cpus",
                            "last_busy",
                            "features",
                            "active_features",
                            "gres",
                            "gres_drained",
                            "gres_used",
                            "mcs_label",
                            "name",
                            "next_state_after_reboot",
                            "address",
                            "hostname",
                            "state",
                            "state_flags",
                            "next_state_after_reboot_flags",
                            "operating_system",
                            "owner",
                            "partitions",
                            "port",
                            "real_memory",
                            "reason",
                            "reason_changed_at",
                            "reason_set_by_user",
                            "slurmd_start_time",
                            "sockets",
                            "threads",
                            "temporary_disk",
                            "weight",
                            "tres",
                            "slurmd_version",
                            "alloc_memory",
                            "alloc_cpus",
                            "idle_cpus",
                            "tres_used",
                            "tres_weighted"}) {
        const auto place = json.find("\"" + std::string(key) + "\": ", at);
        ASSERT_NE(place, std::string::npos) << key;
        at = place;
    }
    for (const auto* part :
         {"\"owner\": null", "\"reason_set_by_user\": null", "\"tres_used\": null", "\"gres_drained\": \"N\\/A\"",
          "\"state_flags\": [\n        \"DRAIN\",\n        \"NOT_RESPONDING\"\n      ]",
          "\"reason_set_by_user\": \"root\"", "\"state\": \"idle\"", "\"boards\": 1", "\"cpu_load\": 0"})
        EXPECT_NE(json.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace spur::cli::sinfo
