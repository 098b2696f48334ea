// One task of a step: its process and its streams.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "daemons/spurstepd/stdio.hpp"

namespace spur::step {

// Bytes on their way from a task to whoever started the step. Lines are passed on whole, as Slurm does, so that those
// of different tasks do not mix; a line that grows too long, or the last one without an end, goes as it is.
class OutputStream {
public:
    using Forward = std::function<void(std::string_view data, bool eof)>;

    void open(Descriptor fd, bool whole_lines) {
        fd_ = std::move(fd);
        whole_lines_ = whole_lines;
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
    // Passes on what has arrived. Closes itself at the end.
    void pump(const Forward& forward);
    void finish(const Forward& forward);  // no more is wanted

private:
    void pass(std::string_view bytes, const Forward& forward);
    Descriptor fd_;
    bool whole_lines_{true};
    std::string line_;
};

// Bytes on their way to a task's stdin.
class InputStream {
public:
    void open(Descriptor fd, bool terminal) {
        fd_ = std::move(fd);
        terminal_ = terminal;
    }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] bool is_waiting() const { return fd_ && (at_ < waiting_.size() || eof_); }
    // How many bytes left the buffer: at once, later, or because the task reads no more.
    std::uint64_t add(std::string_view data, bool eof);
    std::uint64_t pump();
    void close();

private:
    Descriptor fd_;
    std::string waiting_;
    std::size_t at_{0};
    bool terminal_{false}, eof_{false};
};

struct Task {
    enum class State : std::uint8_t { ready, running, epilog, done };

    std::uint32_t id{};
    std::size_t index{};  // in LaunchSpec::tasks
    State state{State::ready};
    pid_t pid{-1};  // of the task, then of its epilog
    std::uint32_t status{};
    TaskStreams streams;  // until they are connected
    InputStream input;
    OutputStream output, error;
    int out_file{-1}, err_file{-1};  // where what they bring is written, labelled; -1: it is sent on
    int terminal{-1};                // our end, while the task has one
};

}  // namespace spur::step
