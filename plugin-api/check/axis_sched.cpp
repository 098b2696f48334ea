// The laws of spur.sched/1.
#include "case.hpp"
#include "counters.hpp"
#include "instance.hpp"
#include "plan.hpp"
#include "process.hpp"
#include "selector.hpp"

#include <chrono>

namespace spur::check {
namespace {

using Clock = std::chrono::steady_clock;

const spur_sched_ops& ops_of(Instance& instance) { return instance.ops<spur_sched_ops>(SPUR_SCHED_IFACE); }

// The queue a host would show it: what neither it nor the selector knows is not in there.
ClusterWishes ordinary(Instance& instance) {
    return {.placement_rules = false, .understood = ops_of(instance).understands | reference_select_ops().understands};
}

void plan_into(Instance& instance, const spur_cluster_view& view, Plan& plan, Shape shape = {}) {
    Memory memory(shape);
    const auto* selector = memory.one(reference_selector());
    ErrorBox err(shape);
    doing("in plan()");
    const auto status = ops_of(instance).plan(instance.self(), &view, selector, plan.sink(), err.get());
    plan.close();
    if (status == SPUR_E_STOPPED) return;
    expect_ok("plan()", status, err);
}

void exercise(const Subject& subject, Instance& instance, const Shape& shape) {
    Dice dice(subject.seed);
    const Cluster cluster(dice, ordinary(instance), shape);
    Plan plan(cluster.view(), shape);
    plan_into(instance, cluster.view(), plan, shape);
    require(plan.fault().empty(), "{}", plan.fault());
}

// Some slots of the queue, for limits.
std::set<std::uint32_t> some_of_queue(Dice& dice, const spur_cluster_view& view) {
    std::set<std::uint32_t> some;
    for (const auto slot : plugin::Records<std::uint32_t>(view.pending_order))
        if (dice.one_in(6)) some.insert(slot);
    return some;
}

std::string sound(const Subject& subject) {
    Bench bench(subject);
    std::uint32_t starts = 0;
    for (unsigned i = 0; i < subject.clusters; ++i) {
        Dice dice(subject.seed + i);
        const Cluster cluster(dice, ordinary(bench.instance()));
        Plan plan(cluster.view(), {}, some_of_queue(dice, cluster.view()));
        plan_into(bench.instance(), cluster.view(), plan);
        require(plan.fault().empty(), "{} (seed {})", plan.fault(), subject.seed + i);
        starts += plan.starts();
    }
    bench.finish();
    return fmt::format("{} clusters, {} starts", subject.clusters, starts);
}

// Leaves one job of one node in the queue and no reservations; its slot.
std::uint32_t leave_one_small_job(Cluster& cluster) {
    cluster.edit().reservations.count = 0;
    cluster.edit().pending_order.count = 1;
    const auto slot = *SPUR_AT(std::uint32_t, cluster.view().pending_order, 0);
    auto& job = cluster.edit_pending(slot);
    spur_job_view small{};
    small.id = small.klass = job.id;
    small.priority = 1;
    small.association = small.qos = small.reservation = SPUR_NONE;
    small.partitions = job.partitions;
    small.array_tasks = small.min_nodes = small.max_nodes = 1;
    small.limit_s = 60;
    job = small;
    return slot;
}

bool reference_says_fits(const spur_cluster_view& view, std::uint32_t slot) {
    const auto partition = *SPUR_AT(std::uint32_t, SPUR_AT(spur_job_view, view.pending, slot)->partitions, 0);
    if (SPUR_AT(spur_partition_view, view.partitions, partition)->state != SPUR_PARTITION_UP) return false;
    const auto& ops = reference_select_ops();
    spur_select_cycle* cycle = nullptr;
    ops.begin(nullptr, &view, &cycle, nullptr);
    const spur_pick pick{sizeof(spur_pick), slot, partition, 0, {}, SPUR_PICK_TEST_ONLY, 0};
    const auto verdict = ops.pick(cycle, &pick, nullptr);
    ops.end(nullptr, cycle);
    return verdict == SPUR_FITS;
}

std::string works(const Subject& subject) {
    Bench bench(subject);
    for (auto seed = subject.seed; seed < subject.seed + 20; ++seed) {
        Dice dice(seed);
        Cluster cluster(dice, {.nodes = 4, .running = 0, .pending = 1, .exactly = true, .placement_rules = false});
        const auto slot = leave_one_small_job(cluster);
        if (!reference_says_fits(cluster.view(), slot)) continue;
        Plan plan(cluster.view());
        plan_into(bench.instance(), cluster.view(), plan);
        require(plan.fault().empty(), "{} (seed {})", plan.fault(), seed);
        require(plan.starts() == 1, "a job of one node alone in the queue of an idle cluster is not started (seed {})",
                seed);
    }
    bench.finish();
    return "";
}

std::string deterministic(const Subject& subject) {
    Bench first(subject), second(subject);
    for (unsigned i = 0; i < subject.clusters; ++i) {
        Dice dice(subject.seed + i), same(subject.seed + i);
        const Cluster cluster(dice, ordinary(first.instance())), copy(same, ordinary(first.instance()));
        Plan once(cluster.view()), again(cluster.view()), elsewhere(copy.view());
        plan_into(first.instance(), cluster.view(), once);
        plan_into(first.instance(), cluster.view(), again);
        require(once.text() == again.text(), "the same view gave two plans (seed {}):\n{}--- and ---\n{}",
                subject.seed + i, once.text(), again.text());
        if (i % 3 == 0) continue;  // so that the second instance has seen other views than the first
        plan_into(second.instance(), copy.view(), elsewhere);
        require(once.text() == elsewhere.text(),
                "two instances gave two plans for the same view (seed {}):\n{}--- and ---\n{}", subject.seed + i,
                once.text(), elsewhere.text());
    }
    first.finish();
    second.finish();
    return fmt::format("{} clusters", subject.clusters);
}

std::string stops(const Subject& subject) {
    constexpr auto patience = std::chrono::seconds(2);
    Bench bench(subject);
    Dice dice(subject.seed);
    auto wishes = ordinary(bench.instance());
    wishes.nodes = 500, wishes.running = 400, wishes.pending = 5000, wishes.exactly = true;
    const Cluster cluster(dice, wishes);
    for (const std::uint64_t at : {1, 2, 50}) {
        Plan plan(cluster.view(), {}, {}, at);
        const auto began = Clock::now();
        plan_into(bench.instance(), cluster.view(), plan);
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
        require(plan.fault().empty(), "{}", plan.fault());
        require(plan.questions() > 0, "plan() never asked sink->stopped() with 5,000 jobs in the queue");
        require(took < patience, "plan() went on for {}ms after sink->stopped() said so", took.count());
        require(plan.questions() < at + 1000, "plan() asked sink->stopped() {} more times after it had said so",
                plan.questions() - at);
    }
    bench.finish();
    return "";
}

std::string reads_no_clock(const Subject& subject) {
    Bench bench(subject);
    Dice dice(subject.seed);
    const Cluster cluster(dice, ordinary(bench.instance()));
    Plan plan(cluster.view());
    const auto before = counts().clock_reads;
    plan_into(bench.instance(), cluster.view(), plan);
    const auto reads = counts().clock_reads - before;
    require(reads == 0, "plan() read a clock {} times: view->now is the only clock", reads);
    require(bench.host().clock_calls() == 0, "uses spur.clock/1: view->now is the only clock a planner reads");
    bench.finish();
    return "";
}

std::string keeps_nothing(const Subject& subject) {
    constexpr int warm_up = 20, rounds = 200;
    Bench bench(subject);
    Dice dice(subject.seed);
    const Cluster cluster(dice, ordinary(bench.instance()));
    const auto round = [&] {
        Plan plan(cluster.view());
        plan_into(bench.instance(), cluster.view(), plan);
    };
    for (int i = 0; i < warm_up; ++i) round();
    const auto before = Footprint::now();
    for (int i = 0; i < rounds; ++i) round();
    before.expect_no_more_after(rounds);
    bench.finish();
    return fmt::format("{} cycles", rounds);
}

constexpr RequiredOp required[] = {{"plan", offsetof(spur_sched_ops, plan)}};
constexpr Case laws[] = {
    {"plan-sound", "a plan never oversubscribes, names only pending jobs, keeps to limits, reservations and licenses",
     &sound, 120},
    {"plan-works", "a job that fits on an idle cluster is started", &works},
    {"plan-deterministic", "the same view gives the same plan, whatever was planned before", &deterministic, 120},
    {"plan-stops", "plan() returns soon after it is told to stop", &stops, 120},
    {"plan-no-clock", "plan() reads no clock", &reads_no_clock},
    {"plan-no-leak", "200 cycles later no more memory is in use", &keeps_nothing},
};

}  // namespace

extern const Axis sched_axis;
const Axis sched_axis{"sched", "spurctld", SPUR_SCHED_IFACE, first_size<spur_sched_ops>, required, laws, &exercise};

}  // namespace spur::check
