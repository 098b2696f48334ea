// Starting the zygote, asking it for a fork, and starting another when it has ended.
#include "daemons/spurd/launcher.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "daemons/common/log/log.hpp"
#include "daemons/spurd/children.hpp"
#include "daemons/spurstepd/descriptor.hpp"

namespace spur::agent {

namespace {

using namespace std::chrono_literals;

constexpr int passed_fd = 3, setup_passed_fd = 4, first_free_fd = 5;  // as spurstepd's main.cpp expects them

Result<std::pair<int, int>> socket_pair(int type) {
    int ends[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        return fail(ErrorCode::unavailable, "socketpair: {}", std::strerror(errno));
    return std::pair{ends[0], ends[1]};
}

}  // namespace

Launcher::Launcher(Loop& loop, LauncherOptions options) : loop_{loop}, options_{std::move(options)} {}

Launcher::~Launcher() {
    loop_.cancel(retry_);
    if (zygote_ < 0) return;
    loop_.forget(zygote_);
    close(zygote_);  // it ends when its channel does
    waitpid(zygote_pid_, nullptr, 0);
}

Result<int> Launcher::setup_file() {
    if (!setup_) setup_ = step::Descriptor{step::make_setup_file(step::encode(options_.setup))};
    if (!setup_) return fail(ErrorCode::unavailable, "memfd_create: {}", std::strerror(errno));
    return setup_.get();
}

// spurstepd in a session of its own, with `fd` as its descriptor 3, its setup as 4 and nothing else of ours.
Result<pid_t> Launcher::spawn(const char* role, int fd) {
    SPUR_TRY(const auto setup_fd, setup_file());
    // dup2 onto itself would leave close-on-exec set, so it never is that number.
    const step::Descriptor passed{fcntl(fd, F_DUPFD_CLOEXEC, first_free_fd)},
        setup{fcntl(setup_fd, F_DUPFD_CLOEXEC, first_free_fd)};
    if (!passed || !setup) return fail(ErrorCode::unavailable, "cannot start {}: {}", options_.program, std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, passed.get(), passed_fd);
    posix_spawn_file_actions_adddup2(&actions, setup.get(), setup_passed_fd);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);

    std::string words[] = {options_.program, role, std::string(64, ' ')};  // room for the title that a step gives itself
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    // The environment is kept: LD_LIBRARY_PATH and the like may be needed. Tasks never see it.
    pid_t pid{};
    const int error = posix_spawn(&pid, options_.program.c_str(), &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(ErrorCode::unavailable,
                    "cannot start {}: {}; install spurstepd beside spurd or name it with --stepd", options_.program,
                    std::strerror(error));
    return pid;
}

Result<void> Launcher::start() {
    SPUR_TRY(const auto ends, socket_pair(SOCK_SEQPACKET));
    const auto pid = spawn("--zygote", ends.second);
    close(ends.second);
    if (!pid) {
        close(ends.first);
        return std::unexpected(pid.error());
    }
    zygote_ = ends.first;
    zygote_pid_ = *pid;
    loop_.watch(zygote_, EPOLLIN, [this](std::uint32_t) { zygote_gone(); });
    return {};
}

// It never says anything: readable means that it has ended.
void Launcher::zygote_gone() {
    loop_.forget(zygote_);
    close(std::exchange(zygote_, -1));
    int status{};
    waitpid(zygote_pid_, &status, 0);
    log::warning("the process that forks step daemons has ended (status {}); starting another", status);
    retry_ = loop_.after(1s, [this] {
        if (const auto started = start(); !started) log::error("{}", started.error().text);
    });
}

bool Launcher::ask_zygote(int fd) {
    if (zygote_ < 0) return false;
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(zygote_, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

Result<step::FrameSocket> Launcher::new_step(bool without_zygote) {
    SPUR_TRY(const auto ends, socket_pair(SOCK_STREAM));
    step::FrameSocket ours{ends.first};
    if (without_zygote || !ask_zygote(ends.second)) {
        const auto pid = spawn("--connection", ends.second);
        if (!pid) {
            close(ends.second);
            return std::unexpected(pid.error());
        }
        watch_child(loop_, *pid, [](int) {});
    }
    close(ends.second);
    return ours;
}

}  // namespace spur::agent
