// Starting scripts, learning through pidfds that children have ended, and signalling them.
#include "daemons/spurd/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "daemons/common/daemon/precedence.hpp"

namespace spur::agent {

namespace {

using namespace std::chrono_literals;

// Kernels before 5.3 have no pidfd: look now and then.
void poll_child(Loop& loop, pid_t pid, std::function<void(int)> ended) {
    int status{};
    if (waitpid(pid, &status, WNOHANG) != 0) return ended(status);
    loop.after(100ms, [&loop, pid, ended = std::move(ended)] { poll_child(loop, pid, ended); });
}

}  // namespace

void watch_child(Loop& loop, pid_t pid, std::function<void(int status)> ended) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) return poll_child(loop, pid, std::move(ended));
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    loop.watch(fd, EPOLLIN, [&loop, fd, pid, ended = std::move(ended)](std::uint32_t) {
        const auto last = ended;  // forgetting the descriptor drops this handler
        const auto child = pid;
        loop.forget(fd);
        close(fd);
        int status{};
        waitpid(child, &status, 0);
        last(status);
    });
}

Result<pid_t> start_script(const std::string& program, const std::vector<std::string>& environment) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    std::vector<char*> argv{const_cast<char*>(program.c_str()), nullptr}, variables;
    for (const auto& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    pid_t pid{};
    const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return fail(ErrorCode::unavailable, "cannot run {}: {}", program, std::strerror(error));
    daemon::make_ordinary(pid);  // a site's script may fail, the node must not
    return pid;
}

step::Descriptor open_process(pid_t pid) {
    if (pid <= 0) return {};
    return step::Descriptor{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
}

void send_signal(const step::Descriptor& process, int number) {
    if (process) syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

std::string describe_status(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
    return fmt::format("exited with {}", WEXITSTATUS(status));
}

}  // namespace spur::agent
