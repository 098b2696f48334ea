// Our terminal while a remote one is shown in it: raw, and put back as it was.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>

namespace spur::cli::srun {

struct WindowSize {
    std::uint32_t rows = 0, columns = 0;
};
std::optional<WindowSize> window_size(int fd);  // nothing: not a terminal

class RawTerminal {
public:
    explicit RawTerminal(int fd);
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    int fd_;
    bool changed_ = false;
    termios before_{};
};

}  // namespace spur::cli::srun
