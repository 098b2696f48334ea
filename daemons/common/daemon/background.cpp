// Forking, the pipe to the starting process, the pid file and the notify socket.
#include "daemons/common/daemon/background.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>

#include "core/text/lexical.hpp"

namespace spur::daemon {
namespace {

int starter = -1;  // the end of the pipe on which the starting process waits

// The parent's part: wait for the byte that says ready, or for the child's end.
[[noreturn]] void wait_for_ready(int fd, pid_t child) {
    char byte = 0;
    ssize_t got = 0;
    do got = ::read(fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1) ::_exit(EXIT_SUCCESS);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE);
}

void point_at_nothing(std::initializer_list<int> descriptors) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : descriptors) ::dup2(nothing, fd);
    if (nothing > STDERR_FILENO) ::close(nothing);
}

void tell_systemd(std::string_view state) {
    const char* const path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    if (path == nullptr || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof(address.sun_path)) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path, std::strlen(path));
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
    ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
    ::close(fd);
}

}  // namespace

int complain(std::string_view program, const Error& error, int code) {
    for (const auto line : split(error.text, '\n')) fmt::print(stderr, "{}: error: {}\n", program, line);
    return code;
}

Result<void> go_into_background() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorCode::internal, "no pipe: {}", std::strerror(errno));
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return fail(ErrorCode::internal, "cannot go into the background: {}", std::strerror(errno));
    if (child > 0) {
        ::close(ends[1]);
        wait_for_ready(ends[0], child);
    }
    ::close(ends[0]);
    starter = ends[1];
    ::setsid();
    if (::chdir("/") != 0) return fail(ErrorCode::internal, "cannot enter /: {}", std::strerror(errno));
    point_at_nothing({STDIN_FILENO, STDOUT_FILENO});
    return {};
}

Result<void> ready(const std::string& pid_file, bool has_log_file) {
    if (!pid_file.empty()) {
        std::ofstream file{pid_file, std::ios::trunc};
        file << ::getpid() << '\n';
        if (!file.flush())
            return fail(ErrorCode::denied, "pid file {} cannot be written: {}", pid_file, std::strerror(errno));
    }
    tell_systemd(fmt::format("READY=1\nMAINPID={}\n", ::getpid()));
    if (starter < 0) return {};
    // The terminal may go now; a log that has no file stays where it is.
    if (has_log_file) point_at_nothing({STDERR_FILENO});
    [[maybe_unused]] const auto told = ::write(starter, "", 1);
    ::close(starter);
    starter = -1;
    return {};
}

void stopping(const std::string& pid_file) {
    tell_systemd("STOPPING=1\n");
    if (pid_file.empty()) return;
    pid_t written = 0;
    std::ifstream{pid_file} >> written;
    if (written == ::getpid()) ::unlink(pid_file.c_str());
}

}  // namespace spur::daemon
