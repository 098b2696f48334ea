// What the state machine costs per command and per job, beside a floor from the same run: copying a submission's log
// entry into a std::map, which is the least that anything keeping it in memory could do.
//     core_bench [jobs]      default 100,000 pending jobs on 1,000 nodes of 64 cores
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/machine/validate.hpp"
#include "core/store/codec.hpp"
#include "tests/support/cluster_builder.hpp"

namespace {

using namespace spur;
using namespace spur::testing;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> pages;
    return pages * 4096;
}

class Timer {
public:
    template <class F>
    void time(F&& f) {
        const auto begin = seconds();
        f();
        total_ += seconds() - begin;
        ++count_;
    }
    double us() const { return count_ ? total_ / static_cast<double>(count_) * 1e6 : 0; }

private:
    double total_{};
    std::size_t count_{};
};

void must(const Result<Events>& done) {
    if (done) return;
    fmt::print(stderr, "core_bench: {}\n", done.error().text);
    std::exit(EXIT_FAILURE);
}

// Jobs as a user's loop submits them: alike but for names and files, with an environment of 4 kB.
JobSpec submission(std::size_t number) {
    static const Text environment = [] {
        std::string text;
        for (int i = 0; i < 60; ++i)
            text += fmt::format("VARIABLE_{}=some value of a usual length, here {}", i, i) + '\0';
        return Text{text};
    }();
    JobSpec job;
    job.name = Text{fmt::format("job-{}", number)};
    job.std_out = Text{fmt::format("out-{}.txt", number)};
    job.script = "#!/bin/bash\nsrun ./a.out\n";
    job.environment = environment;
    job.work_dir = "/home/alice/project/run";
    job.user_name = "alice";
    job.uid = 1000;
    job.alloc_node = "login1";
    job.submit_line = "sbatch --time=10 -n4 job.sh";
    job.tasks = 4;
    job.time_limit_min = 10;
    return job;
}

Placement quarter(JobId job, std::uint32_t index) {
    Placement part;
    part.job = job;
    part.partition = "main";
    part.shares = {{NodeId{index / 16}, Bitset::range(index % 16 * 4, 4), 4, 0, {}, 4}};
    return part;
}

struct Report {
    double floor;
    void line(std::string_view what, double us) const {
        fmt::print("  {:<34}{:8.2f} us{:9.1f} x\n", what, us, us / floor);
    }
};

void run(std::size_t jobs) {
    ClusterBuilder builder;
    builder.nodes("n[1-1000]", cpus(64)).policies([](Policies& policies) { policies.max_array_size = 100'001; });
    auto& cluster = builder.cluster();
    const auto now = builder.now();

    Timer encoding, floor, decoding, validating, submitting;
    std::vector<std::string> log;
    for (std::size_t i = 0; i < jobs; ++i) {
        const auto spec = validate(cluster, submission(i), Actor::root(), now);
        encoding.time([&] { log.push_back(encode({now, SubmitJob{{*spec}, Actor::root(), {}}})); });
    }
    {
        std::map<std::uint32_t, std::string> copies;
        for (std::uint32_t i = 0; i < log.size(); ++i) floor.time([&] { copies.emplace(i, log[i]); });
    }
    malloc_trim(0);
    const auto before = resident_bytes();
    for (const auto& entry : log) {
        std::optional<Result<Stamped<Command>>> command;
        decoding.time([&] { command.emplace(decode_command(entry)); });
        const auto& spec = std::get<SubmitJob>((*command)->what).components.front();
        validating.time([&] { (void)validate(cluster, spec, Actor::root(), now); });
        submitting.time([&] { must(cluster.apply(**command)); });
    }
    const auto memory = static_cast<double>(resident_bytes() - before) / static_cast<double>(jobs);

    std::string snapshot;
    Timer saving, loading;
    saving.time([&] { cluster.save([&](std::string_view piece) { snapshot.append(piece); }); });
    loading.time([&] { (void)Cluster::load(snapshot); });

    Timer starting, finishing, splitting;
    const auto slots = static_cast<std::uint32_t>(std::min<std::size_t>(jobs, 16'000));
    const std::vector<JobId> waiting{cluster.pending_jobs().begin(), cluster.pending_jobs().end()};
    for (std::uint32_t i = 0; i < slots; ++i) {
        const StartJob start{{quarter(waiting[i], i)}};
        starting.time([&] { must(cluster.apply({now + 1, start})); });
    }
    for (std::uint32_t i = 0; i < slots; ++i) {
        const FinishJob end{.job = waiting[i], .attempt = 1, .node = NodeId{i / 16}, .node_done = true};
        finishing.time([&] { must(cluster.apply({now + 2, end})); });
    }
    auto many = submission(0);
    many.array = "0-99999";
    must(cluster.apply({now + 3, SubmitJob{{many}, Actor::root(), {}}}));
    const auto array = cluster.arrays().rbegin()->first;
    for (std::uint32_t i = 0; i < slots; ++i) {
        const StartJob start{{quarter(array, i)}};
        splitting.time([&] { must(cluster.apply({now + 4, start})); });
    }

    const Report report{floor.us()};
    fmt::print("{} pending jobs, 1000 nodes; x: against the floor\n", jobs);
    report.line("floor: copy the entry into a map", floor.us());
    report.line("encode a submission", encoding.us());
    report.line("decode it", decoding.us());
    report.line("validate it", validating.us());
    report.line("apply SubmitJob", submitting.us());
    report.line("apply StartJob", starting.us());
    report.line("apply StartJob of an array's task", splitting.us());
    report.line("apply FinishJob, node done", finishing.us());
    report.line("save a snapshot, per job", saving.us() / static_cast<double>(jobs));
    report.line("load it, per job", loading.us() / static_cast<double>(jobs));
    fmt::print("  {:<34}{:8.0f} bytes; the log entry has {}\n", "memory per pending job", memory, log.front().size());
    fmt::print("  {:<34}{:8.1f} MB\n", "snapshot", static_cast<double>(snapshot.size()) / 1e6);
}

}  // namespace

int main(int argc, char** argv) { run(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000); }
