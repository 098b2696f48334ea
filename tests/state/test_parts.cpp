// The parts of state/raft by themselves: addresses, founding, packs, snapshots, segments, greetings, proofs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "address.hpp"
#include "bytes.hpp"
#include "checksum.hpp"
#include "files.hpp"
#include "founding.hpp"
#include "greeting.hpp"
#include "key.hpp"
#include "pack.hpp"
#include "room.hpp"
#include "secure_session.hpp"
#include "segments.hpp"
#include "settings.hpp"
#include "snapshot.hpp"
#include "tests/support/test_host.hpp"

namespace spur::raftlog {
namespace {

using test::TestDirectory;

// ---- addresses ----

TEST(RaftAddress, TheRaftPortFollowsFromTheClientsPort) {
    EXPECT_EQ(Address::parse("ctrl1")->raft_port, 6917);
    EXPECT_EQ(Address::parse("ctrl1:7000")->raft_port, 7100);
    EXPECT_EQ(Address::parse("ctrl1:65500")->raft_port, 65400);
    EXPECT_EQ(Address::parse("ctrl1:7000/9")->raft_port, 9);
}

TEST(RaftAddress, WhatIsWrittenIsReadBack) {
    for (const char* text : {"ctrl1:6817", "10.0.0.1:1", "[::1]:6817", "ctrl1:6817/7000", "a-b_c.d:65535"})
        EXPECT_EQ(Address::parse(text)->text(), text);
    EXPECT_EQ(Address::parse("http://CTRL1")->client(), "ctrl1:6817");
    EXPECT_EQ(Address::parse("fe80::1")->client(), "[fe80::1]:6817");
}

TEST(RaftAddress, NonsenseIsRefused) {
    for (const char* text :
         {"", ":", "a:", "a:0", "a:65536", "a:-1", "a b", "a:1/", "a:1/x", "a\n:1", "[]:1", "/", "a:1/2/3"})
        EXPECT_FALSE(Address::parse(text)) << text;
}

TEST(RaftAddress, AnyPortIsOneToListenOnOnly) {
    EXPECT_FALSE(Address::parse("127.0.0.1:0"));
    EXPECT_EQ(Address::parse("127.0.0.1:0", Address::Use::listen)->port, 0);
}

TEST(RaftAddress, TheIdDependsOnWhatClientsUse) {
    EXPECT_EQ(Address::parse("ctrl1:6817")->id(), Address::parse("http://Ctrl1:6817/9999")->id());
    EXPECT_NE(Address::parse("ctrl1:6817")->id(), Address::parse("ctrl1:6818")->id());
}

std::vector<Address> addresses(const std::vector<std::string>& texts) {
    std::vector<Address> parsed;
    for (const auto& text : texts) parsed.push_back(*Address::parse(text));
    return parsed;
}

TEST(RaftSelf, IsFoundByListenAddressNameOrInterface) {
    const Machine machine{{"ctrl2.example.org", "ctrl2"}, [](const std::string& host) { return host == "10.0.0.2"; }};
    const auto any = *Address::parse("0.0.0.0:6817");
    EXPECT_EQ(find_self(addresses({"ctrl1", "ctrl2", "ctrl3"}), any, machine)->host, "ctrl2");
    EXPECT_EQ(find_self(addresses({"10.0.0.1", "10.0.0.2", "10.0.0.3"}), any, machine)->host, "10.0.0.2");
    const auto local = *Address::parse("127.0.0.1:7002");
    EXPECT_EQ(find_self(addresses({"127.0.0.1:7001", "127.0.0.1:7002"}), local, machine)->port, 7002);
}

TEST(RaftSelf, ThatCannotBeToldIsAQuestionForTheAdministrator) {
    const Machine machine{{"elsewhere"}, [](const std::string& host) { return host == "a" || host == "b"; }};
    const auto any = *Address::parse("0.0.0.0:6817");
    EXPECT_THAT(find_self(addresses({"ctrl1"}), any, machine).error().text,
                testing::HasSubstr("none of [controller] hosts"));
    EXPECT_THAT(find_self(addresses({"a", "b"}), any, machine).error().text, testing::HasSubstr("both lead to"));
    EXPECT_FALSE(find_self(addresses({"a:1"}), any, machine)) << "another port is another controller";
}

// A key that several controllers would share, for as long as the test takes.
class KeyFile {
public:
    KeyFile() {
        const int file = mkstemp(path_.data());
        EXPECT_EQ(write(file, "0123456789abcdef0123456789abcdef", 32), 32);
        close(file);
    }
    ~KeyFile() { unlink(path_.c_str()); }
    KeyFile(const KeyFile&) = delete;
    KeyFile& operator=(const KeyFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_{testing::TempDir() + "/raft-key-XXXXXX"};
};

TEST(RaftSettings, OneThreeOrFiveControllersAreTaken) {
    const KeyFile key;
    const auto plugin = test::TestPlugin::load(test::spur_plugin_path("state_raft"));
    const std::map<std::string, bool> cases{{"127.0.0.1:6817", true},
                                            {"127.0.0.1:6817,b", false},
                                            {"127.0.0.1:6817,b,c", true},
                                            {"127.0.0.1:6817,b,c,d", false},
                                            {"127.0.0.1:6817,b,c,d,e", true},
                                            {"127.0.0.1:6817,b,b", false},
                                            {"b,c,d", false}};
    for (const auto& [hosts, fine] : cases) {
        test::TestHost host;
        host.set_fact("state_dir", "/nowhere");
        host.set_fact("controller.hosts", hosts);
        const auto instance = plugin.create(host, {{"key_file", key.path()}});
        EXPECT_EQ(static_cast<bool>(instance), fine) << hosts << ": " << instance.error().text;
    }
}

TEST(RaftSettings, WhatMakesNoSenseIsRefusedWithASentence) {
    const auto plugin = test::TestPlugin::load(test::spur_plugin_path("state_raft"));
    const auto complaint = [&](const test::TestOptions& options, const std::string& state_dir = "/nowhere") {
        test::TestHost host;
        if (!state_dir.empty()) host.set_fact("state_dir", state_dir);
        return plugin.create(host, options).error().text;
    };
    EXPECT_THAT(complaint({}, ""), testing::HasSubstr("state_dir"));
    EXPECT_THAT(complaint({{"heartbeat_ms", "900"}}), testing::HasSubstr("at most 200"));
    EXPECT_THAT(complaint({{"peers", "a:x"}}), testing::HasSubstr("a:x"));
    EXPECT_THAT(complaint({{"self", "x"}, {"peers", "a,b,c"}}), testing::HasSubstr("not among"));
    EXPECT_THAT(complaint({{"self", "a"}, {"peers", "a,b,c"}, {"listen", "a:9"}}), testing::HasSubstr("a:6817/9"));
    EXPECT_THAT(complaint({{"self", "a"}, {"peers", "a/9,b,c"}, {"listen", "a:9"}}),
                testing::HasSubstr("key file /nowhere/raft.key is missing"));
    const KeyFile key;
    EXPECT_EQ(complaint({{"self", "a"}, {"peers", "a/9,b,c"}, {"listen", "a:9"}, {"key_file", key.path()}}), "");
}

// ---- founding ----

Greeting answer(Standing standing, std::uint64_t founders = 7) {
    return {.cluster = "c", .id = 1, .address = "a:1", .standing = standing, .founders = founders};
}

TEST(RaftFounding, NeedsEverybodyOrOneThatHasFounded) {
    using Answers = std::vector<std::optional<Greeting>>;
    const auto fresh = answer(Standing::fresh);
    const auto founded = answer(Standing::founded);
    EXPECT_EQ(decide_founding(Answers{fresh, fresh}, 7), Decision::found);
    EXPECT_EQ(decide_founding(Answers{fresh, std::nullopt}, 7), Decision::wait);
    EXPECT_EQ(decide_founding(Answers{founded, std::nullopt}, 7), Decision::found);
    EXPECT_EQ(decide_founding(Answers{std::nullopt, std::nullopt}, 7), Decision::wait);
}

TEST(RaftFounding, NeverHappensBesideAGroupThatExists) {
    using Answers = std::vector<std::optional<Greeting>>;
    const auto fresh = answer(Standing::fresh);
    const auto established = answer(Standing::established, 99);
    EXPECT_EQ(decide_founding(Answers{fresh, established}, 7), Decision::join);
    EXPECT_EQ(decide_founding(Answers{established, std::nullopt}, 7), Decision::join);
    EXPECT_EQ(decide_founding(Answers{fresh, answer(Standing::joining)}, 7), Decision::wait);
    EXPECT_EQ(decide_founding(Answers{fresh, answer(Standing::fresh, 8)}, 7), Decision::wait) << "they disagree";
}

TEST(RaftFounding, TheOrderOfHostsDoesNotMatter) {
    EXPECT_EQ(founders_digest(addresses({"a", "b", "c"})), founders_digest(addresses({"c", "a", "b"})));
    EXPECT_NE(founders_digest(addresses({"a", "b", "c"})), founders_digest(addresses({"a", "b", "d"})));
}

TEST(RaftGreeting, WhatIsSaidIsUnderstood) {
    const Greeting greeting{.cluster = "my cluster",
                            .id = 0xFEDCBA9876543210,
                            .address = "ctrl1:6817/7000",
                            .standing = Standing::established,
                            .founders = 42,
                            .purpose = Purpose::raft};
    EXPECT_EQ(read_greeting(write_greeting(greeting)), greeting);
    EXPECT_FALSE(read_greeting("GET / HTTP/1.1\n\n"));
    EXPECT_FALSE(read_greeting("spur-raft 1\nid x\n\n"));
    EXPECT_FALSE(read_greeting("spur-raft 1\n\n")) << "somebody must be somebody";
    EXPECT_TRUE(read_greeting("spur-raft 1\nid 1\nlater something new\n\n"));
}

// ---- packs ----

TEST(RaftPack, EntriesComeOutAsTheyWentIn) {
    const std::vector<std::string> bodies{"one", "", std::string("\0\1", 2), std::string(1000, 'x')};
    std::string body;
    for (const auto& entry : bodies) append_entry(body, {entry.data(), entry.size()});
    std::vector<std::uint8_t> pack(packed_size(body.size()));
    write_pack({.count = 4, .term = 9, .committed = 77}, body, pack);
    EXPECT_EQ(pack.size() % 8, 0u);
    EXPECT_EQ(read_pack_header(pack)->committed, 77u);
    std::vector<spur_state_entry> entries;
    ASSERT_TRUE(read_pack(pack, 100, entries));
    ASSERT_EQ(entries.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(std::string(static_cast<const char*>(entries[i].body.data), entries[i].body.length), bodies[i]);
        EXPECT_EQ(entries[i].index, 100 + i);
        EXPECT_EQ(entries[i].term, 9u);
    }
}

TEST(RaftPack, GarbageIsRefusedWithoutReadingBeyondIt) {
    std::mt19937 random(1);
    std::string body;
    append_entry(body, {"hello", 5});
    std::vector<std::uint8_t> good(packed_size(body.size()));
    write_pack({.count = 1, .term = 1, .committed = 0}, body, good);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::uint8_t> pack(good.begin(),
                                       good.begin() + static_cast<std::ptrdiff_t>(random() % (good.size() + 1)));
        for (int flips = 0; flips < 3 && !pack.empty(); ++flips)
            pack[random() % pack.size()] = static_cast<std::uint8_t>(random());
        std::vector<spur_state_entry> entries;
        if (!read_pack(pack, 1, entries)) continue;
        for (const auto& entry : entries) {
            const auto* begin = static_cast<const std::uint8_t*>(entry.body.data);
            EXPECT_TRUE(begin >= pack.data() && begin + entry.body.length <= pack.data() + pack.size());
        }
    }
}

// ---- snapshots ----

std::string stream_of(const std::string& state, const std::vector<std::string>& tail) {
    SectionWriter writer(Packing::zstd);
    writer.write(as_bytes(state));
    SectionWriter tail_writer(Packing::plain);
    for (const auto& entry : tail) {
        std::string record;
        append_integer(record, std::uint64_t{3});
        append_entry(record, {entry.data(), entry.size()});
        tail_writer.write(as_bytes(record));
    }
    auto stream = snapshot_header(500, tail.size());
    for (const auto& chunk : writer.finish().chunks) stream += chunk;
    for (const auto& chunk : tail_writer.finish().chunks) stream += chunk;
    return stream;
}

struct Loaded {
    std::string state;
    std::vector<std::string> tail;
    bool operator==(const Loaded&) const = default;
};

Outcome<Loaded> load(const std::string& stream) {
    SPUR_TRY(auto reader, SnapshotReader::open(as_bytes(stream)));
    Loaded loaded;
    std::vector<std::uint8_t> buffer(10'007);
    for (;;) {
        SPUR_TRY(const auto length, reader.read(buffer));
        if (length == 0) break;
        loaded.state.append(reinterpret_cast<const char*>(buffer.data()), length);
    }
    SPUR_CHECK(reader.read_tail([&](std::span<const spur_state_entry> entries) {
        for (const auto& entry : entries)
            loaded.tail.emplace_back(static_cast<const char*>(entry.body.data), entry.body.length);
    }));
    return loaded;
}

TEST(RaftSnapshot, StateAndTailComeBack) {
    std::string large;
    std::mt19937 random(2);
    while (large.size() < 5'000'000) large += std::to_string(random());
    const std::vector<Loaded> cases{{"", {}}, {"small", {"a", "", "b"}}, {large, {std::string(3'000'000, 'x'), "y"}}};
    for (const auto& one : cases) {
        const auto loaded = load(stream_of(one.state, one.tail));
        ASSERT_TRUE(loaded) << loaded.error().text;
        EXPECT_EQ(*loaded, one);
    }
    EXPECT_LT(stream_of(large, {}).size(), large.size() * 3 / 4);
}

TEST(RaftSnapshot, EveryFlippedBitAndEveryMissingByteIsNoticed) {
    const auto stream =
        stream_of("some state, long enough to be compressed, compressed, compressed", {"tail", "entries"});
    for (std::size_t i = 0; i < stream.size() * 8; ++i) {
        auto damaged = stream;
        damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
        const auto loaded = load(damaged);
        ASSERT_FALSE(loaded) << "bit " << i;
        EXPECT_EQ(loaded.error().code, SPUR_E_CORRUPT);
    }
    for (std::size_t length = 0; length < stream.size(); ++length)
        ASSERT_FALSE(load(stream.substr(0, length))) << length;
}

TEST(RaftSnapshot, AVersionFromTheFutureIsNamed) {
    auto stream = stream_of("x", {});
    stream[8] = 2;
    EXPECT_THAT(load(stream).error().text, testing::HasSubstr("version 2"));
}

// ---- segments ----

// Segments as libraft writes them.
class Segment {
public:
    Segment() { append_integer(bytes_, std::uint64_t{1}); }
    Segment& add(std::uint64_t committed, const std::string& body = "some entry") {
        std::string entry;
        append_entry(entry, {body.data(), body.size()});
        std::string pack(packed_size(entry.size()), '\0');
        write_pack({.count = 1, .term = 1, .committed = committed}, entry,
                   {reinterpret_cast<std::uint8_t*>(pack.data()), pack.size()});
        std::string header;
        append_integer(header, std::uint64_t{1});
        append_integer(header, std::uint64_t{1});
        append_integer(header, std::uint32_t{1});
        append_integer(header, static_cast<std::uint32_t>(pack.size()));
        starts_.push_back(bytes_.size());
        append_integer(bytes_, crc32(as_bytes(header)));
        append_integer(bytes_, crc32(as_bytes(pack)));
        bytes_ += header + pack;
        return *this;
    }
    std::size_t start(std::size_t batch) const { return starts_.at(batch); }
    std::string allocated() const { return bytes_ + std::string(65536 - bytes_.size(), '\0'); }

private:
    std::string bytes_;
    std::vector<std::size_t> starts_;
};

Outcome<std::vector<TornTail>> check(const std::map<std::string, std::string>& files) {
    const TestDirectory directory;
    for (const auto& [name, content] : files) std::ofstream(directory / name, std::ios::binary) << content;
    return check_segments(directory.path());
}

TEST(RaftSegments, ThatAreWholeOrNeverUsedAreFine) {
    const auto used = Segment().add(0).add(1).add(2).allocated();
    const auto found = check({{"open-1", used}, {"open-2", std::string(65536, '\0')}, {"open-3", ""}});
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_TRUE(found->empty());
}

TEST(RaftSegments, AnUnfinishedLastWriteIsATornTail) {
    const auto segment = Segment().add(0).add(1).add(2);
    for (auto at = segment.start(2); at < segment.start(2) + 60; ++at) {
        auto torn = segment.allocated();
        torn[at] = static_cast<char>(torn[at] ^ 1);
        const auto found = check({{"open-1", torn}});
        ASSERT_TRUE(found) << "byte " << at << ": " << found.error().text;
        ASSERT_EQ(found->size(), 1u);
        EXPECT_EQ(found->front().offset, segment.start(2));
    }
}

TEST(RaftSegments, ADamagedRecordBeforeACommittedOneIsDamage) {
    // The third record knows that the first two (Raft indexes 1 and 2) were committed.
    const auto segment = Segment().add(0).add(1).add(2);
    for (std::size_t at = 0; at < segment.start(2); ++at) {
        auto damaged = segment.allocated();
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        const auto found = check({{"open-1", damaged}});
        ASSERT_FALSE(found) << "byte " << at;
        EXPECT_EQ(found.error().code, SPUR_E_CORRUPT);
        EXPECT_THAT(found.error().text, testing::HasSubstr("open-1"));
    }
}

TEST(RaftSegments, WritesThatReachedTheDiskOutOfOrderAreATornTail) {
    // Two records were under way when the power went; only the second arrived. Neither was acknowledged.
    const auto segment = Segment().add(0).add(1).add(1);
    auto torn = segment.allocated();
    std::memset(torn.data() + segment.start(1), 0, segment.start(2) - segment.start(1));
    const auto found = check({{"open-1", torn}});
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(found->size(), 1u);
}

TEST(RaftSegments, DamageIsSeenAcrossFiles) {
    auto damaged = Segment().add(5).add(6).allocated();
    damaged[30] = static_cast<char>(damaged[30] ^ 1);
    const auto later = Segment().add(7).allocated();
    const std::string closed = "0000000000000001-0000000000000005";
    EXPECT_FALSE(check({{closed, "x"}, {"open-1", damaged}, {"open-2", later}}));
    EXPECT_TRUE(check({{"0000000000000001-0000000000000009", "x"}, {"open-1", damaged}, {"open-2", later}}))
        << "nothing at or below 7 is missing there";
}

// ---- proofs ----

Key key_of(std::uint8_t fill) {
    Key key;
    key.fill(fill);
    return key;
}

// Carries bytes between the two until both are silent; the fault of whoever complains first.
Outcome<void> converse(SecureSession& client, SecureSession& server, std::string* said_by_server = nullptr) {
    for (int turn = 0; turn < 10; ++turn) {
        const auto to_server = client.take_wire();
        if (!to_server.empty()) SPUR_CHECK(server.receive(as_bytes(to_server)));
        const auto to_client = server.take_wire();
        if (said_by_server != nullptr) *said_by_server += to_client;
        if (!to_client.empty()) SPUR_CHECK(client.receive(as_bytes(to_client)));
        if (to_server.empty() && to_client.empty()) break;
    }
    return {};
}

TEST(RaftProof, TwoWithTheSameKeyUnderstandEachOther) {
    const SecureContext context(key_of(1));
    SecureSession client(context, Side::client);
    SecureSession server(context, Side::server);
    ASSERT_TRUE(converse(client, server));
    ASSERT_TRUE(client.is_ready() && server.is_ready());
    const std::string text(100'000, 't');
    ASSERT_TRUE(client.send(as_bytes(text)));
    const auto wire = client.take_wire();
    EXPECT_EQ(wire.find("tttttttt"), std::string::npos) << "it is encrypted";
    ASSERT_TRUE(server.receive(as_bytes(wire)));
    EXPECT_EQ(server.take_plain(), text);
}

TEST(RaftProof, AnotherKeyIsTurnedAwayWithoutAWord) {
    const SecureContext ours(key_of(1));
    const SecureContext theirs(key_of(2));
    SecureSession client(theirs, Side::client);
    SecureSession server(ours, Side::server);
    std::string said;
    const auto talk = converse(client, server, &said);
    EXPECT_FALSE(talk);
    EXPECT_EQ(said, "");
    EXPECT_FALSE(client.is_ready() || server.is_ready());
}

TEST(RaftProof, AMessageThatWasTamperedWithEndsTheConversation) {
    const SecureContext context(key_of(1));
    SecureSession client(context, Side::client);
    SecureSession server(context, Side::server);
    ASSERT_TRUE(converse(client, server));
    ASSERT_TRUE(client.send(as_bytes("append this")));
    auto wire = client.take_wire();
    wire[wire.size() / 2] = static_cast<char>(wire[wire.size() / 2] ^ 1);
    EXPECT_FALSE(server.receive(as_bytes(wire)));
    EXPECT_EQ(server.take_plain(), "");
}

TEST(RaftProof, AnOldConversationCannotBeReplayed) {
    const SecureContext context(key_of(1));
    SecureSession client(context, Side::client);
    SecureSession server(context, Side::server);
    const auto hello = client.take_wire();
    ASSERT_TRUE(server.receive(as_bytes(hello)));
    ASSERT_TRUE(client.receive(as_bytes(server.take_wire())));
    const auto finished = client.take_wire();
    ASSERT_TRUE(server.receive(as_bytes(finished)));
    ASSERT_TRUE(server.is_ready());

    SecureSession another(context, Side::server);
    ASSERT_TRUE(another.receive(as_bytes(hello)));
    another.take_wire();
    EXPECT_FALSE(another.receive(as_bytes(finished)));
    EXPECT_FALSE(another.is_ready());
}

TEST(RaftKey, IsMadeOnceAndKeptPrivate) {
    const TestDirectory directory;
    const auto made = load_key(directory / "key", true);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(*load_key(directory / "key", false), *made);
    EXPECT_NE(*load_key(directory / "other", true), *made);
    ASSERT_TRUE(write_durably(directory / "short", "too short\n"));
    EXPECT_THAT(load_key(directory / "short", false).error().text, testing::HasSubstr("holds 9 characters"));
}

}  // namespace
// ---- room on disk ----

TEST(StateParts, WritingStopsBeforeTheDiskIsFullAndBeginsAgainALittleLater) {
    using Level = Room::Level;
    constexpr auto mib = Room::mib;
    const auto judge = [](std::uint64_t free, std::uint64_t size, Level before = Level::plenty) {
        return Room::judge({free * mib, size * mib}, before);
    };
    EXPECT_EQ(judge(900, 1000), Level::plenty);
    EXPECT_EQ(judge(49, 1000), Level::low);
    EXPECT_EQ(judge(1500, 100'000), Level::plenty) << "a large disk is not low with a gigabyte left";
    EXPECT_EQ(judge(1000, 100'000), Level::low);
    EXPECT_EQ(judge(15, 1000), Level::full);
    EXPECT_EQ(judge(20, 1000, Level::full), Level::full);
    EXPECT_EQ(judge(24, 1000, Level::full), Level::low);
}

}  // namespace spur::raftlog
