// Stored state: what was written once keeps loading. data/ holds a log and a snapshot of release 1; when records gain
// fields, add a new pair beside them: SPUR_STORE_STATE=<prefix> makes this program write one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/machine/step_layout.hpp"
#include "core/store/codec.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

std::string read_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A log in a file: each entry after its length in four bytes, lowest first.
void append_entry(std::string& file, std::string_view entry) {
    for (int i = 0; i < 4; ++i) file.push_back(static_cast<char>(entry.size() >> (8 * i)));
    file.append(entry);
}
std::vector<std::string> split_entries(std::string_view file) {
    std::vector<std::string> entries;
    while (file.size() >= 4) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i) size |= std::size_t{static_cast<unsigned char>(file[i])} << (8 * i);
        entries.emplace_back(file.substr(4, size));
        file.remove_prefix(std::min(file.size(), 4 + size));
    }
    return entries;
}

// A little of everything, told to a cluster and to the log alike.
class Story {
public:
    std::string log;
    Cluster cluster;

    void tell(UnixSeconds at, Command command) {
        const Stamped<Command> stamped{at, std::move(command)};
        append_entry(log, encode(stamped));
        const auto done = cluster.apply(stamped);
        ASSERT_TRUE(done) << command_name(stamped.what) << ": " << done.error().text;
    }
    JobId submit(UnixSeconds at, const std::function<void(JobSpec&)>& change) {
        JobSpec job;
        job.name = "story";
        job.script = "#!/bin/bash\nsrun hostname\n";
        job.environment = std::string_view{"PATH=/bin\0HOME=/home/alice\0", 27};
        job.user_name = "alice";
        job.account = "phys";
        job.uid = 1000;
        job.gid = 100;
        job.time_limit_min = 30;
        change(job);
        tell(at, SubmitJob{{job}, Actor::root(), {}});
        return cluster.jobs().rbegin()->first;
    }
    void start(UnixSeconds at, JobId id, std::uint32_t node, Bitset cores) {
        Placement part;
        part.job = id;
        part.partition = "main";
        part.shares = {{NodeId{node}, cores, cores.count(), 500, {}, 1}};
        if (node == 2) part.shares[0].gres = {{"gpu", "a100", 2, Bitset{0, 1}, {}}};
        tell(at, StartJob{{part}});
    }
};

Story tell_story() {
    Story story;
    ClusterConfig config;
    config.cluster_name = "stored";
    NodeConfig plain;
    plain.names = {"n1", "n2"};
    plain.topology = {1, 2, 4, 2};
    plain.cpus = 16;
    plain.memory_mib = 8000;
    plain.features = {"fast"};
    NodeConfig accelerated = plain;
    accelerated.names = {"g1"};
    accelerated.gres = {{"gpu", "a100", 4, 0, true}, {"shard", "", 16, 0, false}};
    config.nodes = {plain, accelerated};
    Partition main;
    main.name = "main";
    main.node_text = "ALL";
    main.is_default = true;
    main.billing_weights = {{"CPU", 1.0}, {"GRES/gpu", 2.5}};
    config.partitions = {main};
    config.licenses = {{"matlab", 4}};
    config.policies.keep_outbox = true;
    config.policies.enforce = enforce_flag::limits;
    story.tell(1000, ApplyConfig{config});
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto& node = story.cluster.nodes()[i];
        NodeRegistered found;
        found.node = node.id;
        found.topology = node.topology;
        found.cpus = node.cpus;
        found.memory_mib = node.memory_mib;
        found.gres = node.gres;
        found.boot_id = "boot-1";
        story.tell(1001, found);
    }
    story.tell(1002, EditAccount{Edit::create, {"phys", "physics", "science", {"carol"}}});
    story.tell(1002, EditUser{Edit::create, {"alice", "phys", {}, AdminLevel::none}});
    Association entry;
    entry.account = "phys";
    entry.limits.grp_tres.set("cpu", 100);
    story.tell(1002, EditAssociation{Edit::create, entry, {}});
    entry = {};
    entry.account = "phys";
    entry.user = "alice";
    entry.limits.max_jobs = 10;
    story.tell(1002, EditAssociation{Edit::create, entry, {}});
    Qos high;
    high.name = "high";
    high.priority = 100;
    high.preempt = {"normal"};
    story.tell(1003, EditQos{Edit::create, high});
    Reservation lab;
    lab.name = "lab";
    lab.start_time = 5000;
    lab.end_time = 6000;
    lab.nodes = {NodeId{1}};
    lab.users = {"alice"};
    lab.flags = reservation_flag::maint | reservation_flag::daily;
    story.tell(1003, EditReservation{Edit::create, lab, Actor::root()});

    const auto runs = story.submit(1010, [](JobSpec& job) { job.licenses = "matlab:2"; });
    story.start(1011, runs, 0, Bitset{0, 1, 2, 3});
    const auto step = lay_out_step(story.cluster, runs, {.name = "hostname", .tasks = 2, .exact = true}, Actor::root());
    story.tell(1012, *step);
    const auto array = story.submit(1020, [](JobSpec& job) { job.array = "0-99:3%4"; });
    story.start(1021, array, 0, Bitset{4});
    story.start(1021, array, 1, Bitset{0});
    story.submit(1022, [&](JobSpec& job) { job.dependency = Text{fmt::format("afterok:{},singleton", array.value)}; });
    story.submit(1023, [](JobSpec& job) { job.hold = true; });
    const auto gpus = story.submit(1024, [](JobSpec& job) { job.gres_per_node = "gpu:a100:2"; });
    story.start(1025, gpus, 2, Bitset{0, 1});
    story.tell(1030, SuspendJob{{.job = gpus.value}, Actor::root()});
    const auto fails = story.submit(1040, [](JobSpec&) {});
    story.start(1041, fails, 1, Bitset{3});
    story.tell(1050, FinishJob{.job = fails, .attempt = 1, .exit_status = 256, .node = NodeId{1}, .node_done = true});
    const auto again = story.submit(1060, [](JobSpec&) {});
    story.start(1061, again, 1, Bitset{5});
    story.tell(1062, RequeueJob{{.job = again.value}, Actor::root(), true, false});
    story.tell(
        1070,
        UpdateNode{.nodes = {NodeId{2}}, .action = NodeAction::drain, .reason = Text{"fan"}, .actor = Actor::root()});
    story.tell(1080, DecayUsage{});
    return story;
}

Cluster replay(const std::vector<std::string>& entries) {
    Cluster cluster;
    for (const auto& entry : entries) {
        const auto command = decode_command(entry);
        if (!command) {
            ADD_FAILURE() << command.error().text;
            break;
        }
        EXPECT_TRUE(cluster.apply(*command)) << command_name(command->what);
    }
    return cluster;
}

TEST(T50Stored, TheStoryCanBeStored) {
    const auto story = tell_story();
    if (const auto* prefix = std::getenv("SPUR_STORE_STATE")) {
        std::ofstream{std::string{prefix} + ".log", std::ios::binary} << story.log;
        std::ofstream{std::string{prefix} + ".snapshot", std::ios::binary} << snapshot_of(story.cluster);
    }
    EXPECT_EQ(snapshot_of(replay(split_entries(story.log))), snapshot_of(story.cluster));
}

TEST(T50Stored, ReleaseOnesSnapshotStillLoads) {
    const auto loaded = Cluster::load(read_file(SPUR_TEST_DATA "/release1.snapshot"));
    ASSERT_TRUE(loaded) << loaded.error().text;
    EXPECT_EQ(loaded->cluster_name(), "stored");
    EXPECT_EQ(loaded->nodes().size(), 3U);
    EXPECT_EQ(loaded->find_node("g1")->reason, "fan");
    EXPECT_EQ(loaded->find_association("phys", "alice", "")->limits.max_jobs, 10U);
    EXPECT_TRUE(loaded->find_reservation("lab")->has(reservation_flag::daily));
    EXPECT_EQ(loaded->licenses().find("matlab")->second.used, 2U);
    const auto* runs = loaded->find_job(JobId{1});
    ASSERT_NE(runs, nullptr);
    EXPECT_TRUE(runs->is_running());
    EXPECT_EQ(runs->spec->script, "#!/bin/bash\nsrun hostname\n");
    EXPECT_EQ(runs->spec->environment.size(), 27U);
    EXPECT_EQ(loaded->find_step({JobId{1}, StepId{0}})->tasks, 2U);
    EXPECT_EQ(loaded->find_job(JobId{2})->display_id(), "2_[6-99:3%4]");
    EXPECT_EQ(loaded->find_node("n1")->use.own_cores.count(), 5U);
    EXPECT_FALSE(loaded->outbox().empty());
}

TEST(T50Stored, ReleaseOnesLogStillReplaysToItsSnapshot) {
    const auto replayed = replay(split_entries(read_file(SPUR_TEST_DATA "/release1.log")));
    const auto loaded = Cluster::load(read_file(SPUR_TEST_DATA "/release1.snapshot"));
    ASSERT_TRUE(loaded);
    EXPECT_EQ(snapshot_of(replayed), snapshot_of(*loaded));
}

TEST(T50Stored, ATruncatedOrDamagedSnapshotIsRefused) {
    const auto bytes = snapshot_of(tell_story().cluster);
    for (std::size_t size = 0; size < bytes.size(); size += 13) {
        const auto loaded = Cluster::load(std::string_view{bytes}.substr(0, size));
        ASSERT_FALSE(loaded) << size;
        EXPECT_EQ(loaded.error().code, ErrorCode::corrupt);
    }
    for (std::size_t i = 0; i < bytes.size(); i += 7) {
        auto damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
        (void)Cluster::load(damaged);  // refused or not, it must not crash
    }
}

TEST(T50Stored, PiecesOfASnapshotStaySmall) {
    ClusterBuilder b;
    b.nodes("n[1-10]", cpus(4)).cluster();
    for (int i = 0; i < 2'000; ++i)
        b.submit(fmt::format("job-{}", i), {spec([&](JobSpec& job) { job.comment = Text{std::string(200, 'x')}; })});
    std::size_t largest = 0;
    std::size_t pieces = 0;
    b.cluster().save([&](std::string_view piece) {
        largest = std::max(largest, piece.size());
        ++pieces;
    });
    EXPECT_LT(largest, 80U * 1024);
    EXPECT_GT(pieces, 3U);
}

TEST(T50Stored, ScriptsAndEnvironmentsAreStoredOnce) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    const Text script{"#!/bin/sh\n" + std::string(50'000, '#')};
    for (int i = 0; i < 100; ++i)
        b.submit(fmt::format("job-{}", i), {spec([&](JobSpec& job) { job.script = Text{script.view()}; })});
    EXPECT_LT(snapshot_of(b).size(), 100'000U);
    const auto& jobs = b.cluster().jobs();
    EXPECT_TRUE(jobs.begin()->second.spec->script.is_same(jobs.rbegin()->second.spec->script));
}

TEST(T50Stored, FieldsOfALaterReleaseAreNotDropped) {
    const Stamped<Command> command{7, CancelJob{{.job = 12}, Actor::root()}};
    auto bytes = encode(command);
    bytes += '\xfc';  // field 63, a varint
    bytes += '\x01';
    bytes += '\x05';
    const auto read = decode_command(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text, fmt::format("a log entry of {} bytes does not hold a CancelJob as this release knows "
                                             "it; it was written by a newer one, or is damaged",
                                             bytes.size()));
}

TEST(T50Stored, ASnapshotOfALaterVersionNamesBothVersions) {
    Cluster cluster;
    ASSERT_TRUE(cluster.apply({1, SetStateVersion{newest_state_version + 1}}));
    const auto read = Cluster::load(snapshot_of(cluster));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text,
              fmt::format("the snapshot has version {} of the state and this release knows versions up to {}; install "
                          "the release that wrote it",
                          newest_state_version + 1, newest_state_version));
}

TEST(T50Stored, CommandsOfALaterReleaseAreNamedAsSuch) {
    const auto read = decode_command("\x7f\x02");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text,
              "a log entry holds command 127, which this release does not know; it was written by a newer one, or is "
              "damaged");
}

}  // namespace
}  // namespace spur
