// The child that opens a plugin file, and the parent that outlives it.
#include "daemons/common/host/probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "daemons/common/host/library.hpp"
#include "daemons/common/host/module_codec.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false;  // sanitizers reserve terabytes of address space
#else
constexpr bool limits_memory = true;
#endif

constexpr char is_error = 'E', is_module = 'M';
constexpr std::size_t longest_answer = std::size_t{4} << 20;

// ---- in the child --------------------------------------------------------------------------------------------------

void limit(int resource, std::uint64_t most) {
    rlimit both{};
    ::getrlimit(static_cast<__rlimit_resource_t>(resource), &both);
    both.rlim_cur = std::min<rlim_t>(most, both.rlim_max);
    both.rlim_max = both.rlim_cur;
    ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

std::uint64_t mapped_bytes() {
    std::uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Nothing of this process is left to the foreign code: no descriptor, no handler, no terminal, little memory and time.
int lock_in(int pipe, const ProbeOptions& options) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(nothing, fd);
    constexpr int answer = 3;
    if (pipe != answer) ::dup2(pipe, answer);
    ::syscall(SYS_close_range, answer + 1, ~0U, 0);
    ::fcntl(answer, F_SETFD, FD_CLOEXEC);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(options.timeout).count()) + 1);
    if (limits_memory) limit(RLIMIT_AS, mapped_bytes() + options.memory_bytes);
    return answer;
}

void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::write(fd, bytes.data(), bytes.size());
        if (sent <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

[[noreturn]] void run_child(int pipe, const fs::path& file, const ProbeOptions& options) {
    const int answer = lock_in(pipe, options);
    LoadOptions load;
    load.program = "Spur";
    load.check_owner = options.check_owner;
    load.user = ::geteuid();
    const auto library = load_library(file, load);
    const auto body = library ? encode_module((*library)->info) : library.error().text;
    const std::uint64_t size = body.size();
    std::string message{library ? is_module : is_error};
    message.append(reinterpret_cast<const char*>(&size), sizeof(size));
    if (!library) message += static_cast<char>(library.error().code);
    send_all(answer, message + body);
    ::_exit(0);
}

// ---- in the parent -------------------------------------------------------------------------------------------------

// Everything the child sent before it closed the pipe, sent enough, or ran out of time.
struct Received {
    std::string bytes;
    bool timed_out{false};

    std::size_t expected() const {  // with the header; 0: not known yet
        std::uint64_t size = 0;
        if (bytes.size() < 1 + sizeof(size)) return 0;
        std::memcpy(&size, bytes.data() + 1, sizeof(size));
        return 1 + sizeof(size) + (bytes[0] == is_error ? 1 : 0) +
               static_cast<std::size_t>(std::min<std::uint64_t>(size, longest_answer));
    }
    bool is_complete() const { return expected() != 0 && bytes.size() >= expected(); }
    std::string_view body() const { return std::string_view{bytes}.substr(1 + sizeof(std::uint64_t)); }
};

Received receive(int fd, Clock::time_point deadline) {
    Received received;
    std::array<char, 16'384> buffer{};
    while (!received.is_complete() && received.bytes.size() <= longest_answer) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd waiting{fd, POLLIN, 0};
        const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            received.timed_out = true;
            break;
        }
        const auto got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        received.bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return received;
}

Result<ModuleInfo> judge(const fs::path& file, const Received& received, int status, const ProbeOptions& options) {
    const auto name = file.native();
    if (received.is_complete()) {
        if (received.bytes[0] == is_module)
            if (auto module = decode_module(received.body())) return *std::move(module);
        if (received.bytes[0] == is_error)
            return std::unexpected(
                Error{static_cast<ErrorCode>(received.body()[0]), std::string{received.body().substr(1)}});
    }
    if (received.timed_out)
        return fail(ErrorCode::invalid, "plugin file {} refused: it did not finish loading within {} s", name,
                    static_cast<double>(options.timeout.count()) / 1000);
    if (WIFSIGNALED(status))
        return fail(ErrorCode::invalid, "plugin file {} refused: it crashed while it was loaded: {}{}", name,
                    ::strsignal(WTERMSIG(status)),
                    WTERMSIG(status) == SIGABRT
                        ? fmt::format(", or it wanted more than {} MiB of memory", options.memory_bytes >> 20)
                        : "");
    if (WIFEXITED(status) && received.bytes.empty())
        return fail(ErrorCode::invalid, "plugin file {} refused: it called exit({}) while it was loaded", name,
                    WEXITSTATUS(status));
    return fail(ErrorCode::corrupt,
                "plugin file {} refused: it wrote into a descriptor that is not its own while it was loaded", name);
}

}  // namespace

Result<ModuleInfo> probe(const fs::path& file, const ProbeOptions& options) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return fail(ErrorCode::internal, "cannot make a pipe: {}", std::strerror(errno));
    const auto deadline = Clock::now() + options.timeout;
    const pid_t child = ::fork();
    if (child == 0) run_child(ends[1], file, options);
    ::close(ends[1]);
    if (child < 0) {
        ::close(ends[0]);
        return fail(ErrorCode::internal, "cannot start a process to look into {}: {}", file.native(),
                    std::strerror(errno));
    }
    const auto received = receive(ends[0], deadline);
    ::close(ends[0]);
    // Gone by itself, or not to be waited for any longer; and with it whatever it started. WNOWAIT keeps the number
    // taken until the group has been told.
    if (received.timed_out || received.is_complete()) ::kill(child, SIGKILL);
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return judge(file, received, status, options);
}

std::vector<Found> probe_all(const std::vector<fs::path>& dirs, const ProbeOptions& options) {
    std::vector<Found> found;
    std::set<fs::path> names;
    for (const auto& dir : dirs) {
        std::error_code error;
        std::set<fs::path> files;  // in the order of their names
        for (fs::directory_iterator entry{dir, error}, end; !error && entry != end; entry.increment(error)) {
            const auto name = entry->path().filename().native();
            if (name.ends_with(".so") && name.find('_') != std::string::npos && name[0] != '.')
                files.insert(entry->path());
        }
        if (error && error != std::errc::no_such_file_or_directory)
            found.push_back(
                {dir, false,
                 fail(ErrorCode::denied, "plugin directory {} cannot be read: {}", dir.native(), error.message())});
        for (const auto& file : files) {
            const bool is_first = names.insert(file.filename()).second;
            found.push_back({file, !is_first, probe(file, options)});
        }
    }
    return found;
}

}  // namespace spur::host
