// The zygote's loop: a descriptor comes in, a step daemon is forked for it.
#include "daemons/spurstepd/zygote.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "daemons/spurstepd/step_daemon.hpp"

namespace spur::step {

namespace {

constexpr int spec_patience_ms = 30'000;

char* title_space = nullptr;
std::size_t title_size = 0;

void set_title(const std::string& title) {
    prctl(PR_SET_NAME, "spurstepd");
    if (title_size == 0) return;
    std::memset(title_space, 0, title_size);
    std::memcpy(title_space, title.data(), std::min(title.size(), title_size - 1));
}

// The descriptor in the next packet; -1: spurd has gone; -2: a packet without one.
int receive_descriptor(int channel) {
    char byte{};
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count{};
    do count = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return -1;
    const auto* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -2;
    int fd{};
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

// spurd's terminal or pipe must not stay open because a step lives on.
void leave_spurd() {
    setsid();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
    close(null);
}

std::optional<LaunchSpec> read_spec(FrameSocket& connection) {
    while (true) {
        if (const auto frame = connection.next())
            return frame->type == FrameType::spec ? decode_spec(frame->payload) : std::nullopt;
        pollfd wait{connection.fd(), POLLIN, 0};
        if (poll(&wait, 1, spec_patience_ms) <= 0 || connection.receive() == FrameSocket::Read::closed)
            return std::nullopt;
    }
}

}  // namespace

void keep_title_space(int argc, char** argv) {
    title_space = argv[0];
    title_size = static_cast<std::size_t>(argv[argc - 1] + std::strlen(argv[argc - 1]) - argv[0]);
}

FrameSocket serve_forks(int channel) {
    std::signal(SIGCHLD, SIG_IGN);  // children are reaped by the kernel
    std::signal(SIGPIPE, SIG_IGN);
    fcntl(channel, F_SETFD, FD_CLOEXEC);
    while (true) {
        const int fd = receive_descriptor(channel);
        if (fd == -1) return FrameSocket{};
        if (fd < 0) continue;
        const auto pid = fork();
        if (pid == 0) {
            close(channel);
            std::signal(SIGCHLD, SIG_DFL);
            return FrameSocket{fd};
        }
        close(fd);  // if fork failed, spurd sees the connection close and says so
    }
}

int run_step(FrameSocket connection, const CgroupChoice& cgroup) {
    leave_spurd();
    auto spec = read_spec(connection);
    if (!spec) return 1;
    set_title("spurstepd: [" + spec->label + "]");
    StepDaemon{*std::move(spec), std::move(connection), cgroup}.run();
    return 0;
}

}  // namespace spur::step
