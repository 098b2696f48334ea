// One voter: the embedded default. Order, durability, snapshots, and what damage does.
#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <thread>

#include "child.hpp"
#include "replica.hpp"

namespace spur::test {
namespace {

class StateSingle : public testing::Test {
protected:
    StateSingle() { use(replica); }
    void use(Replica& one) const { one.host().set_fact("state_dir", directory.path()); }
    std::string data_dir() const { return directory / "raft"; }

    void TearDown() override { EXPECT_EQ(replica.complaint(), ""); }

    TestDirectory directory;
    Replica replica;
};

std::vector<std::string> numbered(int from, int to) {
    std::vector<std::string> entries;
    for (int i = from; i < to; ++i) entries.push_back("entry " + std::to_string(i));
    return entries;
}

TEST_F(StateSingle, OneControllerLeadsByItselfWithoutConfiguration) {
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    EXPECT_TRUE(replica.is_leader());
    EXPECT_EQ(replica.leader(), "127.0.0.1:6817");
    EXPECT_STREQ(replica.status().self, "127.0.0.1:6817");
}

TEST_F(StateSingle, EntriesAreCommittedInTheOrderTheyWereProposed) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
    ASSERT_TRUE(replica.wait([&] { return replica.fates().size() == 2000; }));
    EXPECT_EQ(replica.entries(), numbered(0, 2000));
    for (const auto& [ticket, fate] : replica.fates()) EXPECT_EQ(fate.status, SPUR_OK) << fate.text;
    EXPECT_EQ(replica.status().committed_index, 2000u);
    EXPECT_LT(replica.status().fsyncs, 1500u) << "proposals in flight together share writes";
}

TEST_F(StateSingle, WhatWasAcknowledgedIsThereAfterReopening) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 100)).code, SPUR_OK);
    replica.close();
    for (int round = 0; round < 3; ++round) {
        const auto opened = replica.open();
        ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
        EXPECT_EQ(replica.entries(), numbered(0, 100 + round));
        ASSERT_EQ(replica.commit(numbered(100 + round, 101 + round)).code, SPUR_OK);
        replica.close();
    }
}

TEST_F(StateSingle, AProposalOfManyEntriesStaysTogether) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 50; ++i) {
                const auto name = std::to_string(t) + ":" + std::to_string(i);
                EXPECT_EQ(
                    replica.propose({name + "a", name + "b", name + "c"}, static_cast<std::uint64_t>(t) * 50 + i).code,
                    SPUR_OK);
            }
        });
    for (auto& thread : threads) thread.join();
    ASSERT_TRUE(replica.wait([&] { return replica.fates().size() == 200; }));
    const auto entries = replica.entries();
    ASSERT_EQ(entries.size(), 600u);
    for (std::size_t i = 0; i < entries.size(); i += 3) {
        const auto name = entries[i].substr(0, entries[i].size() - 1);
        EXPECT_EQ(entries[i + 1], name + "b");
        EXPECT_EQ(entries[i + 2], name + "c");
    }
}

TEST_F(StateSingle, EmptyAndLargeEntriesComeBackUnchanged) {
    std::string large(20 << 20, 'x');
    for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i / 4096);
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit({"", large, std::string("\0\1\2", 3)}).code, SPUR_OK);
    const auto before = replica.entries();
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries(), before);
    EXPECT_EQ(before[1], large);
    EXPECT_EQ(replica.commit(std::string(65 << 20, 'x')).code, SPUR_E_INVALID);
}

TEST_F(StateSingle, EveryAcceptedProposalGetsOneOutcomeEvenWhenClosing) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
    replica.close();
    const auto fates = replica.fates();
    EXPECT_EQ(fates.size(), 500u);
    std::size_t acknowledged = 0;
    for (const auto& [ticket, fate] : fates) acknowledged += fate.status == SPUR_OK ? 1 : 0;
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_GE(replica.entry_count(), acknowledged);
}

TEST_F(StateSingle, ABarrierIsAnsweredBehindWhatWasProposedBeforeIt) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
    ASSERT_EQ(replica.barrier().code, SPUR_OK);
    EXPECT_EQ(replica.entry_count(), 100u);
}

// ---- snapshots ----

TEST_F(StateSingle, ASnapshotReplacesTheLogBehindIt) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 1000)).code, SPUR_OK);
    const auto stored = replica.snapshot();
    ASSERT_EQ(stored.code, SPUR_OK) << stored.text;
    EXPECT_EQ(replica.status().snapshot_index, 1000u);
    ASSERT_EQ(replica.commit(numbered(1000, 1010)).code, SPUR_OK);
    replica.close();
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    EXPECT_EQ(replica.restores(), 1u);
    EXPECT_EQ(replica.entries(), numbered(0, 1010));
    EXPECT_EQ(replica.last_index(), 1010u);
}

TEST_F(StateSingle, ASnapshotOfAnEarlierMomentKeepsWhatCameSince) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (int i = 0; i < 40; ++i) ASSERT_EQ(replica.commit(numbered(i * 5, i * 5 + 5)).code, SPUR_OK);
    // 73 lies in the middle of a proposal, and so of a record of the log.
    ASSERT_EQ(replica.snapshot_at(73).code, SPUR_OK);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.restores(), 1u);
    EXPECT_EQ(replica.entries(), numbered(0, 200));
    EXPECT_EQ(replica.last_index(), 200u);
    EXPECT_EQ(replica.status().snapshot_index, 73u);
    ASSERT_EQ(replica.commit(numbered(200, 205)).code, SPUR_OK);
    ASSERT_EQ(replica.snapshot().code, SPUR_OK);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries(), numbered(0, 205));
}

TEST_F(StateSingle, SnapshotsTakenWhileEntriesPourInLoseNone) {
    replica.options["snapshot_threshold"] = "200";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < 3000; ++i) {
            EXPECT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
            if (i % 100 == 99) {
                EXPECT_TRUE(replica.wait([&] { return replica.fates().size() == i + 1; }));
            }
        }
        done = true;
    });
    unsigned stored = 0;
    while (!done || stored < 2) {
        if (replica.last_index() == 0) continue;
        const auto result = replica.snapshot();
        EXPECT_EQ(result.code, SPUR_OK) << result.text;
        ++stored;
    }
    writer.join();
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries(), numbered(0, 3000));
}

TEST_F(StateSingle, TheLogIsTrimmedAndASnapshotIsAskedForWhenItHasGrown) {
    replica.options["snapshot_threshold"] = "100";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 40; ++i) ASSERT_EQ(replica.commit(std::vector(5, std::string(100'000, 'x'))).code, SPUR_OK);
        ASSERT_TRUE(replica.wait([&] { return replica.snapshots_wanted() > static_cast<unsigned>(round); }));
        ASSERT_EQ(replica.snapshot().code, SPUR_OK);
    }
    // 80 MB went through the log; what is left are segments in use and two snapshots that compress to nothing.
    EXPECT_LT(replica.status().log_bytes, 48u << 20);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entry_count(), 800u);
}

TEST_F(StateSingle, BarriersAloneMakeASnapshotDueAndAreTrimmedWithIt) {
    replica.options["snapshot_threshold"] = "10";
    replica.options["snapshot_trailing"] = "5";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 3)).code, SPUR_OK);
    for (unsigned round = 0; round < 3; ++round) {
        for (int i = 0; i < 120; ++i) ASSERT_EQ(replica.barrier().code, SPUR_OK);
        ASSERT_TRUE(replica.wait([&] { return replica.snapshots_wanted() > round; }));
        ASSERT_EQ(replica.snapshot().code, SPUR_OK);
    }
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries(), numbered(0, 3));
}

TEST_F(StateSingle, ASnapshotOfWhatWasNeverCommittedIsRefused) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 10)).code, SPUR_OK);
    EXPECT_EQ(replica.snapshot_at(11).code, SPUR_E_INVALID);
    EXPECT_EQ(replica.snapshot_at(0).code, SPUR_E_INVALID);
    ASSERT_EQ(replica.snapshot_at(10).code, SPUR_OK);
    EXPECT_EQ(replica.snapshot_at(10).code, SPUR_OK) << "it is stored already";
    EXPECT_EQ(replica.snapshot_at(5).code, SPUR_E_INVALID);
}

// ---- crashes ----

// Runs the hammer until it has acknowledged `count` entries, then kills it. Returns what was acknowledged.
std::vector<std::uint64_t> hammer(const std::string& directory, std::uint64_t first, int count) {
    Child child({SPUR_STATE_HAMMER, directory, std::to_string(first)});
    std::vector<std::uint64_t> acknowledged;
    std::optional<std::string> line;
    while (static_cast<int>(acknowledged.size()) < count && (line = child.read_line()))
        acknowledged.push_back(std::stoull(*line));
    child.kill();
    while ((line = child.read_line()))  // what it managed to say before it died counts as well
        acknowledged.push_back(std::stoull(*line));
    return acknowledged;
}

TEST_F(StateSingle, WhatWasAcknowledgedSurvivesBeingKilled) {
    std::set<std::string> promised;
    std::uint64_t next = 0;
    std::mt19937 random(testing::UnitTest::GetInstance()->random_seed() + 1);
    for (int round = 0; round < 10; ++round) {
        const auto acknowledged = hammer(directory.path(), next, std::uniform_int_distribution(1, 150)(random));
        ASSERT_FALSE(acknowledged.empty());
        for (const auto number : acknowledged) promised.insert("entry " + std::to_string(number));
        next = acknowledged.back() + 1000;
    }
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    const auto entries = replica.entries();
    const std::set<std::string> found(entries.begin(), entries.end());
    EXPECT_EQ(found.size(), entries.size()) << "an entry is there twice";
    for (const auto& entry : promised) EXPECT_TRUE(found.contains(entry)) << entry << " was acknowledged and is lost";
}

// ---- damage ----

std::vector<std::string> files_like(const std::string& directory, const std::string& pattern) {
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(directory))
        if (fnmatch(pattern.c_str(), file.path().filename().c_str(), 0) == 0) found.push_back(file.path());
    std::ranges::sort(found);
    return found;
}

void flip(const std::string& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0x40));
}

// Where the data of a segment that was allocated in advance ends.
std::streamoff end_of_data(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    const auto last = content.find_last_not_of('\0');
    return last == std::string::npos ? 0 : static_cast<std::streamoff>((last + 8) / 8 * 8);
}

TEST_F(StateSingle, ADamagedClosedSegmentIsReportedByName) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(replica.commit(numbered(i, i + 1)).code, SPUR_OK);
    replica.close();
    const auto segments = files_like(data_dir(), "0*-0*");
    ASSERT_GE(segments.size(), 2u);
    flip(segments.back(), 300);
    const auto opened = replica.open();
    EXPECT_EQ(opened.code, SPUR_E_CORRUPT);
    EXPECT_THAT(opened.text, testing::HasSubstr(std::filesystem::path(segments.back()).filename().string()));
    EXPECT_THAT(opened.text, testing::HasSubstr("backup"));
    flip(segments.back(), 300);
    EXPECT_EQ(replica.open().code, SPUR_OK) << "nothing was thrown away";
    EXPECT_EQ(replica.entries(), numbered(0, 20));
}

TEST_F(StateSingle, DamageInTheMiddleOfAnOpenSegmentIsReportedByName) {
    const auto acknowledged = hammer(directory.path(), 0, 200);
    const auto segments = files_like(data_dir(), "open-*");
    ASSERT_FALSE(segments.empty());
    const auto end = end_of_data(segments.front());
    ASSERT_GT(end, 2000);
    for (const std::streamoff at : {std::streamoff{0}, std::streamoff{20}, std::streamoff{150}, end / 2}) {
        flip(segments.front(), at);
        const auto opened = replica.open();
        EXPECT_EQ(opened.code, SPUR_E_CORRUPT) << "byte " << at;
        EXPECT_THAT(opened.text, testing::HasSubstr("open-"));
        flip(segments.front(), at);
    }
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    EXPECT_GE(replica.entry_count(), acknowledged.size());
}

TEST_F(StateSingle, AHalfWrittenTailIsDroppedAndNothingElse) {
    const auto acknowledged = hammer(directory.path(), 0, 100);
    const auto segments = files_like(data_dir(), "open-*");
    ASSERT_FALSE(segments.empty());
    {
        std::fstream file(segments.front(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(end_of_data(segments.front()));
        file << std::string(5000, 'g');
    }
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    EXPECT_TRUE(replica.host().has_logged("unfinished write"));
    const auto entries = replica.entries();
    const std::set<std::string> found(entries.begin(), entries.end());
    for (const auto number : acknowledged) EXPECT_TRUE(found.contains("entry " + std::to_string(number)));
    ASSERT_EQ(replica.commit("one more").code, SPUR_OK);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries().back(), "one more");
}

TEST_F(StateSingle, ADamagedSnapshotIsReportedByName) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 5000)).code, SPUR_OK);
    ASSERT_EQ(replica.snapshot().code, SPUR_OK);
    replica.close();
    const auto snapshots = files_like(data_dir(), "snapshot-*[0-9]");
    ASSERT_EQ(snapshots.size(), 1u);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(snapshots[0]));
    for (const auto at : {std::streamoff{3}, std::streamoff{17}, std::streamoff{60}, size / 2, size - 3}) {
        flip(snapshots[0], at);
        const auto opened = replica.open();
        EXPECT_EQ(opened.code, SPUR_E_CORRUPT) << "byte " << at << ": " << opened.text;
        EXPECT_THAT(opened.text, testing::HasSubstr(std::filesystem::path(snapshots[0]).filename().string()));
        EXPECT_EQ(replica.restores(), 0u) << "the host is not given half a state";
        flip(snapshots[0], at);
    }
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entries(), numbered(0, 5000));
}

TEST_F(StateSingle, ADamagedMetadataFileIsReported) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit("x").code, SPUR_OK);
    replica.close();
    for (const auto& file : files_like(data_dir(), "metadata[12]")) flip(file, 0);
    const auto opened = replica.open();
    EXPECT_LT(opened.code, SPUR_OK);
    EXPECT_NE(opened.text, "");
}

void write_metadata(const std::string& path, std::uint64_t term, std::uint64_t vote) {
    const std::uint64_t content[] = {1, 1, term, vote};  // format, version, term, vote
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(content), sizeof content);
}

TEST_F(StateSingle, ACrashWhileFoundingIsForgotten) {
    std::filesystem::create_directory(data_dir());
    write_metadata(data_dir() + "/metadata1", 1, 0);
    const auto opened = replica.open();
    ASSERT_EQ(opened.code, SPUR_OK) << opened.text;
    EXPECT_EQ(replica.commit("x").code, SPUR_OK);
}

TEST_F(StateSingle, ADirectoryThatVotedInAGroupDoesNotBecomeOneByItself) {
    std::filesystem::create_directory(data_dir());
    write_metadata(data_dir() + "/metadata1", 7, 42);
    const auto opened = replica.open();
    EXPECT_EQ(opened.code, SPUR_E_INVALID);
    EXPECT_THAT(opened.text, testing::HasSubstr("[controller] hosts"));
}

TEST_F(StateSingle, AFullDiskStopsChangesUntilThereIsRoomAgain) {
    Child child({SPUR_STATE_HAMMER, directory.path(), "0", "--tiny-disk"});
    std::string failure;
    std::string refusal;
    bool again = false;
    int acknowledged = 0;
    while (const auto said = child.read_line()) {
        const auto& line = *said;
        if (line.starts_with("failed: "))
            failure = line;
        else if (line.starts_with("refused: "))
            refusal = line;
        else if (line == "again")
            again = true;
        else
            ++acknowledged;
    }
    const auto status = child.wait();
    if (status == 77) GTEST_SKIP() << "no file system of our own without privileges here";
    ASSERT_EQ(status, 0);
    EXPECT_GT(acknowledged, 50);
    EXPECT_EQ(failure, "");
    EXPECT_THAT(refusal, testing::HasSubstr("no space is left on the disk of " + directory.path()));
    EXPECT_TRUE(again);
}

// ---- being told off ----

TEST_F(StateSingle, TwoInstancesOnOneDirectoryAreRefused) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    Replica second;
    use(second);
    const auto opened = second.open();
    EXPECT_EQ(opened.code, SPUR_E_BUSY);
    EXPECT_THAT(opened.text, testing::HasSubstr("in use by another controller, process " + std::to_string(getpid())));
    replica.close();
    EXPECT_EQ(second.open().code, SPUR_OK);
}

TEST_F(StateSingle, ADirectoryThatCannotBeMadeIsNamed) {
    std::ofstream(directory / "file") << "x";
    replica.options["data_dir"] = directory / "file/raft";
    const auto opened = replica.open();
    EXPECT_EQ(opened.code, SPUR_E_IO);
    EXPECT_THAT(opened.text, testing::HasSubstr(directory / "file/raft"));
}

TEST_F(StateSingle, ANewAddressKeepsTheState) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 10)).code, SPUR_OK);
    replica.close();
    replica.host().set_fact("listen_addr", "127.0.0.1:7000");
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.leader(), "127.0.0.1:7000");
    EXPECT_EQ(replica.entries(), numbered(0, 10));
    EXPECT_EQ(replica.members(), (std::vector<std::pair<std::string, bool>>{{"127.0.0.1:7000", true}}));
}

TEST_F(StateSingle, AMemberCannotBeAddedWhereNobodyListens) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    const auto added = replica.add_member("127.0.0.1:7000");
    EXPECT_EQ(added.code, SPUR_E_UNSUPPORTED);
    EXPECT_THAT(added.text, testing::HasSubstr("[controller] hosts"));
    EXPECT_EQ(replica.transfer("").code, SPUR_E_NOT_FOUND);
    EXPECT_EQ(replica.remove_member("127.0.0.1:6817").code, SPUR_E_INVALID);
}

TEST_F(StateSingle, WritesAreCounted) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 10)).code, SPUR_OK);
    EXPECT_EQ(replica.host().metric("entries_total"), 10);
    EXPECT_GE(replica.host().metric("log_writes_total"), 1);
    EXPECT_GE(replica.host().observations("commit_ns"), 1u);
}

}  // namespace
}  // namespace spur::test
