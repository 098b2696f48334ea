// sched/actor: does on request what plugins should not. The option `act` says what, `when` says in which function.
#include <pthread.h>
#include <spur/plugin/sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#ifndef ACTOR_TYPE
#define ACTOR_TYPE "sched/actor"
#endif

namespace {

using namespace spur::plugin;

struct Actor {
    Actor(const spur_host* the_host, const spur_config* config)
        : host{the_host},
          log{the_host},
          metrics{the_host},
          act{option(config, "act").text},
          when{option(config, "when").text},
          depth{option(config, "depth").integer},
          window{option(config, "window").integer},
          cluster{host_fact(the_host, "cluster_name", "?")} {
        log.debug("created\nwith depth " + std::to_string(depth));
        plans = metrics.counter("plans_total", "calls of plan()");
    }
    const spur_host* host;
    Log log;
    Metrics metrics;
    std::string act, when;
    std::int64_t depth, window;
    std::string cluster;
    std::uint32_t plans;
    std::atomic<int> tasks{0};
};

[[gnu::noinline]] int overflow_stack(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    return depth < 0 ? 0 : overflow_stack(depth + 1) + room[0];
}

void leave_thread(Actor& actor) {
    const auto* const log = service<spur_log>(actor.host, SPUR_LOG_SERVICE);
    std::thread{[log] {
        for (int i = 0; i < 200; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            log->write(log, SPUR_LOG_DEBUG, str("still here"));
        }
    }}.detach();
}

void perform(Actor& actor, const char* now) {
    if (actor.when != now) return;
    const auto& act = actor.act;
    if (act == "throw") throw std::runtime_error("the actor threw");
    if (act == "throw_int") throw 42;
    if (act == "crash") *reinterpret_cast<volatile int*>(0x10) = 1;
    if (act == "divide") {
        volatile int one = 1, zero = 0;
        actor.depth = one / zero;
    }
    if (act == "abort") std::abort();
    if (act == "exit") std::exit(0);
    if (act == "overflow") overflow_stack(0);
    if (act == "leave_thread") leave_thread(actor);
    if (act == "exit_thread") std::thread{[] { std::exit(0); }}.join();
    if (act == "crash_thread") {
        std::thread{[] { *reinterpret_cast<volatile int*>(0x10) = 1; }}.join();
    }
    if (act == "umask") ::umask(0);
    if (act == "directory" && ::chdir("/proc") != 0) std::abort();
    if (act == "locale") std::setlocale(LC_ALL, "C.UTF-8");
    if (act == "rounding") std::fesetround(FE_UPWARD);
    if (act == "handler") ::signal(SIGSEGV, SIG_IGN);
    if (act == "user" && ::seteuid(65534) != 0) std::abort();
    if (act == "descriptor") ::close(STDIN_FILENO);
    if (act == "mask") {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    }
    if (act == "end_thread") ::pthread_exit(nullptr);
    if (act == "fork") ::fork();
    if (act == "flood")
        for (int i = 0; i < 3000; ++i) actor.log.debug("once more");
    if (act == "clock") {
        const auto* const clock = service<spur_clock>(actor.host, SPUR_CLOCK_SERVICE);
        clock->unix_ns(clock);
    }
    if (act == "notify") {
        const Notify notify{actor.host};
        for (const char* subject : {"a", "a", "b"})
            notify.changed(SPUR_CHANGED_PLAN, subject, "the moon rose\n\tover there");
        if (notify.changed(SPUR_CHANGED_PEERS, "", "nobody listens")) throw std::runtime_error("it was heard");
    }
    if (act == "store") {
        const Store store{actor.host};
        if (!store) return actor.log.debug("no store");
        const auto times = store.get("times").value_or("0");
        actor.log.debug("created " + times + " times before");
        store.put("times", std::to_string(std::stoi(times) + 1));
    }
    if (act == "task") {
        const auto* const executor = service<spur_executor>(actor.host, SPUR_EXECUTOR_SERVICE);
        const auto task = [](void* self) { static_cast<Actor*>(self)->tasks++; };
        for (int i = 0; i < 10; ++i) executor->post(executor, task, nullptr, &actor);
        executor->post_after(executor, 3'600'000'000'000, task, nullptr, &actor, nullptr);
    }
}

spur_status plan_with_sink(Actor& actor, const spur_cluster_view* view, const spur_selector* select,
                           const spur_plan_sink* sink) {
    if (actor.act == "spin")
        while (sink->stopped(sink) == 0) {
        }
    if (actor.act == "ignore_stop") {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{actor.depth};
        while (std::chrono::steady_clock::now() < end) {
        }
    }
    if (actor.act == "foreign_thread") std::thread{[&] { sink->start(sink, 0, 0, nullptr, 60); }}.join();
    if (actor.act == "select") {
        spur_select_cycle* cycle = nullptr;
        if (select->ops->begin(select->self, view, &cycle, nullptr) != SPUR_OK) return SPUR_E_INTERNAL;
        spur_pick pick{};
        pick.size = sizeof(pick);
        for (int i = 0; i < 10; ++i) select->ops->pick(cycle, &pick, nullptr);
        if (actor.depth != 99) select->ops->end(select->self, cycle);
    }
    if (actor.act == "start") {
        for (std::uint32_t i = 0; i < view->pending_order.count; ++i)
            sink->start(sink, *SPUR_AT(std::uint32_t, view->pending_order, i), 0, nullptr, 60);
    }
    if (actor.act == "start_then_crash") {
        sink->start(sink, 0, 0, nullptr, 60);
        *reinterpret_cast<volatile int*>(0x10) = 1;
    }
    return SPUR_OK;
}

spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                 const spur_plan_sink* sink, spur_error* err) {
    auto& actor = self_cast<Actor>(self);
    if (view == nullptr)
        return fail(err, 1,
                    actor.cluster + ", depth " + std::to_string(actor.depth) + ", window " +
                        std::to_string(actor.window) + ", tasks " + std::to_string(actor.tasks.load()));
    actor.metrics.add(actor.plans);
    perform(actor, "plan");
    if (actor.act == "fail") return fail(err, SPUR_E_IO, "the disk is on\nfire");
    if (actor.act == "fail_silently") return SPUR_E_BUSY;
    if (actor.act == "verdict") return 7;
    return sink == nullptr ? SPUR_OK : plan_with_sink(actor, view, select, sink);
}

spur_status make(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    // No guard for what is thrown on purpose: the host has to cope.
    const std::string act = option(config, "act").text, when = option(config, "when").text;
    if (when == "create" && act == "throw") throw std::runtime_error("the actor threw");
    if (when == "create" && act == "fail") return fail(err, SPUR_E_UNAVAILABLE, "no such hardware here");
    return guard(err, [&] {
        auto* const actor = new Actor{host, config};
        perform(*actor, "create");
        *out = as_plugin(actor);
        return SPUR_OK;
    });
}

void unmake(spur_plugin* self) {
    auto* const actor = reinterpret_cast<Actor*>(self);
    perform(*actor, "destroy");
    actor->log.debug("destroyed");
    delete actor;
}

constexpr spur_sched_ops ops{sizeof(spur_sched_ops), 0, 0, plan};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_SCHED_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"act", SPUR_OPTION_STRING, 0, "nothing", "what to do", nullptr, 0, 0},
    {"when", SPUR_OPTION_CHOICE, 0, "plan", "when to do it", "create|plan|destroy", 0, 0},
    {"depth", SPUR_OPTION_INT, 0, "10", "a number", nullptr, 0, 1'000'000},
    {"window", SPUR_OPTION_DURATION, 0, "1-00:00:00", "a duration", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_SCHED_IFACE, "spur.sched/7", nullptr};
constexpr spur_plugin_desc desc{sizeof(spur_plugin_desc),
                                0,
                                ACTOR_TYPE,
                                "2.5.0",
                                "tests",
                                "does what plugins should not",
                                options,
                                std::size(options),
                                sizeof(spur_option),
                                interfaces,
                                make,
                                unmake,
                                query};

}  // namespace

SPUR_PLUGIN(&desc)
