// The signal handler. Everything it touches was prepared before: no allocation, no lock, no stdio.
#include "daemons/common/host/crash.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sysexits.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include "daemons/common/host/code_map.hpp"
#include "daemons/common/host/frame.hpp"

namespace spur::host {
namespace {

struct Caught {
    int number;
    const char* words;
};
constexpr std::array<Caught, 5> caught{{
    {SIGSEGV, "Segmentation fault"},
    {SIGBUS, "Bus error"},
    {SIGFPE, "Floating point exception"},
    {SIGILL, "Illegal instruction"},
    {SIGABRT, "Aborted"},
}};

std::array<char, 64> program{"spur"};
std::atomic<int> journal_fd{-1};
std::array<struct sigaction, caught.size()> before;
std::atomic<bool> is_installed{false};
std::atomic_flag is_reporting = ATOMIC_FLAG_INIT;

// A line built without the heap.
class Line {
public:
    Line& operator<<(const char* text) {
        while (text != nullptr && *text != '\0' && used_ < bytes_.size() - 1) bytes_[used_++] = *text++;
        return *this;
    }
    Line& operator<<(std::uint64_t number) {
        std::array<char, 24> digits{};
        std::to_chars(digits.data(), digits.data() + digits.size() - 1, number);
        return *this << digits.data();
    }
    void send(int fd) {
        bytes_[used_++] = '\n';
        [[maybe_unused]] const auto written = ::write(fd, bytes_.data(), used_);
    }

private:
    std::array<char, 512> bytes_{};
    std::size_t used_{};
};

std::uintptr_t instruction_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    return (void)machine, 0;
#endif
}

std::uintptr_t stack_of(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return machine.sp;
#else
    return (void)machine, 0;
#endif
}

// For a thread of a plugin's own that dies inside of a library: the nearest word on its stack that points into a plugin
// is almost surely a return address. The kernel does the reading, so a stack that ends early does no harm.
const char* find_owner_on_stack(std::uintptr_t at) {
    at &= ~std::uintptr_t{7};
    std::array<std::uintptr_t, 64> words{};
    for (int rounds = 0; rounds < 64; ++rounds, at += sizeof(words)) {
        const iovec ours{words.data(), sizeof(words)};
        const iovec theirs{reinterpret_cast<void*>(at), sizeof(words)};
        const auto got = ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0);
        if (got <= 0) return nullptr;
        for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(words[0]); ++i)
            if (const char* const owner = find_code_owner(words[i])) return owner;
    }
    return nullptr;
}

void journal(const char* plugin, const char* op, const char* cause) {
    const int fd = journal_fd.load();
    if (fd < 0) return;
    Line line;
    line << static_cast<std::uint64_t>(::time(nullptr)) << "\t" << plugin << "\t" << op << "\t" << cause;
    line.send(fd);
}

void report(const char* verb, const char* cause, const char* owner) {
    const Frame* const frame = Frame::top();
    Line line;
    line << program.data() << ": ";
    if (frame == nullptr && owner == nullptr) {
        line << verb << " outside of any plugin: " << cause;
        line.send(STDERR_FILENO);
        return;
    }
    const char* const plugin = owner != nullptr ? owner : frame->plugin();
    const char* const op = frame != nullptr ? frame->op() : "own_thread";
    line << "plugin " << plugin << " " << verb << " in ";
    if (frame == nullptr)
        line << "a thread of its own";
    else
        line << op;
    if (frame != nullptr && std::strcmp(plugin, frame->plugin()) != 0) line << " of " << frame->plugin();
    for (const Frame* with = frame; with != nullptr; with = with->outer()) {
        if (with->hint().noun == nullptr) continue;
        line << " (" << with->hint().noun << " " << with->hint().number << ")";
        break;
    }
    if (cause != nullptr) line << ": " << cause;
    if (is_written_over(plugin)) line << "; its file was written over while it was in use";
    line.send(STDERR_FILENO);
    journal(plugin, op, cause != nullptr ? cause : verb);
}

// Whose code was running: a plugin may crash inside of another one's call, or in a thread that no call is in.
const char* owner_of(const void* context) {
    if (const char* const owner = find_code_owner(instruction_of(context))) return owner;
    return Frame::top() != nullptr ? nullptr : find_owner_on_stack(stack_of(context));
}

void on_signal(int number, siginfo_t* info, void* context) {
    const int saved = errno;
    for (std::size_t i = 0; i < caught.size(); ++i) {
        if (caught[i].number != number) continue;
        if (!is_reporting.test_and_set()) report("crashed", caught[i].words, owner_of(context));
        ::sigaction(number, &before[i], nullptr);
    }
    // A fault happens again on return and meets what was there before us; a signal that was sent has to be sent again.
    if (info->si_code <= 0 && number != SIGABRT) ::raise(number);
    errno = saved;
}

void set_handler(int number, struct sigaction* old) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, old);
}

void on_exit() {
    const char* owner = nullptr;
    if (Frame::top() == nullptr) {
        if (::gettid() == ::getpid()) return;  // main is done
        owner = find_owner_on_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
        if (owner == nullptr) return;
    }
    if (is_reporting.test_and_set()) return;
    report("called exit()", nullptr, owner);
    ::_exit(EX_SOFTWARE);
}

struct SignalStack {
    static constexpr std::size_t size = 64U * 1024;
    void* memory{nullptr};
    bool tried{false};
    void arm() noexcept {
        tried = true;
        stack_t now{};
        if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0) return;  // someone gave it one
        void* const fresh =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (fresh == MAP_FAILED) return;
        const stack_t mine{fresh, 0, size};
        if (::sigaltstack(&mine, nullptr) == 0)
            memory = fresh;
        else
            ::munmap(fresh, size);
    }
    ~SignalStack() {
        if (memory == nullptr) return;
        const stack_t none{nullptr, SS_DISABLE, 0};
        ::sigaltstack(&none, nullptr);
        ::munmap(memory, size);
    }
};
thread_local SignalStack signal_stack;

}  // namespace

void arm_this_thread() noexcept {
    if (!signal_stack.tried) signal_stack.arm();
}

Result<void> install_crash_handler(const CrashOptions& options) {
    if (!options.journal.empty()) {
        const int fd = ::open(options.journal.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return fail(ErrorCode::denied, "the crash journal {} cannot be opened: {}", options.journal.native(),
                        std::strerror(errno));
        if (const int old = journal_fd.exchange(fd); old >= 0) ::close(old);
    }
    program.fill('\0');
    options.program.copy(program.data(), program.size() - 1);
    arm_this_thread();
    static const bool installed = [] {
        for (std::size_t i = 0; i < caught.size(); ++i) set_handler(caught[i].number, &before[i]);
        is_installed = true;
        return std::atexit(on_exit) == 0 && ::at_quick_exit(on_exit) == 0;
    }();
    return installed ? Result<void>{} : fail(ErrorCode::internal, "exit() cannot be watched");
}

bool restore_crash_handler() noexcept {
    if (!is_installed || is_reporting.test()) return false;
    bool changed = false;
    for (const auto& each : caught) {
        struct sigaction now {};
        if (::sigaction(each.number, nullptr, &now) != 0 || now.sa_sigaction == on_signal) continue;
        changed = true;
        set_handler(each.number, nullptr);
    }
    return changed;
}

std::filesystem::path crash_journal_in(const std::string& state_dir) {
    return state_dir.empty() ? std::filesystem::path{} : std::filesystem::path{state_dir} / "crashes.log";
}

std::vector<Crash> load_crash_journal(const std::filesystem::path& journal) {
    std::vector<Crash> crashes;
    std::ifstream file{journal};
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        Crash crash;
        std::string time;
        if (!std::getline(fields, time, '\t') || !std::getline(fields, crash.plugin, '\t') ||
            !std::getline(fields, crash.op, '\t'))
            continue;
        std::getline(fields, crash.cause);
        const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), crash.time);
        if (error == std::errc{} && end == time.data() + time.size()) crashes.push_back(std::move(crash));
    }
    return crashes;
}

bool is_quarantined(const std::vector<Crash>& crashes, std::string_view plugin, std::int64_t file_written,
                    std::int64_t now) {
    std::vector<std::int64_t> times;
    for (const auto& crash : crashes)
        if (crash.plugin == plugin && crash.time >= file_written && now - crash.time < quarantine_lasts_s)
            times.push_back(crash.time);
    std::ranges::sort(times);
    for (std::size_t i = quarantine_crashes - 1; i < times.size(); ++i)
        if (times[i] - times[i - (quarantine_crashes - 1)] <= quarantine_window_s) return true;
    return false;
}

}  // namespace spur::host
