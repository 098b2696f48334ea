// A signalfd and a loop around it.
#include "daemons/common/daemon/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace spur::daemon {
namespace {

sigset_t watched() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) ::sigaddset(&set, number);
    return set;
}

}  // namespace

Result<Signals> Signals::take() {
    const auto set = watched();
    ::signal(SIGPIPE, SIG_IGN);
    if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) return fail(ErrorCode::internal, "signals cannot be blocked");
    const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) return fail(ErrorCode::internal, "signals cannot be read: {}", std::strerror(errno));
    return Signals{fd};
}

Signals::Signals(Signals&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
Signals::~Signals() {
    if (fd_ >= 0) ::close(fd_);
}

int Signals::read() {
    signalfd_siginfo info{};
    return ::read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)) ? static_cast<int>(info.ssi_signo)
                                                                                  : 0;
}

void Signals::run(const Handlers& handlers) {
    while (true) {
        pollfd waiting{fd_, POLLIN, 0};
        ::poll(&waiting, 1, -1);
        const int number = read();
        if (number == SIGTERM || number == SIGINT) {
            // Whoever asks twice does not want to wait.
            sigset_t impatient;
            ::sigemptyset(&impatient);
            ::sigaddset(&impatient, SIGTERM);
            ::sigaddset(&impatient, SIGINT);
            ::pthread_sigmask(SIG_UNBLOCK, &impatient, nullptr);
            if (handlers.stop) handlers.stop();
            return;
        }
        if ((number == SIGUSR2 || number == SIGHUP) && handlers.reopen) handlers.reopen();
        if (number == SIGHUP && handlers.reload) handlers.reload();
    }
}

void Signals::give_back() {
    const auto set = watched();
    ::signal(SIGPIPE, SIG_DFL);
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace spur::daemon
