// Our terminal while a remote one is shown in it.
#include "cli/srun/terminal.hpp"

#include <sys/ioctl.h>

namespace spur::cli::srun {

std::optional<WindowSize> window_size(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return std::nullopt;
    return WindowSize{size.ws_row, size.ws_col};
}

RawTerminal::RawTerminal(int fd) : fd_(fd) {
    if (::tcgetattr(fd_, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    changed_ = ::tcsetattr(fd_, TCSANOW, &raw) == 0;
}

RawTerminal::~RawTerminal() {
    if (changed_) ::tcsetattr(fd_, TCSANOW, &before_);
}

}  // namespace spur::cli::srun
