// The tasks of a step: where each runs, how it ended, and what srun says about it. No I/O.
#pragma once

#include "spur/v1/controller.pb.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spur::cli::srun {

class TaskStates {
public:
    explicit TaskStates(const google::protobuf::RepeatedPtrField<v1::TaskLayout>& layout);

    void started(std::uint32_t task);
    void exited(std::uint32_t task, std::uint32_t wait_status, bool out_of_memory);
    // Whatever still ran on the node is over: it is lost (137), or it could not start the tasks (1).
    void lost(const std::string& node, int exit_code);

    bool all_over() const { return over_ == tasks_.size(); }
    bool any_over() const { return over_ > 0; }
    bool any_failed() const { return failed_; }
    bool was_killed() const { return killed_; }  // a task, by SIGKILL or SIGTERM

    // Lines about exits since the last call: "error: n1: tasks 0-1: Exited with exit code 3". Ends with 0 say nothing,
    // nor do ends by a signal if `with_signals` is false.
    std::vector<std::string> take_messages(bool with_signals = true);
    // "tasks 0-1: running", one for each state there is.
    std::vector<std::string> states() const;

    // What srun exits with: the highest code, or 128 and the signal.
    int exit_code() const { return exit_code_; }
    // The step's wait status, for the controller.
    std::uint32_t wait_status() const { return worst_status_; }

private:
    enum class State : std::uint8_t { starting, running, exited, abnormal };
    struct Task {
        std::string node;
        State state = State::starting;
    };
    struct Exit {
        std::uint32_t task;
        std::uint32_t status;
        bool out_of_memory;
    };
    std::map<std::uint32_t, Task> tasks_;
    std::vector<Exit> untold_;
    std::size_t over_ = 0;
    bool failed_ = false;
    bool killed_ = false;
    int exit_code_ = 0;
    std::uint32_t worst_status_ = 0;
};

}  // namespace spur::cli::srun
