// What a scheduling pass costs: every waiting job looked at, from nothing and after the end of one job. The plugins are
// loaded and called as the controller does it, and sched/fifo goes over the same queue in the same run.
//
//     sched_bench [--select=select/gpu] [--unlike] [NODESxJOBS...]      default 1000x10000 10000x10000 10000x100000
//
// Times are processor time of the thread, of one pass: the mirror, select and sched, not the state machine.
// --unlike: every job asks for another amount of memory, so that nothing learned about one holds for another.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "daemons/common/planning/cycle.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using testing::ClusterBuilder;

struct Size {
    std::uint32_t nodes, jobs;
};

struct Setting {
    std::string select = "select/linear";
    bool unlike = false;
    std::vector<Size> sizes;
};

double cpu_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Mostly small, a few large; many lengths.
struct Wish {
    std::uint32_t nodes, minutes, cpus;
    std::uint64_t mem_mib;
};
Wish draw(std::mt19937& dice, std::uint32_t cluster_nodes) {
    const auto between = [&](std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(dice() % (high - low + 1));
    };
    const auto kind = dice() % 10;
    const auto nodes = kind < 6 ? 1U : kind < 9 ? between(2, 16) : between(17, std::max(17U, cluster_nodes / 20));
    return {nodes, between(10, 1440), 1U << between(0, 5), between(1, 32) * 1024ULL};
}

class Bench {
public:
    Bench(const Setting& setting, Size size) : setting_{setting} {
        builder_.nodes(fmt::format("n[1-{}]", size.nodes), testing::cpus(64), testing::memory_mib(256'000));
        builder_.partition("main", "ALL");
        builder_.partition("half", fmt::format("n[1-{}]", size.nodes / 2));
        std::mt19937 dice{7};
        for (std::uint32_t next = 1; next <= size.nodes * 8 / 10;) {  // 80 % are busy
            const auto wish = draw(dice, size.nodes);
            const auto last = std::min(next + wish.nodes - 1, size.nodes * 8 / 10);
            builder_.running(fmt::format("r{}", next), testing::on(fmt::format("n[{}-{}]", next, last)),
                             testing::until(wish.minutes * 60));
            running_.push_back(builder_.id(fmt::format("r{}", next)));
            next = last + 1;
        }
        for (std::uint32_t i = 0; i < size.jobs; ++i) {
            const auto wish = draw(dice, size.nodes);
            builder_.pending(fmt::format("p{}", i), testing::node_count(wish.nodes, wish.nodes),
                             testing::tasks(wish.nodes), testing::limit_min(wish.minutes),
                             testing::user("u", 1000 + i % 50), testing::partition(i % 4 == 0 ? "half" : "main"),
                             testing::spec([&](JobSpec& spec) {
                                 spec.cpus_per_task = wish.cpus;
                                 spec.mem_per_node_mib = setting.unlike ? 1000 + i : wish.mem_mib;
                             }));
        }
        std::shuffle(running_.begin(), running_.end(), dice);
        all_.everything = true;
    }

    struct Figures {
        double cold_ms, next_ms;
        std::size_t cold_starts, next_starts;
    };
    // `carries_out`: what the passes after ends of jobs start is started.
    Figures measure(const std::string& sched, bool carries_out) {
        planning::PlanningCycle cycle{open(sched)};
        planning::ReadModelBuilder models;
        auto changes = all_;
        auto model = models.publish(builder_.cluster(), changes);
        Figures figures{};
        figures.cold_ms = 1e9;
        for (int round = 0; round < 3; ++round) {  // each has the host forget everything
            const auto [ms, starts] = pass(cycle, model, all_);
            figures.cold_ms = std::min(figures.cold_ms, ms);
            figures.cold_starts = starts;
        }
        if (!carries_out) return figures;
        start(std::move(plan_), *model);
        model = models.publish(builder_.cluster(), changes_);
        pass(cycle, model, std::exchange(changes_, {}));
        std::vector<double> times;
        for (int round = 0; round < 21 && !running_.empty(); ++round) {
            end_one();
            model = models.publish(builder_.cluster(), changes_);
            const auto [ms, starts] = pass(cycle, model, std::exchange(changes_, {}));
            figures.next_starts += starts;
            times.push_back(ms);
            start(std::move(plan_), *model);
        }
        std::ranges::sort(times);
        figures.next_ms = times[times.size() / 2];
        return figures;
    }

private:
    planning::PolicyPlugins open(const std::string& sched) {
        host::HostOptions options;
        options.program = "sched_bench";
        options.check_roles = options.check_owner = false;
        hosts_.push_back(std::make_unique<host::PluginHost>(options));
        auto& host = *hosts_.back();
        host.set_dirs({SPUR_BENCH_PLUGIN_DIR});
        return {must(host.open<host::SchedAxis>(sched)), must(host.open<host::SelectAxis>(setting_.select)),
                must(host.open<host::PriorityAxis>("priority/basic"))};
    }
    template <class T>
    static T must(Result<T> result) {
        if (result) return *result;
        fmt::print(stderr, "sched_bench: {}\n", result.error().text);
        std::exit(1);
    }

    std::pair<double, std::size_t> pass(planning::PlanningCycle& cycle,
                                        const std::shared_ptr<const planning::ReadModel>& model,
                                        const planning::Changes& changes) {
        planning::CycleInput input;
        input.model = model;
        input.changes = changes;
        input.now = builder_.now();
        input.budget = std::chrono::hours{1};
        const auto before = cpu_ms();
        auto outcome = cycle.run(std::move(input));
        const auto took = cpu_ms() - before;
        for (const auto& problem : outcome.problems) fmt::print(stderr, "sched_bench: {}\n", problem);
        plan_ = std::move(outcome.plan);
        planning_ms_ = static_cast<double>(outcome.planning.count()) / 1e6;
        if (std::getenv("SCHED_BENCH_VERBOSE") != nullptr)
            fmt::print("    pass {:.2f} ms, of it plan() {:.2f} ms wall, {} starts, {} notes\n", took, planning_ms_,
                       plan_.starts.size(), plan_.notes.size());
        return {took, plan_.starts.size()};
    }

    void apply(Command command) {
        if (const auto events = builder_.apply(std::move(command)); events) planning::note_changes(*events, changes_);
    }
    void start(planning::Plan plan, const planning::ReadModel& model) {
        for (auto& command : planning::start_commands(std::move(plan.starts), model)) apply(std::move(command));
    }
    void end_one() {
        const auto id = running_.back();
        running_.pop_back();
        apply(FinishJob{.job = id, .attempt = builder_.cluster().find_job(id)->attempt, .exit_status = 0});
        const auto* job = builder_.cluster().find_job(id);
        NodeJobDone done{id, job->attempt, {}};
        for (const auto share : job->open_shares) done.nodes.push_back(job->allocation->shares[share].node);
        apply(done);
    }

    const Setting& setting_;
    ClusterBuilder builder_;
    std::vector<JobId> running_;
    planning::Changes all_, changes_;
    planning::Plan plan_;
    double planning_ms_{};
    std::vector<std::unique_ptr<host::PluginHost>> hosts_;
};

std::optional<Size> parse_size(std::string_view text) {
    Size size{};
    const auto x = text.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    const auto number = [](std::string_view part, std::uint32_t& to) {
        return std::from_chars(part.data(), part.data() + part.size(), to).ptr == part.data() + part.size() && to >= 10;
    };
    if (!number(text.substr(0, x), size.nodes) || !number(text.substr(x + 1), size.jobs)) return std::nullopt;
    return size;
}

std::optional<Setting> parse(int argc, char** argv) {
    Setting setting;
    for (int i = 1; i < argc; ++i) {
        const std::string_view text = argv[i];
        if (text.starts_with("--select="))
            setting.select = text.substr(9);
        else if (text == "--unlike")
            setting.unlike = true;
        else if (const auto size = parse_size(text))
            setting.sizes.push_back(*size);
        else
            return std::nullopt;
    }
    if (setting.sizes.empty()) setting.sizes = {{1'000, 10'000}, {10'000, 10'000}, {10'000, 100'000}};
    return setting;
}

int run(const Setting& setting) {
    fmt::print("{}{}, 80 % of the nodes busy; ms of processor time\n", setting.select,
               setting.unlike ? ", all jobs unlike" : "");
    fmt::print("{:>8} {:>8} | {:>10} {:>7} {:>12} {:>7} | {:>10} {:>7} | {:>7} | {:>8}\n", "nodes", "waiting",
               "full pass", "starts", "one job ends", "starts", "sched/fifo", "starts", "ratio", "exponent");
    std::optional<std::pair<Size, double>> before;
    for (const auto size : setting.sizes) {
        Bench bench{setting, size};
        const auto fifo = bench.measure("sched/fifo", false);
        const auto figures = bench.measure("sched/backfill", true);
        std::string exponent = "-";
        if (before && before->first.nodes == size.nodes)  // in the number of jobs
            exponent = fmt::format("{:.2f}", std::log(figures.cold_ms / before->second) /
                                                 std::log(double{1} * size.jobs / before->first.jobs));
        fmt::print("{:>8} {:>8} | {:>10.1f} {:>7} {:>12.2f} {:>7} | {:>10.1f} {:>7} | {:>7.2f} | {:>8}\n", size.nodes,
                   size.jobs, figures.cold_ms, figures.cold_starts, figures.next_ms, figures.next_starts, fifo.cold_ms,
                   fifo.cold_starts, figures.cold_ms / fifo.cold_ms, exponent);
        before = {size, figures.cold_ms};
    }
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace spur

int main(int argc, char** argv) {
    const auto setting = spur::parse(argc, argv);
    if (!setting) {
        fmt::print(stderr, "usage: sched_bench [--select=select/gpu] [--unlike] [NODESxJOBS...]\n");
        return 2;
    }
    return spur::run(*setting);
}
