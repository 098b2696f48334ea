// The child's surroundings and the parent's patience.
#include "runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>

namespace spur::check {
namespace {

using Clock = std::chrono::steady_clock;

// Shared with the parent, so that the note outlives a crash of the child.
struct Note {
    char text[256];
};
Note* shared_note() {
    static Note* const note =
        static_cast<Note*>(mmap(nullptr, sizeof(Note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    return note;
}

[[noreturn]] void die(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void limit(int resource, rlim_t value) {
    rlimit now{};
    getrlimit(resource, &now);
    now.rlim_cur = std::min(value, now.rlim_max);
    setrlimit(resource, &now);
}

void confine_process(int output, std::chrono::seconds deadline) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, rlim_t{1} << 30);
    limit(RLIMIT_CPU, static_cast<rlim_t>(deadline.count()) * 4);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_AS, rlim_t{4} << 30);
#endif
}

Outcome judge(const Body& body) {
    const auto began = Clock::now();
    Outcome outcome;
    try {
        outcome = {Verdict::ok, body(), {}, {}};
    } catch (const Failed& failed) {
        outcome = {Verdict::failed, failed.text, {}, {}};
    } catch (const Skipped& skipped) {
        outcome = {Verdict::skipped, skipped.text, {}, {}};
    } catch (const std::exception& error) {
        outcome = {Verdict::failed, fmt::format("{} (while {})", error.what(), shared_note()->text), {}, {}};
    }
    outcome.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return outcome;
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto written = write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool has_ended(pid_t child) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// Reads what the child says until it has ended (something it forked may hold the pipe open) or the deadline passes;
// false: it passed.
bool read_until(int fd, pid_t child, Clock::time_point deadline, std::string& text) {
    char buffer[4096];
    for (bool ended = false; Clock::now() < deadline;) {
        pollfd waiting{fd, POLLIN, 0};
        if (poll(&waiting, 1, ended ? 0 : 20) > 0) {
            const auto got = read(fd, buffer, sizeof buffer);
            if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
            if (got > 0 || (got < 0 && errno == EINTR)) continue;
            if (has_ended(child)) return true;
            poll(nullptr, 0, 1);
        } else if (ended) {
            return true;
        }
        ended = has_ended(child);
    }
    return false;
}

std::string tail_of(int fd) {
    constexpr off_t keep = 4096;
    const off_t end = lseek(fd, 0, SEEK_END);
    lseek(fd, std::max<off_t>(0, end - keep), SEEK_SET);
    std::string text(static_cast<std::size_t>(std::min(end, keep)), '\0');
    const auto got = read(fd, text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

std::string last_note() {
    const auto* note = shared_note();
    return note->text[0] != '\0' ? fmt::format(" while {}", note->text) : "";
}

std::string ending(int status) {
    if (WIFSIGNALED(status)) {
        const char* name = sigabbrev_np(WTERMSIG(status));
        return fmt::format("crashed with SIG{}{}", name != nullptr ? name : "?", last_note());
    }
    return fmt::format("called exit({}){}: a plugin never ends its host", WEXITSTATUS(status), last_note());
}

Outcome understand(bool in_time, const std::string& message, int status, std::chrono::seconds deadline) {
    if (!in_time)
        return {Verdict::failed, fmt::format("did not finish within {}s{}", deadline.count(), last_note()), {}, {}};
    if (message.empty()) return {Verdict::failed, ending(status), {}, {}};
    switch (message.front()) {
        case 'o':
            return {Verdict::ok, message.substr(1), {}, {}};
        case 's':
            return {Verdict::skipped, message.substr(1), {}, {}};
        default:
            return {Verdict::failed, message.substr(1), {}, {}};
    }
}

}  // namespace

void doing(std::string_view what) {
    auto* note = shared_note();
    const auto length = std::min(what.size(), sizeof(note->text) - 1);
    std::memcpy(note->text, what.data(), length);
    note->text[length] = '\0';
}

Outcome run_in_child(const Body& body, std::chrono::seconds deadline) {
    doing("");
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
    const int output = memfd_create("output", MFD_CLOEXEC);
    const auto began = Clock::now();
    const pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        close(ends[0]);
        confine_process(output, deadline);
        const auto outcome = judge(body);
        const char mark = outcome.verdict == Verdict::ok ? 'o' : outcome.verdict == Verdict::skipped ? 's' : 'f';
        write_all(ends[1], mark + outcome.text);
        _exit(0);
    }
    close(ends[1]);
    std::string message;
    const bool in_time = read_until(ends[0], child, began + deadline, message);
    close(ends[0]);
    if (!in_time) kill(child, SIGKILL);
    kill(-child, SIGKILL);  // and what it may have left behind
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }

    auto outcome = understand(in_time, message, status, deadline);
    outcome.output = tail_of(output);
    close(output);
    outcome.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    return outcome;
}

Outcome run_here(const Body& body) { return judge(body); }

Scratch::Scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "spur-plugin-check.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) die(pattern.c_str());
    path_ = pattern;
}
Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace spur::check
