// The laws of spur.cgroup/1, tried with real processes.
#include "case.hpp"
#include "counters.hpp"
#include "instance.hpp"

#include <spur/plugin/cgroup.h>

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

namespace spur::check {

namespace {

using namespace std::chrono_literals;

const spur_cgroup_ops& ops_of(Instance& instance) { return instance.ops<spur_cgroup_ops>(SPUR_CGROUP_IFACE); }

spur_cgroup_scope scope_of(std::uint32_t step) {
    spur_cgroup_scope scope{};
    scope.size = sizeof scope;
    scope.job = 3'000'000'000u + static_cast<std::uint32_t>(getpid());  // no real job's
    scope.step = step;
    scope.task = SPUR_NONE;
    scope.attempt = 1;
    return scope;
}

spur_cgroup_limits no_limits() {
    spur_cgroup_limits limits{};
    limits.size = sizeof limits;
    return limits;
}

// The host is patient here: a case that takes too long fails as a whole.
const spur_stop* never() {
    static const spur_stop stop{sizeof(spur_stop), -1, INT64_MAX, nullptr,
                                [](const spur_stop*) -> std::uint32_t { return 0; }};
    return &stop;
}

std::size_t count_threads() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
}

// Runs `body` in a child of fork() and answers with what it returned; a crash is a failure.
template <class Body>
int in_child(const char* what, Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    waitpid(child, &status, 0);
    require(WIFEXITED(status), "{} in a child of fork() ends with signal {}", what, WTERMSIG(status));
    return WEXITSTATUS(status);
}

// A process with a child of its own, both counting as fast as they are let.
class Family {
public:
    Family() {
        count_ = static_cast<std::atomic<std::uint64_t>*>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        pid_ = fork();
        if (pid_ != 0) return;
        for (;;) {
            if (const auto said = count_[2].load(); said != 0 && count_[3].load() == 0) {
                const pid_t child = fork();  // after attaching, so that it is born inside
                if (child != 0) count_[3] = static_cast<std::uint64_t>(child);
            }
            count_[0].fetch_add(1);
            usleep(500);
        }
    }
    ~Family() {
        kill(pid_, SIGKILL);
        if (child() > 0) kill(child(), SIGKILL);
        waitpid(pid_, nullptr, 0);
        munmap(count_, 4096);
    }
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    pid_t pid() const { return pid_; }
    pid_t child() const { return static_cast<pid_t>(count_[3].load()); }
    std::uint64_t count() const { return count_[0].load(); }
    void multiply() {
        count_[2] = 1;
        for (const auto end = std::chrono::steady_clock::now() + 5s; child() == 0;) {
            require(std::chrono::steady_clock::now() < end, "the test process could not fork inside its scope");
            std::this_thread::sleep_for(1ms);
        }
    }
    bool lives() const { return kill(pid_, 0) == 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }
    bool child_lives() const { return child() > 0 && kill(child(), 0) == 0; }

private:
    std::atomic<std::uint64_t>* count_;  // [0] ticks, [2] "have a child", [3] its pid
    pid_t pid_;
};

template <class Done>
void eventually(const char* otherwise, Done done) {
    for (const auto end = std::chrono::steady_clock::now() + 5s; !done();) {
        require(std::chrono::steady_clock::now() < end, "{} (within 5s)", otherwise);
        std::this_thread::sleep_for(2ms);
    }
}

// One scope of one instance, removed at the end.
class Scope {
public:
    Scope(Instance& instance, std::uint32_t step)
        : ops_(ops_of(instance)), self_(instance.self()), scope_(scope_of(step)) {
        make();
    }
    ~Scope() {
        ErrorBox err;
        ops_.signal(self_, &scope_, SIGKILL, never(), err.get());
        for (int i = 0; i < 500 && ops_.remove(self_, &scope_, err.get()) == SPUR_E_BUSY; ++i)
            std::this_thread::sleep_for(2ms);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    void make(const spur_cgroup_limits& limits = no_limits()) {
        call("make()", [&](auto* err) { return ops_.make(self_, &scope_, &limits, err); });
    }
    void attach(pid_t pid) {
        call("attach()", [&](auto* err) { return ops_.attach(self_, &scope_, pid, err); });
    }
    void freeze(bool frozen) {
        call("freeze()", [&](auto* err) { return ops_.freeze(self_, &scope_, frozen, never(), err); });
    }
    void signal(int number) {
        call("signal()", [&](auto* err) { return ops_.signal(self_, &scope_, number, never(), err); });
    }
    std::vector<pid_t> processes() {
        std::vector<pid_t> all;
        call("processes()", [&](auto* err) {
            return ops_.processes(
                self_, &scope_, &all,
                [](void* context, std::int32_t pid) { static_cast<std::vector<pid_t>*>(context)->push_back(pid); },
                err);
        });
        return all;
    }
    spur_cgroup_usage usage() {
        const Output<spur_cgroup_usage> usage;
        call("usage()", [&](auto* err) { return ops_.usage(self_, &scope_, usage.get(), err); });
        return usage.read("usage()");
    }
    spur_cgroup_events events(int fd) {
        const Output<spur_cgroup_events> events;
        call("events()", [&](auto* err) { return ops_.events(self_, &scope_, fd, events.get(), err); });
        return events.read("events()");
    }
    // Of an op that makes a descriptor.
    int open(const char* name, decltype(spur_cgroup_ops::open) op) {
        std::int32_t fd = -1;
        call(name, [&](auto* err) { return op(self_, &scope_, &fd, err); });
        require(fcntl(fd, F_GETFD) >= 0, "{} succeeds without a descriptor", name);
        return fd;
    }
    const spur_cgroup_scope* get() const { return &scope_; }
    spur_status remove() {
        ErrorBox err;
        doing("in remove()");
        return ops_.remove(self_, &scope_, err.get());
    }

private:
    template <class Call>
    void call(const char* name, Call body) {
        ErrorBox err;
        doing(fmt::format("in {}", name));
        expect_ok(name, body(err.get()), err);
    }
    const spur_cgroup_ops& ops_;
    spur_plugin* self_;
    spur_cgroup_scope scope_;
};

void need(Instance& instance, std::uint32_t capability, const char* name) {
    if ((ops_of(instance).capabilities(instance.self()) & capability) == 0)
        skip("{} is not among its capabilities here", name);
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    Memory memory(shape);
    const auto& ops = ops_of(instance);
    const auto* scope = memory.one(scope_of(7));
    const auto* limits = memory.one(no_limits());
    ErrorBox err(shape);
    const bool contains = (ops.capabilities(instance.self()) & SPUR_CGROUP_CONTAINS) != 0;
    doing("in make()");
    expect_ok("make()", ops.make(instance.self(), scope, limits, err.get()), err);
    doing("in usage()");
    const Output<spur_cgroup_usage> usage(shape);
    const auto status = ops.usage(instance.self(), scope, usage.get(), err.get());
    if (contains && status != SPUR_E_UNSUPPORTED) expect_ok("usage()", status, err);  // else there is nothing to count
    usage.read("usage()");
    doing("in remove()");
    expect_ok("remove()", ops.remove(instance.self(), scope, err.get()), err);
}

std::string makes_and_removes(const Subject& subject) {
    Bench bench(subject);
    Scope scope(bench.instance(), 0);
    scope.make();  // the same again
    require(scope.processes().empty() || scope.usage().processes == scope.processes().size(),
            "usage() and processes() count differently");
    require(scope.remove() == SPUR_OK, "remove() of an empty scope fails");
    require(scope.remove() == SPUR_OK, "remove() of a scope that does not exist fails: it is fine");
    return "";
}

std::string contains(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    Family family;
    Scope scope(bench.instance(), 1);
    scope.attach(family.pid());
    family.multiply();
    const auto inside = scope.processes();
    require(std::ranges::count(inside, family.pid()) == 1, "processes() does not name the process that was attached");
    require(std::ranges::count(inside, family.child()) == 1,
            "processes() does not name the child of the process that was attached");
    require(scope.usage().processes >= 2, "usage() counts {} processes, 2 are there", scope.usage().processes);
    require(scope.remove() == SPUR_E_BUSY, "remove() of a scope with processes is not SPUR_E_BUSY");
    scope.signal(SIGKILL);
    require(scope.processes().empty(), "processes() names some that live after signal(SIGKILL) has returned");
    eventually("a process outlives signal(SIGKILL)", [&] { return !family.lives(); });
    eventually("a child outlives signal(SIGKILL)", [&] { return !family.child_lives() || scope.processes().empty(); });
    eventually("remove() stays busy after all processes were killed", [&] { return scope.remove() == SPUR_OK; });
    return "";
}

std::string freezes(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_FREEZES, "SPUR_CGROUP_FREEZES");
    Family family;
    Scope scope(bench.instance(), 2);
    scope.attach(family.pid());
    eventually("the test process does not run", [&] { return family.count() > 3; });
    scope.freeze(true);
    const auto before = family.count();
    std::this_thread::sleep_for(50ms);
    require(family.count() <= before + 1, "a frozen process runs");
    scope.freeze(false);
    eventually("a process does not run again after freeze(0)", [&] { return family.count() > before + 3; });
    return "";
}

std::string attaches_itself(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    Scope scope(bench.instance(), 3);
    const pid_t child = fork();
    if (child == 0) {  // as between fork and exec
        scope.attach(0);
        for (;;) pause();
    }
    eventually("attach(0) in a child does not move it",
               [&] { return std::ranges::count(scope.processes(), child) == 1; });
    scope.signal(SIGKILL);
    waitpid(child, nullptr, 0);
    return "";
}

// attach(0) as between fork and exec: what it allocates there may wait for a lock that nobody will ever give back.
std::string attaches_without_allocating(const Subject& subject) {
    Bench bench(subject);
    auto& instance = bench.instance();
    const auto& ops = ops_of(instance);
    Scope scope(instance, 6);
    const auto stranger = scope_of(4'000'000);  // which nobody has made
    const auto attach = [&](const spur_cgroup_scope* into) {
        return in_child("attach(0)", [&] {
            spur_error error{sizeof(spur_error), SPUR_OK, {}};
            const auto before = counts().allocations;
            ops.attach(instance.self(), into, 0, &error);
            return counts().allocations == before ? 0 : 1;
        });
    };
    doing("in attach()");
    require(attach(scope.get()) == 0, "attach(0) allocates memory: it must be async-signal-safe");
    require(attach(&stranger) == 0, "attach(0) allocates memory when it fails: it must be async-signal-safe");
    return "";
}

// The step daemon makes one instance and forks itself for every step.
std::string survives_fork(const Subject& subject) {
    const auto threads = count_threads();
    Bench bench(subject);
    auto& instance = bench.instance();
    require(count_threads() == threads, "create() leaves {} threads behind: instances are forked and hold none",
            count_threads() - threads);
    const auto& ops = ops_of(instance);
    const auto scope = scope_of(8);
    const auto limits = no_limits();
    const int failed = in_child("make(), attach(), usage() or remove()", [&] {
        spur_error error{sizeof(spur_error), SPUR_OK, {}};
        if (ops.make(instance.self(), &scope, &limits, &error) != SPUR_OK) return 1;
        if (count_threads() != 1) return 2;
        const pid_t child = fork();
        if (child == 0) _exit(ops.attach(instance.self(), &scope, 0, &error) == SPUR_OK ? 0 : 1);
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) return 3;
        return ops.remove(instance.self(), &scope, &error) == SPUR_OK ? 0 : 4;
    });
    constexpr const char* what[] = {"", "make()", "", "attach()", "remove()"};
    require(failed != 2, "make() leaves a thread behind: instances are forked and hold none");
    require(failed == 0, "{} fails in a child of fork(), which is how the step daemon uses it", what[failed]);
    return "";
}

// How many processes can be had inside at once, up to ten.
int breed(Scope& scope) {
    return in_child("attach(0)", [&] {
        scope.attach(0);
        int count = 1;
        std::vector<pid_t> children;
        for (pid_t child; count < 10 && (child = fork()) >= 0; ++count) {
            if (child == 0) {
                pause();
                _exit(0);
            }
            children.push_back(child);
        }
        for (const auto child : children) kill(child, SIGKILL);
        for (const auto child : children) waitpid(child, nullptr, 0);
        return count;
    });
}

std::string leaves_limits_alone(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    need(bench.instance(), SPUR_CGROUP_PROCESSES, "SPUR_CGROUP_PROCESSES");
    Scope scope(bench.instance(), 9);
    auto limits = no_limits();
    limits.processes = {SPUR_LIMIT_AT, 0, 4};
    scope.make(limits);
    require(breed(scope) == 4, "a limit of 4 processes lets {} live", breed(scope));
    scope.make(no_limits());
    require(breed(scope) == 4, "a limit does not stay as it was when it is left alone");
    limits.processes = {SPUR_LIMIT_NONE, 0, 0};
    scope.make(limits);
    require(breed(scope) == 10, "a limit is not taken away by SPUR_LIMIT_NONE");
    return "";
}

std::string opens(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    const auto& ops = ops_of(bench.instance());
    if (!SPUR_CAN(spur_cgroup_ops, &ops, open)) skip("open() is not there: children attach themselves");
    Scope scope(bench.instance(), 10);
    const int door = scope.open("open()", ops.open);
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(door);
    const auto child = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
    if (child == 0)
        for (;;) pause();
    const int error = errno;
    close(door);
    if (child < 0 && (error == ENOSYS || error == EINVAL || error == E2BIG))
        skip("this kernel has no CLONE_INTO_CGROUP");
    require(child > 0, "clone3() does not take the descriptor of open(): {}", strerror(error));
    const auto inside = scope.processes();
    scope.signal(SIGKILL);
    waitpid(child, nullptr, 0);
    require(std::ranges::count(inside, child) == 1,
            "a process that was born into the descriptor of open() is not inside");
    return "";
}

std::string tells(const Subject& subject) {
    Bench bench(subject);
    need(bench.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    const auto& ops = ops_of(bench.instance());
    if (!SPUR_CAN(spur_cgroup_ops, &ops, watch)) skip("watch() is not there: the host asks at the end");
    require(SPUR_CAN(spur_cgroup_ops, &ops, events), "watch() is there and events() is not");
    Family family;
    Scope scope(bench.instance(), 11);
    const int watch = scope.open("watch()", ops.watch);
    const auto has_news = [&] {
        pollfd wait{watch, POLLIN, 0};
        return poll(&wait, 1, 0) > 0;
    };
    require(scope.events(watch).populated == 0, "a scope is populated before a process has entered it");
    scope.attach(family.pid());
    eventually("watch() does not tell that a process has entered", has_news);
    require(scope.events(watch).populated == 1, "events() does not say that a process is inside");
    require(!has_news(), "the descriptor of watch() stays readable after events()");
    scope.signal(SIGKILL);
    eventually("watch() does not tell that the last process has gone", has_news);
    require(scope.events(watch).populated == 0, "events() does not say that the last process has gone");
    close(watch);
    return "";
}

std::string found_again(const Subject& subject) {
    Bench first(subject);
    need(first.instance(), SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    Family family;
    Scope scope(first.instance(), 4);
    scope.attach(family.pid());
    Bench second(subject);  // as a restarted spurd
    Scope same(second.instance(), 4);
    require(std::ranges::count(same.processes(), family.pid()) == 1,
            "another instance does not find the processes of the scope by its name");
    same.signal(SIGKILL);
    eventually("another instance's signal(SIGKILL) does not reach them", [&] { return !family.lives(); });
    return "";
}

std::string lists(const Subject& subject) {
    Bench bench(subject);
    auto& instance = bench.instance();
    need(instance, SPUR_CGROUP_CONTAINS, "SPUR_CGROUP_CONTAINS");
    const auto& ops = ops_of(instance);
    if (!SPUR_CAN(spur_cgroup_ops, &ops, scopes)) skip("scopes() is not there: an older plugin");
    const auto count = [&] {
        std::size_t found = 0;
        ErrorBox err;
        doing("in scopes()");
        const auto each = [](void* context, const spur_cgroup_scope* scope) {
            const auto mine = scope_of(5);
            if (scope->job == mine.job && scope->step == mine.step) ++*static_cast<std::size_t*>(context);
        };
        expect_ok("scopes()", ops.scopes(instance.self(), &found, each, err.get()), err);
        return found;
    };
    Scope scope(instance, 5);
    require(count() == 1, "scopes() names a scope that is there {} times", count());
    require(scope.remove() == SPUR_OK, "remove() of an empty scope fails");
    require(count() == 0, "scopes() names a scope that has been removed");
    return "";
}

// The worker-thread role: steps come and go side by side.
std::string overlaps(const Subject& subject) {
    constexpr std::uint32_t threads = 4, rounds = 50;
    Bench bench(subject);
    std::array<std::string, threads> failures;
    {
        std::vector<std::jthread> workers;
        for (std::uint32_t t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                try {
                    for (std::uint32_t i = 0; i < rounds; ++i) {
                        Scope scope(bench.instance(), 100 + t);
                        const auto inside = scope.processes();
                        require(inside.empty(), "a scope that was just made has {} processes", inside.size());
                        require(scope.remove() == SPUR_OK, "remove() of an empty scope fails");
                    }
                } catch (const Failed& failed) {
                    failures[t] = failed.text;
                } catch (const Skipped&) {  // as it would be alone
                }
            });
    }
    for (const auto& failure : failures) require(failure.empty(), "calls that overlap: {}", failure);
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {
    {"capabilities", offsetof(spur_cgroup_ops, capabilities)},
    {"make", offsetof(spur_cgroup_ops, make)},
    {"attach", offsetof(spur_cgroup_ops, attach)},
    {"signal", offsetof(spur_cgroup_ops, signal)},
    {"usage", offsetof(spur_cgroup_ops, usage)},
    {"processes", offsetof(spur_cgroup_ops, processes)},
    {"remove", offsetof(spur_cgroup_ops, remove)},
};
constexpr Case laws[] = {
    {"make-remove", "a scope can be made twice and removed twice", &makes_and_removes},
    {"contains", "children are inside, signal reaches all, remove waits for them", &contains},
    {"freeze", "frozen processes do not run, thawed ones do", &freezes},
    {"attach-self", "attach(0) works between fork and exec", &attaches_itself},
    {"attach-safe", "attach(0) allocates nothing", &attaches_without_allocating},
    {"fork", "an instance holds no threads and works in a child of fork()", &survives_fork},
    {"limits", "a limit is set, left alone and taken away", &leaves_limits_alone},
    {"open", "a process can be born into a scope", &opens},
    {"events", "watch() tells when a scope fills and when it is empty", &tells},
    {"found-again", "a scope is found again by its name", &found_again},
    {"overlap", "calls about different scopes may overlap", &overlaps},
    {"list", "scopes() names what is there", &lists},
};

}  // namespace

extern const Axis cgroup_axis;
const Axis cgroup_axis{"cgroup", "spurd", SPUR_CGROUP_IFACE, first_size<spur_cgroup_ops>, required, laws, &exercise};

}  // namespace spur::check
