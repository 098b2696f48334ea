// Which configuration is in force when three controllers have files of different ages, and which version of the state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/store/codec.hpp"
#include "daemons/spurctld/engine/peers.hpp"
#include "daemons/spurctld/settings/config_keeper.hpp"
#include "tests/support/engine_rig.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;

Config file(const char* partition) {
    Config config;
    config.path = "/etc/spur/spur.conf";
    config.cluster.cluster_name = "test";
    NodeConfig node;
    node.names = {"n1"};
    node.topology = {1, 1, 4, 1};
    node.cpus = 4;
    node.memory_mib = 1000;
    config.cluster.nodes = {node};
    Partition only;
    only.name = partition;
    only.node_text = "ALL";
    config.cluster.partitions = {only};
    return config;
}

ConfigKeeper::Own own(const Config& config) { return {config.cluster, digest_of(config), config.path}; }

// A state in which these files were in force, one after the other.
std::string state_after(const std::vector<Config>& files) {
    Cluster cluster;
    const auto must = [&](Command command) {
        if (const auto done = cluster.apply({1000, std::move(command)}); !done)
            throw std::runtime_error{done.error().text};
    };
    must(SetStateVersion{2});
    for (const auto& one : files) must(ApplyConfig{one.cluster, digest_of(one)});
    return snapshot_of(cluster);
}

class KeeperTest : public ::testing::Test {
protected:
    // This controller starts with `mine`, in a group of three unless it is alone.
    void start(const Config& mine, const std::vector<Config>& before, bool leads, bool alone = false) {
        rig = std::make_unique<EngineRig>([&](FakeLog& log) {
            if (!before.empty()) log.first_snapshot = state_after(before);
            log.leads = leads;
            if (!alone)
                log.group = {{.id = 1, .address = FakeLog::self}, {.id = 2, .address = "b"}, {.id = 3, .address = "c"}};
        });
        keeper = std::make_unique<ConfigKeeper>(*rig->engine, own(mine),
                                                ConfigKeeper::Hooks{.may_apply = [](const Cluster&) { return true; },
                                                                    .reload = [this] { ++reloads; },
                                                                    .log =
                                                                        [this](std::string text) {
                                                                            const std::lock_guard lock{mutex};
                                                                            lines.push_back(std::move(text));
                                                                        }});
        rig->engine->observe(*keeper);
        rig->start();
        rig->settle();
    }
    ~KeeperTest() override {
        if (rig) rig->engine->stop();
    }
    std::string partition() {
        std::string name;
        rig->look([&](const Cluster& cluster) {
            name = cluster.partitions().empty() ? "" : cluster.partitions().begin()->first.str();
        });
        return name;
    }
    bool has_line(std::string_view part) {
        const std::lock_guard lock{mutex};
        return std::ranges::any_of(lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
    }

    const Config first = file("first"), second = file("second"), third = file("third");
    std::mutex mutex;
    std::vector<std::string> lines;
    std::atomic<int> reloads{0};
    std::unique_ptr<EngineRig> rig;
    std::unique_ptr<ConfigKeeper> keeper;
};

TEST_F(KeeperTest, ALeaderWithAnOlderFileDoesNotRevert) {
    start(first, {first, second}, true);
    EXPECT_EQ(partition(), "second");
    EXPECT_TRUE(has_line("/etc/spur/spur.conf is older than the configuration in force"));
}

TEST_F(KeeperTest, ALeaderWithAFileThatWasNeverInForceBringsItIn) {
    start(third, {first, second}, true);
    EXPECT_EQ(partition(), "third");
    rig->look([&](const Cluster& cluster) { EXPECT_EQ(cluster.config_digests().back(), digest_of(third)); });
}

TEST_F(KeeperTest, AControllerThatIsAloneTakesWhateverItsFileSays) {
    start(first, {first, second}, true, true);
    EXPECT_EQ(partition(), "first");
}

TEST_F(KeeperTest, TheFileInForceIsNotAppliedAgain) {
    start(second, {first, second}, true);
    EXPECT_TRUE(rig->log->entries().empty());
    EXPECT_TRUE(lines.empty());
}

TEST_F(KeeperTest, AFollowerReadsItsFileAgainWhenAConfigurationComesIntoForce) {
    start(second, {first, second}, false);
    EXPECT_EQ(reloads, 0);
    rig->log->append(std::string(16, 'x') + encode({2000, ApplyConfig{third.cluster, digest_of(third)}}));
    rig->settle();
    EXPECT_EQ(reloads, 1);
    keeper->compare();  // as after a file that has not changed
    rig->settle();
    EXPECT_TRUE(has_line("is older than the configuration in force"));
    keeper->set(own(third));
    keeper->compare();
    rig->settle();
    const std::lock_guard lock{mutex};
    EXPECT_EQ(lines.size(), 1U);
}

TEST_F(KeeperTest, AFollowerWithAFileOfItsOwnSaysSo) {
    start(third, {first, second}, false);
    EXPECT_TRUE(has_line("is not the configuration in force"));
    EXPECT_EQ(partition(), "second");
}

TEST_F(KeeperTest, AStateFromBeforeThereWereDigestsGetsOne) {
    start(first, {}, true);
    EXPECT_EQ(partition(), "first");
    ASSERT_TRUE(rig->propose(SetStateVersion{2}));
    rig->settle();
    rig->look(
        [&](const Cluster& cluster) { EXPECT_EQ(cluster.config_digests(), std::vector<Text>{digest_of(first)}); });
}

TEST_F(KeeperTest, WhoAdministersIsPartOfTheDigest) {
    auto other = first;
    other.auth.administrators = {"alice"};
    EXPECT_NE(digest_of(first), digest_of(other));
    other = first;
    other.logging.level = "debug";
    EXPECT_EQ(digest_of(first), digest_of(other)) << "that is each controller's own affair";
}

// ---- versions ------------------------------------------------------------------------------------------------------

class PeersTest : public ::testing::Test {
protected:
    void start(std::map<std::string, Result<PeerFacts>> others) {
        rig = std::make_unique<EngineRig>([&](FakeLog& log) {
            for (const auto& [address, facts] : others) log.group.push_back({.id = 7, .address = address});
        });
        peers = std::make_unique<Peers>(
            *rig->engine,
            [this, others](const std::string& address) {
                const auto facts = others.at(address);
                ++asked;
                return facts;
            },
            [] { return UnixSeconds{1000}; },
            [this](std::string text) {
                const std::lock_guard lock{mutex};
                lines.push_back(std::move(text));
            });
        rig->engine->observe(*peers);
        rig->start();
        while (asked < others.size()) std::this_thread::sleep_for(1ms);
        peers->stop();  // waits for the round to end
        rig->settle();
    }
    ~PeersTest() override {
        if (peers) peers->stop();
        if (rig) rig->engine->stop();
    }
    std::uint32_t version() {
        std::uint32_t version = 0;
        rig->look([&](const Cluster& cluster) { version = cluster.state_version(); });
        return version;
    }

    std::mutex mutex;
    std::vector<std::string> lines;
    std::atomic<std::size_t> asked{0};
    std::unique_ptr<EngineRig> rig;
    std::unique_ptr<Peers> peers;
};

TEST_F(PeersTest, ALoneControllerUsesAllItKnows) {
    start({});
    EXPECT_EQ(version(), newest_state_version);
}

TEST_F(PeersTest, AVersionComesIntoForceWhenAllUnderstandIt) {
    start({{"b", PeerFacts{2, 1000}}, {"c", PeerFacts{9, 1001}}});
    EXPECT_EQ(version(), 2U);
    EXPECT_TRUE(lines.empty());
}

TEST_F(PeersTest, AnOlderReleaseAmongThemHoldsItBack) {
    start({{"b", PeerFacts{1, 1000}}, {"c", PeerFacts{2, 1000}}});
    EXPECT_EQ(version(), 1U);
}

TEST_F(PeersTest, OneThatDoesNotAnswerMayBeOfAnyRelease) {
    start({{"b", fail(ErrorCode::unavailable, "no such method")}, {"c", PeerFacts{2, 1000}}});
    EXPECT_EQ(version(), 1U);
}

TEST_F(PeersTest, AClockThatIsFarOffIsNamed) {
    start({{"b", PeerFacts{2, 1000}}, {"c", PeerFacts{2, 4600}}});
    EXPECT_EQ(lines, std::vector<std::string>{"the clock of controller c is 3600 s ahead of the one here; set both by "
                                              "NTP"});
}

TEST_F(PeersTest, OneWithAnotherKeyIsNamedOnceWithTheRemedy) {
    start({{"b", fail(ErrorCode::unavailable, "nobody there")}, {"c", fail(ErrorCode::denied, "wrong key")}});
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].starts_with("controller c has another auth key than this one")) << lines[0];
    EXPECT_NE(lines[0].find("copy one and the same key to all controllers"), std::string::npos);
}

}  // namespace
}  // namespace spur::ctld
