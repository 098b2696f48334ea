// Blocking signals and reading them from a signalfd.
#include "daemons/common/daemon/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace spur::daemon {

Result<Signals> Signals::take() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) ::sigaddset(&set, number);
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

}  // namespace spur::daemon
