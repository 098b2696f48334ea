// What spurd and spurstepd tell each other: round trips, and bytes that make no sense.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "core/store/tagged.hpp"
#include "daemons/spurstepd/environment.hpp"
#include "daemons/spurstepd/frame.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "daemons/spurstepd/task.hpp"

namespace spur::step {
namespace {

LaunchSpec full_spec() {
    LaunchSpec spec;
    spec.job = 12;
    spec.attempt = 3;
    spec.step = step_batch;
    spec.node = "n1";
    spec.directory = "/var/spool/spurd/jobs/job00012.3";
    spec.label = "12.batch";
    spec.uid = 1000;
    spec.gid = 100;
    spec.groups = {0, 100, 4711};
    spec.work_dir = "/home/u";
    spec.umask = 0;
    spec.rlimits = {{7, 0, UINT64_MAX}};
    spec.argv = {"/bin/sh", "", "a b"};
    spec.environment = {"A=1", "B="};
    spec.load_user_environment = true;
    spec.task_prolog = "/p";
    spec.tasks = {{.id = 0,
                   .argv = {},
                   .environment = {"P=0"},
                   .std_in = "/dev/null",
                   .std_out = "o",
                   .std_err = "e",
                   .cpu_list = "0-3"},
                  {.id = 7}};
    spec.append = spec.pty = spec.unbuffered = true;
    spec.rows = 24;
    spec.columns = 80;
    spec.end_time = 1'900'000'000;
    spec.kill_wait_s = 0;
    spec.warn_signal = 10;
    spec.warn_before_s = 60;
    spec.warn_batch_only = true;
    spec.cpus = 4;
    spec.memory_mib = 1 << 20;
    spec.device_allow = {"/dev/nvidia0"};
    spec.device_deny = {"/dev/nvidia1", "/dev/nvidia2"};
    spec.bind_verbose = true;
    spec.own_end_time = 1'800'000'000;
    spec.end_boot_s = 90'000;
    spec.own_end_boot_s = 80'000;
    spec.tells = false;
    spec.label_width = 2;
    spec.sample_s = 0;
    spec.kill_over_memory = true;
    return spec;
}

TEST(StepWire, ASpecComesBackAsItWent) {
    const auto spec = full_spec();
    const auto back = decode_spec(encode(spec));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, spec);
    EXPECT_EQ(*decode_spec(encode(LaunchSpec{})), LaunchSpec{});
}

TEST(StepWire, UnknownFieldsAreSkipped) {
    std::string newer;
    archive::Writer out{newer};
    archive::write_field(out, 900, 5U);
    archive::write_field(out, 901, std::string{"from the future"});
    const auto back = decode_spec(encode(full_spec()) + newer);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, full_spec());
}

TEST(StepWire, ANumberTooLargeForItsFieldIsRefused) {
    std::string bytes;
    archive::Writer out{bytes};
    archive::write_field(out, 1, std::uint64_t{1} << 32);  // the job's number has 32 bits
    EXPECT_FALSE(decode_spec(bytes));
    EXPECT_FALSE(decode<Hello>(bytes));
}

TEST(StepWire, AResultIsWholeOrRefused) {
    const StepResult result{.job = 1,
                            .attempt = 2,
                            .step = 3,
                            .status = 256,
                            .oom = true,
                            .time = 99,
                            .error = "x",
                            .usage = {1, 2, 3, 4, 5},
                            .tasks = {{7, {1, 2, 3}}, {8, {}}}};
    const auto bytes = encode(result);
    EXPECT_EQ(*decode_result(bytes), result);
    for (std::size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(decode_result(bytes.substr(0, length)));
}

TEST(StepWire, ReadingsComeBackAsTheyWere) {
    const Readings readings{.number = 3, .usage = {1, 2, 3, 4, 5}, .tasks = {{7, {9, 8}}}, .pids = {11, 12}};
    EXPECT_EQ(decode_readings(encode(readings)), readings);
}

TEST(StepWire, RandomBytesNeverCrash) {
    std::mt19937 dice{42};
    const auto good = encode(full_spec());
    for (int i = 0; i < 20000; ++i) {
        auto bytes = good.substr(0, dice() % (good.size() + 1));
        for (int flips = static_cast<int>(dice() % 4); flips > 0 && !bytes.empty(); --flips)
            bytes[dice() % bytes.size()] = static_cast<char>(dice());
        static_cast<void>(decode_spec(bytes));
        static_cast<void>(decode<Chunk>(bytes));
        static_cast<void>(decode<EndOrder>(bytes));
        static_cast<void>(decode<Started>(bytes));
        static_cast<void>(decode_readings(bytes));
    }
}

struct Pair {
    Pair() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        a = FrameSocket{ends[0]};
        b = FrameSocket{ends[1]};
    }
    FrameSocket a, b;
};

TEST(StepWire, FramesPassInOrderWhateverTheirSize) {
    Pair pair;
    const std::string large(3 << 20, 'x');
    ASSERT_TRUE(pair.a.send(FrameType::log, "first"));
    ASSERT_TRUE(pair.a.send(FrameType::output, large));
    ASSERT_TRUE(pair.a.send(FrameType::suspend, ""));
    std::vector<Frame> got;
    while (got.size() < 3) {
        ASSERT_TRUE(pair.a.flush());
        ASSERT_NE(pair.b.receive(), FrameSocket::Read::closed);
        while (auto frame = pair.b.next()) got.push_back(*std::move(frame));
    }
    EXPECT_EQ(got[0].payload, "first");
    EXPECT_TRUE(got[1].payload == large);
    EXPECT_EQ(got[2].type, FrameType::suspend);
    EXPECT_TRUE(got[2].payload.empty());
}

TEST(StepWire, AnAbsurdLengthBreaksTheConnection) {
    Pair pair;
    ASSERT_EQ(write(pair.a.fd(), "\xff\xff\xff\xff\x01", 5), 5);
    EXPECT_EQ(pair.b.receive(), FrameSocket::Read::some);
    EXPECT_FALSE(pair.b.next());
    EXPECT_TRUE(pair.b.is_broken());
}

TEST(StepEnvironment, TheLastOfAKeyCounts) {
    Environment environment{{"A=1", "B=2", "A=3", "=x", "novalue"}};
    environment.unset("B");
    environment.set("C", "");
    EXPECT_EQ(environment.variables(), (std::vector<std::string>{"A=3", "C="}));
    EXPECT_EQ(environment.find("A"), "3");
    EXPECT_FALSE(environment.find("B"));
}

TEST(StepEnvironment, ATaskPrologExportsUnsetsAndPrints) {
    Environment environment{{"GONE=1"}};
    EXPECT_EQ(
        apply_prolog_output("noise\nexport A=b c\nunset GONE\nprint hello there\nexport broken\nprint x", environment),
        "hello there\nx\n");
    EXPECT_EQ(environment.variables(), (std::vector<std::string>{"A=b c"}));
}

TEST(StepStreams, OutputIsPassedOnInWholeLines) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    OutputStream stream;
    stream.open(Descriptor{ends[0]}, true);
    std::string got;
    bool ended = false;
    const OutputStream::Forward forward = [&](std::string_view data, bool eof) { got += data, ended = ended || eof; };
    ASSERT_EQ(write(ends[1], "one\ntw", 6), 6);
    stream.pump(forward);
    EXPECT_EQ(got, "one\n");
    ASSERT_EQ(write(ends[1], "o\nthree", 7), 7);
    stream.pump(forward);
    EXPECT_EQ(got, "one\ntwo\n");
    close(ends[1]);
    stream.pump(forward);
    EXPECT_EQ(got, "one\ntwo\nthree");
    EXPECT_TRUE(ended);
    EXPECT_FALSE(stream.is_open());
}

}  // namespace
}  // namespace spur::step
