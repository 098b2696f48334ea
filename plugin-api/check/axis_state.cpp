// The laws of spur.state/1.
#include "case.hpp"
#include "instance.hpp"
#include "listener.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace spur::check {
namespace {

const spur_state_ops& ops_of(Instance& instance) { return instance.ops<spur_state_ops>(SPUR_STATE_IFACE); }

// Opens an instance once, with a listener that lives as long, and waits until it leads.
Listener& opened(Instance& instance, Shape shape = {}) {
    if (auto* listener = instance.companion<Listener>()) return *listener;
    auto& listener = instance.accompany(std::make_shared<Listener>(shape));
    ErrorBox err;
    doing("in open()");
    const Stopper stop(shape);
    expect_ok("open()", ops_of(instance).open(instance.self(), listener.get(), stop.get(), err.get()), err);
    doing("waiting to become the leader");
    listener.wait("it did not become the leader of a group of one", [&] { return listener.is_leader(); });
    return listener;
}

spur_status propose(Instance& instance, const std::vector<std::string>& bodies, std::uint64_t ticket) {
    std::vector<spur_state_entry> entries;
    for (const auto& body : bodies) entries.push_back({{body.data(), body.size()}, 0, 0});
    for (int tries = 0;; ++tries) {
        ErrorBox err;
        doing("in propose()");
        const auto status = ops_of(instance).propose(instance.self(), entries.data(),
                                                     static_cast<std::uint32_t>(entries.size()), ticket, err.get());
        if (status != SPUR_E_BUSY || tries == 2000) {
            if (status < 0) fail("propose() answered {}: {}", status, sentence_of("propose()", status, err));
            return status;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Proposes `bodies` one by one and returns when all have been acknowledged.
void commit_all(Instance& instance, Listener& listener, const std::vector<std::string>& bodies,
                std::uint64_t first_ticket) {
    for (std::size_t i = 0; i < bodies.size(); ++i)
        require(propose(instance, {bodies[i]}, first_ticket + i) == SPUR_OK,
                "propose() on the leader was not accepted");
    doing("waiting for outcomes");
    listener.wait("not every accepted proposal got an outcome",
                  [&] { return listener.has_outcomes(first_ticket, bodies.size()); });
    for (std::size_t i = 0; i < bodies.size(); ++i)
        require(listener.outcome(first_ticket + i) == SPUR_OK,
                "a proposal on a leader that kept its role ended with {}", listener.outcome(first_ticket + i));
    listener.judge();
}

std::vector<std::string> numbered(const char* word, int count) {
    std::vector<std::string> bodies;
    for (int i = 0; i < count; ++i)
        bodies.push_back(fmt::format("{} {} {}", word, i, std::string(static_cast<std::size_t>(i * 7 % 300), 'x')));
    bodies.push_back({});                                     // empty
    bodies.emplace_back("\0binary\0", 8);                     // any bytes
    bodies.push_back(std::string(200'000, 'L') + "the end");  // long
    return bodies;
}

void expect_same(const std::vector<std::string>& wanted, const std::vector<std::string>& found, const char* when) {
    require(found.size() >= wanted.size(), "{} of {} acknowledged entries are there {}", found.size(), wanted.size(),
            when);
    require(found.size() == wanted.size(), "{} entries are there {}, {} were proposed", found.size(), when,
            wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        require(found[i] == wanted[i], "entry {} is not what was proposed at that place, {}", i, when);
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    auto& listener = opened(instance, shape);
    static std::atomic<std::uint64_t> tickets = 1000;
    commit_all(instance, listener, {"one", "two", "three"}, tickets.fetch_add(3));
    const Output<spur_state_status> out(shape);
    ErrorBox err(shape);
    doing("in status()");
    expect_ok("status()", ops_of(instance).status(instance.self(), out.get(), err.get()), err);
    const auto status = out.read("status()");
    require(status.role == SPUR_STATE_LEADER, "status() says role {} of the leader", status.role);
    require(status.committed_index <= status.last_index, "status() says more is committed than there is");
}

std::string commits(const Subject& subject) {
    Bench bench(subject);
    auto& listener = opened(bench.instance());
    const auto bodies = numbered("single", 100);
    commit_all(bench.instance(), listener, bodies, 1);
    std::vector<std::string> batch;
    for (int i = 0; i < 50; ++i) batch.push_back(fmt::format("batch {}", i));
    require(propose(bench.instance(), batch, 9000) == SPUR_OK, "propose() of a batch was not accepted");
    listener.wait("a batch got no outcome", [&] { return listener.has_outcomes(9000, 1); });
    auto all = bodies;
    all.insert(all.end(), batch.begin(), batch.end());
    expect_same(all, listener.bodies(), "in committed()");
    listener.judge();
    bench.finish();
    return fmt::format("{} entries", all.size());
}

std::string crowded(const Subject& subject) {
    constexpr int threads = 6, each = 40;
    Bench bench(subject);
    auto& listener = opened(bench.instance());
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < threads; ++t)
            crowd.emplace_back([&, t] {
                for (int i = 0; i < each; ++i)
                    propose(bench.instance(), {fmt::format("{}-{}", t, i)}, static_cast<std::uint64_t>(t * 1000 + i));
            });
    }
    for (int t = 0; t < threads; ++t)
        listener.wait("not every accepted proposal got an outcome",
                      [&] { return listener.has_outcomes(static_cast<std::uint64_t>(t * 1000), each); });
    std::map<std::string, int> next;
    for (const auto& body : listener.bodies()) {
        const auto dash = body.find('-');
        require(std::stoi(body.substr(dash + 1)) == next[body.substr(0, dash)]++,
                "proposals of one thread were committed out of order");
    }
    require(listener.bodies().size() == threads * each, "{} entries committed, {} proposed", listener.bodies().size(),
            threads * each);
    listener.judge();
    bench.finish();
    return fmt::format("{} proposals from {} threads", threads * each, threads);
}

void skip_if_volatile(Instance& instance) {
    if ((ops_of(instance).features & SPUR_STATE_VOLATILE) != 0)
        skip("it says SPUR_STATE_VOLATILE: nothing outlives an instance");
}

std::string reopens(const Subject& subject) {
    const auto bodies = numbered("kept", 60);
    for (int round = 0; round < 3; ++round) {
        Bench bench(subject);
        skip_if_volatile(bench.instance());
        auto& listener = opened(bench.instance());
        if (round == 0) commit_all(bench.instance(), listener, bodies, 1);
        expect_same(bodies, listener.bodies(), "after destroy() and create()");
        listener.judge();
        bench.finish();
    }
    return fmt::format("{} entries, opened 3 times", bodies.size());
}

std::string survives_crash(const Subject& subject) {
    const auto bodies = numbered("crash", 60);
    const pid_t child = fork();
    if (child == 0) {
        int code = 1;
        try {
            Bench bench(subject);
            if ((ops_of(bench.instance()).features & SPUR_STATE_VOLATILE) != 0) _exit(2);
            commit_all(bench.instance(), opened(bench.instance()), bodies, 1);
            raise(SIGKILL);  // no destroy(), no flush of anything
        } catch (const Skipped&) {
            code = 2;
        } catch (const Failed& failed) {
            fmt::print(stderr, "{}\n", failed.text);
        }
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) skip("nothing outlives an instance, or it is unavailable here");
    require(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the process that was to be killed ended before that");
    Bench bench(subject);
    auto& listener = opened(bench.instance());
    expect_same(bodies, listener.bodies(), "after the process was killed");
    listener.judge();
    bench.finish();
    return fmt::format("{} entries", bodies.size());
}

std::string snapshots(const Subject& subject) {
    const auto before = numbered("before", 30), after = numbered("after", 20);
    const std::string snapshot = std::string(300'000, 'S') + "all of it";
    {
        Bench bench(subject);
        skip_if_volatile(bench.instance());
        auto& listener = opened(bench.instance());
        commit_all(bench.instance(), listener, before, 1);
        const auto index = listener.last_index();
        StringSource source(snapshot);
        ErrorBox err;
        doing("in snapshot()");
        const Stopper stop;
        expect_ok("snapshot()",
                  ops_of(bench.instance()).snapshot(bench.self(), index, source.get(), stop.get(), err.get()), err);
        commit_all(bench.instance(), listener, after, 5000);
        bench.finish();
    }
    Bench bench(subject);
    auto& listener = opened(bench.instance());
    require(listener.restored() == snapshot, "after a snapshot and reopen, restore() brings {} bytes, {} were stored",
            listener.restored().size(), snapshot.size());
    expect_same(after, listener.bodies(), "behind the snapshot after reopen");
    listener.judge();
    bench.finish();
    return "";
}

std::string stops(const Subject& subject) {
    {
        Bench bench(subject);
        skip_if_volatile(bench.instance());
        auto& listener = opened(bench.instance());
        commit_all(bench.instance(), listener, numbered("stopped", 20), 1);
        const std::string large(20'000'000, 'S');
        StringSource source(large);
        Stopper stop;
        stop.stop();
        ErrorBox err;
        doing("in snapshot() that was stopped");
        expect_stopped("snapshot()", stop, [&] {
            return ops_of(bench.instance())
                .snapshot(bench.self(), listener.last_index(), source.get(), stop.get(), err.get());
        });
        bench.finish();
    }
    {
        Bench bench(subject);
        auto& listener = bench.instance().accompany(std::make_shared<Listener>(Shape{}));
        Stopper stop;
        stop.stop();
        ErrorBox err;
        doing("in open() that was stopped");
        expect_stopped("open()", stop, [&] {
            return ops_of(bench.instance()).open(bench.self(), listener.get(), stop.get(), err.get());
        });
        bench.finish();
    }
    Bench bench(subject);
    auto& listener = opened(bench.instance());
    require(listener.bodies().size() == numbered("stopped", 20).size() || !listener.restored().empty(),
            "what was acknowledged is not there after open() and snapshot() had been stopped");
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"open", offsetof(spur_state_ops, open)},
                                   {"propose", offsetof(spur_state_ops, propose)},
                                   {"status", offsetof(spur_state_ops, status)},
                                   {"snapshot", offsetof(spur_state_ops, snapshot)}};
constexpr Case laws[] = {
    {"commits-in-order", "entries are reported committed once, in order, unchanged; each proposal gets one outcome",
     &commits},
    {"propose-threads", "proposals may come from several threads at once", &crowded},
    {"reopen", "what was acknowledged is there after destroy and create", &reopens},
    {"crash", "what was acknowledged is there after the process was killed", &survives_crash},
    {"snapshot", "a snapshot comes back after reopen, with only what came after it behind", &snapshots},
    {"stop", "open() and snapshot() return soon after they were stopped, and nothing is lost by it", &stops},
};

}  // namespace

extern const Axis state_axis;
const Axis state_axis{"state", "spurctld", SPUR_STATE_IFACE, first_size<spur_state_ops>, required, laws, &exercise};

}  // namespace spur::check
