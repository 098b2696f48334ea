// What a task reads and writes: files opened as the user, pipes, and terminals.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_{fd} {}
    Descriptor(Descriptor&& other) noexcept : fd_{other.fd_} { other.fd_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { reset(); }
    void reset();
    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_{-1};
};

// Files named by several tasks, or as stdout and stderr alike, are opened once: their writers share one offset.
class OutputFiles {
public:
    explicit OutputFiles(const StepSpec& spec) : spec_{spec} {}
    // Stays open for the life of this object. `stream` is for the error: "stdout".
    Result<int> open(const std::string& path, std::string_view stream);

private:
    const StepSpec& spec_;
    std::map<std::string, Descriptor> files_;
};

// The task's own ends, closed here once it runs, and ours.
struct TaskStreams {
    Descriptor task_in, task_out, task_err;  // pipes and terminals; files of OutputFiles are borrowed:
    int in_fd{-1}, out_fd{-1}, err_fd{-1};   // what the task gets as 0, 1 and 2
    bool terminal{false};

    Descriptor to_task, from_out, from_err;  // with a terminal, to_task is a duplicate of from_out
    int out_file{-1}, err_file{-1};          // labelled: what arrives is written there, not sent on

    void close_task_ends();
};

// Errors name the file and the stream, in Slurm's words.
Result<TaskStreams> open_streams(const StepSpec& spec, const TaskSpec& task, OutputFiles& files);

void set_window(int terminal, std::uint32_t rows, std::uint32_t columns);

}  // namespace spur::step
