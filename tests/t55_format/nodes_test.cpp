// sinfo's lines: how nodes are grouped, and what is printed of them. Observed of Slurm 22.05.
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

}  // namespace
}  // namespace spur::cli::sinfo
