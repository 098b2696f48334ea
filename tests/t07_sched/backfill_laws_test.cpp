// Laws of sched/backfill over random clusters and queues, through the loaded plugins. RapidCheck prints its seed when
// one is broken; RC_PARAMS="seed=..." repeats it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "sched_world.hpp"

namespace spur::test {
namespace {

std::uint32_t between(std::uint32_t low, std::uint32_t high) { return *rc::gen::inRange(low, high + 1); }
bool one_in(std::uint32_t n) { return between(1, n) == 1; }
std::string one_of(const std::vector<std::string>& all) { return *rc::gen::elementOf(all); }

struct Wishes {
    bool reservations = true, gpus = false;
    std::uint32_t most_nodes = 8;
};

void add_random_job(SchedWorld& world, const std::string& name, std::uint32_t nodes, const Wishes& wishes) {
    std::vector<Change> changes{width(between(1, nodes)), limit_s(60 * between(1, 30))};
    const auto limit_min = one_in(4) ? 60U : 0U;
    const auto cpus = between(1, 4), gpus = wishes.gpus && one_in(3) ? between(1, 2) : 0;
    const auto tasks = one_in(5) ? between(2, 3) : 1;
    const auto memory = between(1, 32) * 1024;
    const bool in_second = one_in(4), licensed = one_in(4), in_both = one_in(5);
    const auto reservation = wishes.reservations && one_in(6) ? 0U : SPUR_NONE;
    world.pending(name, [=](Work& work) {
        for (const auto& change : changes) change(work);
        auto& job = work.view;
        job.limit_min_s = limit_min;
        job.tasks = job.min_nodes;
        job.cpus_per_task = cpus;
        job.mem_per_node_mib = memory;
        job.array_tasks = tasks;
        job.reservation = reservation;
        if (gpus > 0) work.gres.push_back({0, 0, SPUR_GRES_PER_NODE, 0, gpus});
        if (in_second) work.partitions = {1};
        if (in_both) work.partitions = {1, 0};
        if (licensed) work.licenses.push_back({0, 1});
    });
}

std::uint32_t make_cluster(SchedWorld& world, const Wishes& wishes) {
    const auto nodes = between(1, wishes.most_nodes);
    world.nodes(nodes, 8, wishes.gpus ? 2 : 0).license(2);
    NodeSet all, some;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        all.insert(i);
        if (i == 0 || one_in(2)) some.insert(i);
    }
    world.partition(all).partition(some, [](auto& partition) { partition.tier = between(1, 2); });
    if (wishes.reservations) {
        const auto start = std::int64_t{60} * between(0, 20) - 300;
        world.reservation(start, start + 60 * between(1, 30), some);
    }
    return nodes;
}

std::string starts_of(const WorldPlan& plan) {
    std::string text;
    for (const auto& start : plan.starts) {
        text += start.job + ":" + std::to_string(start.limit_s);
        for (const auto node : start.nodes()) text += "," + std::to_string(node);
        text += "\n";
    }
    return text;
}

// Whole nodes: who starts behind a promised job is off its nodes in time.
void expect_no_delay(const SchedWorld& world, const WorldPlan& plan, const std::vector<std::string>& order) {
    const auto place = [&](const std::string& job) { return std::ranges::find(order, job) - order.begin(); };
    for (const auto& [promised, when] : plan.expected)
        for (const auto& start : plan.starts) {
            if (place(start.job) <= place(promised) || world.now + start.limit_s <= when.at) continue;
            for (const auto node : start.nodes()) RC_ASSERT(!when.nodes.contains(node));
        }
}

void run_for_a_while(SchedWorld& world, const Wishes& wishes, std::uint32_t nodes, bool whole_nodes) {
    std::vector<std::string> order;
    const auto steps = between(1, 8);
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (auto jobs = between(0, 5); jobs > 0; --jobs) {
            order.push_back("j" + std::to_string(order.size()));
            add_random_job(world, order.back(), nodes, wishes);
        }
        const auto fresh = world.fresh_plan(), again = world.fresh_plan();
        RC_ASSERT(fresh.text == again.text);
        const auto plan = world.plan();
        RC_ASSERT(starts_of(plan) == starts_of(fresh));  // what is kept between passes changes nothing
        if (whole_nodes) expect_no_delay(world, plan, order);
        world.carry_out(plan);
        RC_ASSERT(world.oversubscribed() == "");
        if (const auto names = world.running_names(); !names.empty() && one_in(2))
            world.end(names[between(0, static_cast<std::uint32_t>(names.size()) - 1)]);
        else
            world.advance(60 * between(1, 10));
    }
}

RC_GTEST_PROP(T07BackfillLaws, WholeNodesAndLicensesAreNeverGivenTwice, ()) {
    SchedWorld world(TestOptions{{"reserve", one_of({"1", "2", "32", "all"})}});
    const Wishes wishes;
    const auto nodes = make_cluster(world, wishes);
    run_for_a_while(world, wishes, nodes, false);
}

RC_GTEST_PROP(T07BackfillLaws, NoPromisedStartIsDelayedByWhoeverOvertakes, ()) {
    SchedWorld world(TestOptions{{"reserve", one_of({"1", "2", "32", "all"})}});
    const Wishes wishes{.reservations = false};
    const auto nodes = between(1, wishes.most_nodes);
    NodeSet all, some;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        all.insert(i);
        if (i == 0 || one_in(2)) some.insert(i);
    }
    world.nodes(nodes).license(2).partition(all).partition(some);
    run_for_a_while(world, wishes, nodes, true);
}

RC_GTEST_PROP(T07BackfillLaws, CoresMemoryAndGpusAreNeverGivenTwice, ()) {
    SchedWorld world(TestOptions{}, "select_gpu");
    const Wishes wishes{.gpus = true, .most_nodes = 5};
    const auto nodes = make_cluster(world, wishes);
    run_for_a_while(world, wishes, nodes, false);
}

RC_GTEST_PROP(T07BackfillLaws, AJobThatFitsTheEmptyClusterStartsUnderAnyStreamOfSmallerOnes, ()) {
    SchedWorld world(TestOptions{{"reserve", one_of({"1", "32"})}}, one_of({"select_linear", "select_gpu"}));
    const auto nodes = between(2, 6);
    world.nodes(nodes);
    std::uint32_t number = 0;
    const auto pour = [&] {
        for (auto jobs = between(1, 4); jobs > 0; --jobs)
            world.pending("s" + std::to_string(number++), width(between(1, nodes - 1)), limit_s(60 * between(1, 20)),
                          with([](auto& job) { job.flags |= SPUR_JOB_EXCLUSIVE; }));
    };
    pour();
    world.carry_out(world.plan());
    const auto jobs_before = world.waiting();
    world.pending("big", width(nodes), with([](auto& job) { job.flags |= SPUR_JOB_EXCLUSIVE; }));
    // Those in front of it have 20 minutes each at most, one after the other at worst, and time goes in steps of five.
    const auto patience = world.now + static_cast<std::int64_t>(jobs_before + 2) * 1600;
    while (!world.is_running("big")) {
        RC_ASSERT(world.now < patience);
        pour();
        world.carry_out(world.plan());
        if (!world.is_running("big")) world.advance(60 * between(1, 5));
    }
}

RC_GTEST_PROP(T07BackfillLaws, TheFrontStartsNoLaterThanItWasFirstPromised, ()) {
    SchedWorld world;
    const auto nodes = between(2, 6);
    world.nodes(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        if (one_in(2)) world.running("r" + std::to_string(i), {i}, until(60 * between(1, 20)));
    world.pending("front", width(nodes));
    std::uint32_t number = 0;
    auto plan = world.plan();
    if (plan.started("front")) return;
    const auto promised = plan.expected.at("front").at;
    while (!plan.started("front")) {
        world.carry_out(plan);
        world.pending("s" + std::to_string(number++), width(between(1, nodes)), limit_s(60 * between(1, 20)));
        world.advance(between(1, 60));
        plan = world.plan();
        RC_ASSERT(world.now <= promised + 60);
        if (plan.expected.contains("front"))  // told only when it is another than before
            RC_ASSERT(plan.expected.at("front").at <= std::max(promised, world.now + 1));
    }
}

// Whoever would have ended before the first promise is due, and fits beside what runs, does not wait.
RC_GTEST_PROP(T07BackfillLaws, NobodyWaitsWhoFitsAndIsInNobodysWay, ()) {
    SchedWorld world(TestOptions{{"reserve", one_of({"1", "32"})}}, one_of({"select_linear", "select_gpu"}));
    world.nodes(between(1, 6));
    std::map<std::string, std::uint32_t> limits;
    for (auto steps = between(1, 4); steps > 0; --steps) {
        for (auto jobs = between(1, 6); jobs > 0; --jobs) {
            const auto name = "j" + std::to_string(limits.size());
            const auto limit = limits[name] = one_in(3) ? 7200 : 600 * between(1, 2);
            const auto tasks = between(1, 40), cpus = between(1, 2), least = between(1, 2);
            const auto most = one_in(2) ? std::max(least, tasks) : SPUR_UNLIMITED;
            const auto memory = one_in(2) ? 1024U : 24 * 1024;
            world.pending(name, limit_s(limit), with([=](auto& job) {
                              job.min_nodes = least;
                              job.max_nodes = most;
                              job.tasks = std::max(tasks, least);
                              job.cpus_per_task = cpus;
                              job.mem_per_node_mib = memory;
                          }));
        }
        const auto plan = world.fresh_plan();
        world.carry_out(plan);
        auto due = std::int64_t{INT64_MAX};
        for (const auto& [job, when] : plan.expected) due = std::min(due, when.at);
        for (const auto& [job, limit] : limits)
            if (world.is_waiting(job) && world.now + limit <= due) RC_ASSERT(!world.fits_without(job, {}));
        world.advance(60 * between(1, 10));
    }
}

RC_GTEST_PROP(T07BackfillLaws, APreemptedSetLetsItsJobStartAndNoneOfItIsNeedless, ()) {
    SchedWorld world(TestOptions{}, one_of({"select_linear", "select_gpu"}));
    const auto nodes = between(1, 10);
    world.nodes(nodes).qos().qos({0});
    for (std::uint32_t i = 0; i < nodes;) {
        const auto wide = std::min(between(1, 3), nodes - i);
        NodeSet here;
        for (std::uint32_t k = 0; k < wide; ++k) here.insert(i + k);
        const bool firm = one_in(4);
        if (!one_in(5))
            world.running("r" + std::to_string(i), here, with([=](auto& job) {
                              job.qos = 0;
                              job.preempt_mode = firm ? SPUR_PREEMPT_OFF : SPUR_PREEMPT_REQUEUE;
                          }));
        i += wide;
    }
    world.pending("urgent", width(between(1, nodes)), with([](auto& job) { job.qos = 1; }));
    const auto plan = world.plan();
    if (plan.preemptions.empty()) return;
    const auto& victims = plan.preemptions.front().victims;
    RC_ASSERT(!plan.started("urgent"));
    RC_ASSERT(world.fits_without("urgent", victims));
    for (const auto spared : victims) {
        auto fewer = victims;
        std::erase(fewer, spared);
        RC_ASSERT(!world.fits_without("urgent", fewer));
    }
}

}  // namespace
}  // namespace spur::test
