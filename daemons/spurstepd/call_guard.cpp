// A jump out of the signal that a crash raises, or that a timer sends when a call takes too long. What the plugin held is lost with
// the call, which is why it is never called again.
#include "daemons/spurstepd/call_guard.hpp"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

#include "daemons/common/host/ops_table.hpp"

namespace spur::step {

namespace {

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
constexpr int too_long = SIGALRM;

struct Way {
    sigjmp_buf back;
    pid_t process, thread;
};
Way* volatile way_out = nullptr;  // of the call in progress

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

extern "C" void leave(int signal) {
    Way* const way = way_out;
    // A child of the plugin's, or another thread, ends as it would without us.
    if (way != nullptr && way->process == getpid() && way->thread == this_thread()) {
        way_out = nullptr;
        siglongjmp(way->back, signal);
    }
    if (signal == too_long) return;
    std::signal(signal, SIG_DFL);
    raise(signal);
}

// Once in the zygote; what it forks has the same. A stack of its own, for a plugin that has used up the usual one.
void install() {
    static bool installed = false;
    if (std::exchange(installed, true)) return;
    static char stack[64 * 1024];
    const stack_t own{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    sigaltstack(&own, nullptr);
    struct sigaction action {};
    action.sa_handler = leave;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (const int signal : crashes) sigaction(signal, &action, nullptr);
    sigaction(too_long, &action, nullptr);
}

// Sends to this thread only. Timers are not inherited by a fork.
timer_t timer() {
    static pid_t owner = 0;
    static timer_t one{};
    if (std::exchange(owner, getpid()) == getpid()) return one;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = too_long;
    event._sigev_un._tid = this_thread();
    if (timer_create(CLOCK_MONOTONIC, &event, &one) != 0) owner = 0;
    return one;
}

void set_timer(std::chrono::milliseconds patience) {
    itimerspec time{};
    time.it_value.tv_sec = patience.count() / 1000;
    time.it_value.tv_nsec = patience.count() % 1000 * 1'000'000;
    timer_settime(timer(), 0, &time, nullptr);
}

}  // namespace

CallGuard::CallGuard(std::string type, std::chrono::milliseconds patience)
    : type_{std::move(type)}, patience_{patience} {
    install();
}

void CallGuard::note(const char* op, int signal) {
    broken_ = signal == too_long ? fmt::format("plugin {} did not come back from {}() within {} ms", type_, op,
                                               patience_.count())
                                 : fmt::format("plugin {} crashed in {}() ({})", type_, op, strsignal(signal));
}

std::string CallGuard::run(const char* op, void (*call)(void*), void* context) {
    if (!broken_.empty()) return broken_;
    Way way;
    way.process = getpid();
    way.thread = this_thread();
    const int signal = sigsetjmp(way.back, 0);
    if (signal != 0) {
        set_timer({});
        note(op, signal);
        return broken_;
    }
    way_out = &way;
    set_timer(patience_);
    std::string thrown;
    try {
        call(context);
    } catch (...) {
        thrown = host::thrown_out_of(type_, op).text;
    }
    way_out = nullptr;
    set_timer({});
    return thrown;
}

}  // namespace spur::step
