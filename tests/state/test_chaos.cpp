// Three controllers as processes that are killed and frozen at random while entries are proposed: what was acknowledged
// is there exactly once, in the same order on all of them, and writing goes on within seconds.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>

#include "child.hpp"
#include "ports.hpp"
#include "tests/support/test_host.hpp"

namespace spur::test {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class StateChaos : public testing::Test {
protected:
    StateChaos() {
        std::ofstream(directory / "key") << std::string(64, 'k');
        std::filesystem::permissions(directory / "key",
                                     std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        for (auto& address : addresses) {
            address = "127.0.0.1:" + std::to_string(free_port_pair());
            hosts += (hosts.empty() ? "" : ",") + address;
        }
        for (std::size_t i = 0; i < 3; ++i) start(i);
    }
    void start(std::size_t i) {
        members[i] = std::make_unique<Child>(std::vector<std::string>{
            SPUR_STATE_MEMBER, directory / ("ctrl" + std::to_string(i)), addresses[i], hosts, directory / "key"});
        leads[i] = false;
    }

    // Reads what member `i` has said: roles are noted, answers returned.
    std::optional<std::string> listen_to(std::size_t i, std::chrono::milliseconds patience) {
        const auto deadline = Clock::now() + patience;
        for (;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
            const auto line = members[i]->read_line(std::max(left, 0ms));
            if (!line) return std::nullopt;
            if (*line != "leader" && *line != "follower") return line;
            leads[i] = *line == "leader";
        }
    }
    // Tries whoever says it leads, until one acknowledges or `patience` is over. An entry whose fate is unknown is
    // given up.
    bool commit(const std::string& entry, std::chrono::milliseconds patience) {
        const auto deadline = Clock::now() + patience;
        for (int attempt = 0; Clock::now() < deadline; ++attempt) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (frozen == i) continue;
                while (listen_to(i, 5ms)) continue;
                if (!leads[i]) continue;
                const auto name = entry + "." + std::to_string(attempt) + "." + std::to_string(i);
                tried.insert(name);
                members[i]->write_line(name);
                if (const auto answer = listen_to(i, 2000ms); answer == "ok " + name) {
                    acknowledged.push_back(name);
                    return true;
                }
            }
        }
        return false;
    }
    std::vector<std::string> entries_of(std::size_t i) {
        std::vector<std::string> entries;
        members[i]->write_line("?");
        while (const auto line = listen_to(i, 20s)) {
            if (*line == ".") return entries;
            if (line->starts_with("= ")) entries.push_back(line->substr(2));
        }
        ADD_FAILURE() << "member " << i << " does not answer";
        return entries;
    }
    void expect_the_same_everywhere() {
        const auto deadline = Clock::now() + 30s;
        std::array<std::vector<std::string>, 3> all;
        do {
            for (std::size_t i = 0; i < 3; ++i) all[i] = entries_of(i);
        } while ((all[0] != all[1] || all[1] != all[2]) && Clock::now() < deadline);
        ASSERT_EQ(all[0], all[1]);
        ASSERT_EQ(all[1], all[2]);
        const std::set<std::string> unique(all[0].begin(), all[0].end());
        EXPECT_EQ(unique.size(), all[0].size()) << "an entry is there twice";
        for (const auto& entry : acknowledged)
            EXPECT_TRUE(unique.contains(entry)) << entry << " was acknowledged and is lost";
        for (const auto& entry : unique) EXPECT_TRUE(tried.contains(entry)) << entry << " came from nowhere";
    }

    TestDirectory directory;
    std::array<std::string, 3> addresses;
    std::string hosts;
    std::array<std::unique_ptr<Child>, 3> members;
    std::array<bool, 3> leads{};
    std::size_t frozen = 3;
    std::set<std::string> tried;
    std::vector<std::string> acknowledged;
};

TEST_F(StateChaos, NothingAcknowledgedIsLostWhenControllersAreKilledAndFrozen) {
    std::mt19937 random(std::random_device{}());
    const auto seed = random();
    std::cout << "seed " << seed << "\n";
    random.seed(seed);
    ASSERT_TRUE(commit("first", 60s));
    for (int round = 0; round < 8; ++round) {
        const auto victim = random() % 3;
        const bool freeze = random() % 2 == 0;
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(commit("calm " + std::to_string(round) + " " + std::to_string(i), 30s));
        if (freeze) {
            members[victim]->signal(SIGSTOP);
            frozen = victim;
        } else {
            members[victim]->kill();
            start(victim);
        }
        for (int i = 0; i < 5; ++i)
            ASSERT_TRUE(commit("storm " + std::to_string(round) + " " + std::to_string(i), 30s));
        if (freeze) members[victim]->signal(SIGCONT);
        frozen = 3;
    }
    ASSERT_TRUE(commit("last", 30s));
    expect_the_same_everywhere();
}

TEST_F(StateChaos, AllKilledAtOnceComeBackWithEverything) {
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 10; ++i)
            ASSERT_TRUE(commit("entry " + std::to_string(round) + " " + std::to_string(i), 60s));
        for (std::size_t i = 0; i < 3; ++i) members[i]->kill();
        for (std::size_t i = 0; i < 3; ++i) start(i);
    }
    ASSERT_TRUE(commit("last", 60s));
    expect_the_same_everywhere();
}

}  // namespace
}  // namespace spur::test
