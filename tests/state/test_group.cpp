// Several voters on loopback: elections, catching up, strangers, membership.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "ports.hpp"
#include "replica.hpp"

namespace spur::test {
namespace {

std::string make_key(const std::string& path, char fill = 'a') {
    std::ofstream(path) << std::string(64, fill) << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path;
}

class StateGroup : public testing::Test {
protected:
    StateGroup() {
        key = make_key(directory / "key");
        for (int i = 0; i < 3; ++i) new_controller();
    }

    // Controllers are made with the hosts of the moment; set_hosts() tells all that start later.
    std::size_t new_controller() {
        const auto i = replicas.size();
        ports.push_back(free_port_pair());
        replicas.push_back(std::make_unique<Replica>());
        auto& host = replicas[i]->host();
        host.set_fact("state_dir", directory / ("ctrl" + std::to_string(i)));
        host.set_fact("listen_addr", address(i));
        host.set_fact("cluster_name", "test");
        replicas[i]->options = {{"key_file", key}, {"election_timeout_ms", "500"}, {"heartbeat_ms", "60"}};
        set_hosts({0, 1, 2});
        return i;
    }
    void set_hosts(const std::vector<std::size_t>& members) {
        std::string hosts;
        for (const auto i : members)
            if (i < ports.size()) hosts += (hosts.empty() ? "" : ",") + address(i);
        for (auto& replica : replicas) replica->host().set_fact("controller.hosts", hosts);
    }
    std::string address(std::size_t i) const { return "127.0.0.1:" + std::to_string(ports[i]); }
    std::string data_dir(std::size_t i) const { return directory / ("ctrl" + std::to_string(i) + "/raft"); }
    Replica& operator[](std::size_t i) { return *replicas[i]; }

    void open_all() {
        for (auto& replica : replicas) {
            const auto opened = replica->open();
            ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
        }
    }
    // The one that leads among those that are open.
    std::size_t wait_for_leader() {
        std::size_t leader = replicas.size();
        replicas[0]->wait([&] {
            for (std::size_t i = 0; i < replicas.size(); ++i)
                if (replicas[i]->is_open() && replicas[i]->is_leader()) leader = i;
            return leader < replicas.size();
        });
        EXPECT_LT(leader, replicas.size()) << "nobody leads";
        return leader;
    }
    // Commits through whoever leads, however often that changes.
    void commit(const std::string& entry) {
        const auto deadline = std::chrono::steady_clock::now() + Replica::patience;
        while (std::chrono::steady_clock::now() < deadline) {
            const auto leader = wait_for_leader();
            if (leader == replicas.size()) return;
            if (replicas[leader]->commit(entry).code == SPUR_OK) return;
        }
        FAIL() << entry << " could not be committed";
    }
    void expect_same_everywhere(const std::vector<std::string>& entries) {
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            if (!replicas[i]->is_open()) continue;
            EXPECT_TRUE(replicas[i]->wait([&] { return replicas[i]->entry_count() >= entries.size(); }))
                << "controller " << i;
            EXPECT_EQ(replicas[i]->entries(), entries) << "controller " << i;
        }
    }
    void TearDown() override {
        for (auto& replica : replicas) EXPECT_EQ(replica->complaint(), "");
    }

    TestDirectory directory;
    std::string key;
    std::vector<std::uint16_t> ports;
    std::vector<std::unique_ptr<Replica>> replicas;
};

std::vector<std::string> numbered(int from, int to) {
    std::vector<std::string> entries;
    for (int i = from; i < to; ++i) entries.push_back("entry " + std::to_string(i));
    return entries;
}

TEST_F(StateGroup, ThreeControllersElectALeaderAndAgree) {
    open_all();
    const auto leader = wait_for_leader();
    ASSERT_LT(leader, 3u);
    for (const auto& entry : numbered(0, 50)) ASSERT_EQ((*this)[leader].commit(entry).code, SPUR_OK);
    expect_same_everywhere(numbered(0, 50));
    for (auto& replica : replicas) {
        EXPECT_TRUE(replica->wait([&] { return replica->leader() == address(leader); }));
        EXPECT_EQ(replica->members().size(), 3u);
    }
}

TEST_F(StateGroup, AFollowerRefusesAndNamesTheLeader) {
    open_all();
    const auto leader = wait_for_leader();
    auto& follower = (*this)[(leader + 1) % 3];
    ASSERT_TRUE(follower.wait([&] { return follower.leader() == address(leader); }));
    EXPECT_EQ(follower.propose("x", 1).code, SPUR_STATE_NOT_LEADER);
    EXPECT_STREQ(follower.status().leader, address(leader).c_str());
    EXPECT_EQ(follower.fates().size(), 0u);
}

TEST_F(StateGroup, WhenTheLeaderDiesAnotherTakesOverAndNothingIsLost) {
    open_all();
    int next = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 10; ++i) commit("entry " + std::to_string(next++));
        const auto leader = wait_for_leader();
        (*this)[leader].close();
        for (int i = 0; i < 10; ++i) commit("entry " + std::to_string(next++));
        const auto opened = (*this)[leader].open();
        ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
        expect_same_everywhere(numbered(0, next));
    }
}

TEST_F(StateGroup, ALeaderWithoutAMajorityAcknowledgesNothing) {
    open_all();
    const auto leader = wait_for_leader();
    ASSERT_EQ((*this)[leader].commit("before").code, SPUR_OK);
    for (std::size_t i = 0; i < 3; ++i)
        if (i != leader) (*this)[i].close();
    const auto fate = (*this)[leader].commit("alone");
    EXPECT_TRUE(fate.code == SPUR_STATE_UNKNOWN || fate.code == SPUR_STATE_NOT_LEADER) << fate.code << fate.text;
    EXPECT_TRUE((*this)[leader].wait([&] { return !(*this)[leader].is_leader(); }));
    EXPECT_EQ((*this)[leader].entries(), std::vector<std::string>{"before"});
}

TEST_F(StateGroup, AFollowerThatWasAwayForLongCatchesUpByASnapshot) {
    for (auto& replica : replicas) replica->options["snapshot_trailing"] = "1";
    open_all();
    const auto leader = wait_for_leader();
    const auto away = (leader + 1) % 3;
    commit("first");
    ASSERT_TRUE((*this)[away].wait([&] { return (*this)[away].entry_count() == 1; }));
    (*this)[away].close();
    std::vector<std::string> expected{"first"};
    for (int i = 0; i < 60; ++i) {
        expected.push_back(std::string(20'000, static_cast<char>('a' + i % 26)) + std::to_string(i));
        commit(expected.back());
    }
    const auto stored = (*this)[wait_for_leader()].snapshot_at(40);
    ASSERT_EQ(stored.code, SPUR_OK) << stored.text;
    // For a while the leader still holds messages for the one that is away, with the old entries in them.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < until) {
        expected.push_back("after " + std::to_string(expected.size()));
        commit(expected.back());
    }
    ASSERT_EQ((*this)[away].open().code, SPUR_OK);
    expect_same_everywhere(expected);
    EXPECT_GE((*this)[away].restores(), 1u);
    // And it keeps what it was sent.
    (*this)[away].close();
    ASSERT_EQ((*this)[away].open().code, SPUR_OK);
    expect_same_everywhere(expected);
}

TEST_F(StateGroup, FollowersStoreSnapshotsToo) {
    open_all();
    for (int i = 0; i < 20; ++i) commit("entry " + std::to_string(i));
    const auto follower = (wait_for_leader() + 1) % 3;
    expect_same_everywhere(numbered(0, 20));
    ASSERT_EQ((*this)[follower].snapshot().code, SPUR_OK);
    commit("entry 20");
    ASSERT_TRUE((*this)[follower].wait([&] { return (*this)[follower].status().snapshot_index == 20; }));
    (*this)[follower].close();
    ASSERT_EQ((*this)[follower].open().code, SPUR_OK);
    expect_same_everywhere(numbered(0, 21));
    EXPECT_EQ((*this)[follower].restores(), 1u);
}

// ---- founding ----

TEST_F(StateGroup, NoGroupIsFoundedUntilAllControllersHaveAnswered) {
    ASSERT_EQ((*this)[0].open().code, SPUR_OK);
    ASSERT_EQ((*this)[1].open().code, SPUR_OK);
    ASSERT_TRUE((*this)[0].wait([&] { return (*this)[0].host().has_logged("waiting for " + address(2)); }));
    EXPECT_FALSE((*this)[0].is_leader() || (*this)[1].is_leader());
    EXPECT_EQ((*this)[0].propose("x", 1).code, SPUR_STATE_NOT_LEADER);
    ASSERT_EQ((*this)[2].open().code, SPUR_OK);
    commit("x");
    expect_same_everywhere({"x"});
}

TEST_F(StateGroup, AControllerThatLostItsDiskFetchesEverythingFromTheOthers) {
    open_all();
    for (int i = 0; i < 20; ++i) commit("entry " + std::to_string(i));
    const auto lost = wait_for_leader();
    (*this)[lost].close();
    std::filesystem::remove_all(data_dir(lost));
    commit("entry 20");
    const auto opened = (*this)[lost].open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    expect_same_everywhere(numbered(0, 21));
    EXPECT_TRUE((*this)[lost].host().has_logged("joining"));
}

TEST_F(StateGroup, ACopiedDirectoryIsRefused) {
    open_all();
    commit("x");
    (*this)[0].close();
    (*this)[1].close();
    std::filesystem::remove_all(data_dir(1));
    std::filesystem::copy(data_dir(0), data_dir(1));
    const auto opened = (*this)[1].open();
    EXPECT_EQ(opened.code, SPUR_E_INVALID);
    EXPECT_THAT(opened.text, testing::HasSubstr("belongs to controller " + address(0)));
}

TEST_F(StateGroup, OneControllerGrowsIntoThreeByNamingThem) {
    set_hosts({0});
    auto& first = (*this)[0];
    ASSERT_EQ(first.open().code, SPUR_OK);
    for (const auto& entry : numbered(0, 10)) ASSERT_EQ(first.commit(entry).code, SPUR_OK);
    first.close();
    set_hosts({0, 1, 2});
    open_all();
    ASSERT_TRUE(first.wait([&] {
        const auto members = first.members();
        return members.size() == 3 && members[0].second && members[1].second && members[2].second;
    })) << testing::PrintToString(first.members());
    expect_same_everywhere(numbered(0, 10));
    (*this)[wait_for_leader()].close();
    commit("entry 10");
    expect_same_everywhere(numbered(0, 11));
}

// ---- membership ----

TEST_F(StateGroup, AMemberIsAddedAndAnotherRemovedWhileEntriesAreCommitted) {
    open_all();
    for (int i = 0; i < 10; ++i) commit("entry " + std::to_string(i));
    const auto leader = wait_for_leader();
    const auto leaving = (leader + 1) % 3;

    const auto removed = (*this)[leader].remove_member(address(leaving));
    ASSERT_EQ(removed.code, SPUR_OK) << removed.text;
    EXPECT_EQ((*this)[leader].members().size(), 2u);
    (*this)[leaving].close();
    commit("entry 10");

    const auto joining = new_controller();
    set_hosts({leader, (leader + 2) % 3, joining});
    ASSERT_EQ((*this)[joining].open().code, SPUR_OK);
    ASSERT_TRUE((*this)[joining].wait([&] { return (*this)[joining].host().has_logged("joining"); }));
    const auto added = (*this)[leader].add_member(address(joining));
    ASSERT_EQ(added.code, SPUR_OK) << added.text;
    commit("entry 11");
    expect_same_everywhere(numbered(0, 12));
    EXPECT_EQ((*this)[leader].members().size(), 3u);
    EXPECT_EQ((*this)[leader].add_member(address(joining)).code, SPUR_E_INVALID) << "it is a member already";
    EXPECT_EQ((*this)[leader].remove_member(address(leaving)).code, SPUR_E_NOT_FOUND);

    // The new one counts: with it and one old member there is a majority.
    (*this)[leader].close();
    commit("entry 12");
    expect_same_everywhere(numbered(0, 13));
}

TEST_F(StateGroup, AMemberThatDoesNotAnswerIsNotTakenIn) {
    open_all();
    const auto leader = wait_for_leader();
    const auto added = (*this)[leader].add_member("127.0.0.1:" + std::to_string(free_port_pair()));
    EXPECT_EQ(added.code, SPUR_E_UNAVAILABLE);
    EXPECT_THAT(added.text, testing::HasSubstr("did not catch up"));
    EXPECT_EQ((*this)[leader].members().size(), 3u);
    commit("x");
    expect_same_everywhere({"x"});
}

TEST_F(StateGroup, LeadershipIsHandedOver) {
    open_all();
    commit("before");
    const auto leader = wait_for_leader();
    const auto heir = (leader + 2) % 3;
    const auto handed = (*this)[leader].transfer(address(heir));
    ASSERT_EQ(handed.code, SPUR_OK) << handed.text;
    ASSERT_TRUE((*this)[heir].wait([&] { return (*this)[heir].is_leader(); }));
    EXPECT_TRUE((*this)[leader].wait([&] { return (*this)[leader].leader() == address(heir); }));
    ASSERT_EQ((*this)[heir].commit("after").code, SPUR_OK);
    ASSERT_EQ((*this)[heir].transfer("").code, SPUR_OK) << "to any";
    EXPECT_TRUE((*this)[heir].wait([&] { return !(*this)[heir].is_leader(); }));
    expect_same_everywhere({"before", "after"});
    EXPECT_EQ((*this)[heir].transfer(address(leader)).code, SPUR_STATE_NOT_LEADER);
}

TEST_F(StateGroup, TheLeaderDoesNotRemoveItself) {
    open_all();
    const auto leader = wait_for_leader();
    const auto removed = (*this)[leader].remove_member(address(leader));
    EXPECT_EQ(removed.code, SPUR_E_INVALID);
    EXPECT_THAT(removed.text, testing::HasSubstr("hand leadership over first"));
}

// ---- strangers ----

// Connects to the Raft port, says `words`, and returns what comes back until the other side hangs up.
std::string talk_to(std::uint16_t port, const std::string& words) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (!words.empty() && send(fd, words.data(), words.size(), MSG_NOSIGNAL) < 0) ADD_FAILURE() << "cannot send";
    std::string heard;
    char buffer[1000];
    for (;;) {
        pollfd ready{fd, POLLIN, 0};
        if (poll(&ready, 1, 20'000) != 1) {
            heard += "(still connected)";
            break;
        }
        const auto length = recv(fd, buffer, sizeof buffer, 0);
        if (length <= 0) break;
        heard.append(buffer, static_cast<std::size_t>(length));
    }
    close(fd);
    return heard;
}

// A TLS 1.3 ClientHello as any browser would send it, without a shared key: supported_versions, groups, signatures and
// an X25519 share.
std::string ordinary_client_hello() {
    std::string extensions("\x00\x2b\x00\x03\x02\x03\x04", 7);
    extensions += std::string("\x00\x0a\x00\x04\x00\x02\x00\x1d", 8);
    extensions += std::string("\x00\x0d\x00\x04\x00\x02\x08\x04", 8);
    extensions += std::string("\x00\x33\x00\x26\x00\x24\x00\x1d\x00\x20", 10) + std::string(32, '\x09');
    std::string hello("\x03\x03", 2);
    hello += std::string(32, 'r') + std::string("\x00\x00\x02\x13\x01\x01\x00", 7);
    hello += static_cast<char>(extensions.size() >> 8);
    hello += static_cast<char>(extensions.size());
    hello += extensions;
    std::string handshake("\x01\x00", 2);
    handshake += static_cast<char>(hello.size() >> 8);
    handshake += static_cast<char>(hello.size());
    handshake += hello;
    std::string record("\x16\x03\x01", 3);
    record += static_cast<char>(handshake.size() >> 8);
    record += static_cast<char>(handshake.size());
    return record + handshake;
}

TEST_F(StateGroup, AStrangerLearnsAndChangesNothing) {
    open_all();
    commit("before");
    const auto leader = wait_for_leader();
    const auto raft_port = static_cast<std::uint16_t>(ports[leader] + 100);
    EXPECT_EQ(talk_to(raft_port, "GET / HTTP/1.1\r\n\r\n"), "");
    EXPECT_EQ(talk_to(raft_port, std::string(100'000, '\0')), "");
    EXPECT_EQ(talk_to(raft_port, ordinary_client_hello()), "");
    EXPECT_EQ(talk_to(raft_port, ""), "") << "silence ends in a closed door";
    EXPECT_TRUE((*this)[leader].host().has_logged("turned away a connection from 127.0.0.1"));
    commit("after");
    expect_same_everywhere({"before", "after"});
}

TEST_F(StateGroup, ManyStrangersDoNotKeepTheControllersApart) {
    open_all();
    commit("before");
    const auto raft_port = static_cast<std::uint16_t>(ports[wait_for_leader()] + 100);
    std::vector<int> sockets;
    for (int i = 0; i < 100; ++i) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(raft_port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to);
        sockets.push_back(fd);
    }
    commit("during");
    for (const int fd : sockets) close(fd);
    expect_same_everywhere({"before", "during"});
}

TEST_F(StateGroup, AControllerWithAnotherKeyIsKeptOut) {
    (*this)[2].options["key_file"] = make_key(directory / "other", 'b');
    open_all();
    // Two of three cannot found a group, and the third cannot talk to them.
    ASSERT_TRUE((*this)[0].wait([&] { return (*this)[0].host().has_logged("turned away"); }));
    EXPECT_FALSE((*this)[0].is_leader() || (*this)[1].is_leader() || (*this)[2].is_leader());
    (*this)[2].close();
    (*this)[2].options["key_file"] = key;
    ASSERT_EQ((*this)[2].open().code, SPUR_OK);
    commit("x");
    // Now with a group: the odd one out learns nothing of what the others commit.
    (*this)[2].close();
    (*this)[2].options["key_file"] = directory / "other";
    ASSERT_EQ((*this)[2].open().code, SPUR_OK);
    commit("secret");
    ASSERT_TRUE((*this)[2].wait([&] { return (*this)[2].host().has_logged("same key file"); }));
    EXPECT_EQ((*this)[2].leader(), "");
    EXPECT_THAT((*this)[2].entries(), testing::Not(testing::Contains("secret")));
}

TEST_F(StateGroup, AControllerOfAnotherClusterIsKeptOut) {
    (*this)[2].host().set_fact("cluster_name", "elsewhere");
    open_all();
    ASSERT_TRUE((*this)[2].wait([&] {
        return (*this)[0].host().has_logged("belongs to cluster \"elsewhere\"") ||
               (*this)[1].host().has_logged("belongs to cluster \"elsewhere\"");
    }));
    EXPECT_FALSE((*this)[0].is_leader() || (*this)[1].is_leader() || (*this)[2].is_leader());
}

// ---- configuration ----

TEST_F(StateGroup, WithoutAKeySeveralControllersDoNotStart) {
    (*this)[0].options["key_file"] = directory / "none";
    const auto opened = (*this)[0].open();
    EXPECT_EQ(opened.code, SPUR_E_NOT_FOUND);
    EXPECT_THAT(opened.text, testing::HasSubstr("openssl rand"));
}

TEST_F(StateGroup, AKeyOthersCanReadIsRefused) {
    std::filesystem::permissions(key, std::filesystem::perms::group_read, std::filesystem::perm_options::add);
    const auto opened = (*this)[0].open();
    EXPECT_EQ(opened.code, SPUR_E_DENIED);
    EXPECT_THAT(opened.text, testing::HasSubstr("chmod 600"));
}

TEST_F(StateGroup, APortInUseIsNamed) {
    ASSERT_EQ((*this)[0].open().code, SPUR_OK);
    Replica second;
    second.host().set_fact("state_dir", directory / "second");
    second.host().set_fact("listen_addr", address(0));
    second.host().set_fact("controller.hosts", address(0) + "," + address(1) + "," + address(2));
    second.options["key_file"] = key;
    const auto opened = second.open();
    EXPECT_EQ(opened.code, SPUR_E_UNAVAILABLE);
    EXPECT_THAT(opened.text, testing::HasSubstr("127.0.0.1:" + std::to_string(ports[0] + 100)));
}

}  // namespace
}  // namespace spur::test
