// What a task reads and writes: the user's files, pipes, and terminals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "daemons/spurstepd/user_files.hpp"

namespace spur::step {

// The task's own ends, closed here once it runs, and ours.
struct TaskStreams {
    Descriptor task_in, task_out, task_err;  // pipes, terminals, input files; output files are borrowed:
    int in_fd{-1}, out_fd{-1}, err_fd{-1};   // what the task gets as 0, 1 and 2
    bool terminal{false};

    Descriptor to_task, from_out, from_err;  // with a terminal, to_task is a duplicate of from_out
    int out_file{-1}, err_file{-1};          // labelled: what arrives is written there, not sent on

    void close_task_ends();
};

// Of the task with this place in the spec. Its files are open already.
Result<TaskStreams> open_streams(const LaunchSpec& spec, std::size_t place, UserFiles& files);

void set_window(int terminal, std::uint32_t rows, std::uint32_t columns);

}  // namespace spur::step
