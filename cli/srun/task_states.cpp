// The tasks of a step, and what srun says about them.
#include "cli/srun/task_states.hpp"

#include "core/model/array_spec.hpp"
#include "core/text/hostlist.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace spur::cli::srun {
namespace {

int code_of(std::uint32_t status) {
    const int wait_status = static_cast<int>(status);
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string end_text(std::uint32_t status, bool out_of_memory) {
    const int wait_status = static_cast<int>(status);
    if (out_of_memory) return "Out Of Memory";
    if (!WIFSIGNALED(wait_status)) return fmt::format("Exited with exit code {}", WEXITSTATUS(wait_status));
    return fmt::format("{}{}", ::strsignal(WTERMSIG(wait_status)), WCOREDUMP(wait_status) ? " (core dumped)" : "");
}

std::string task_list(const std::vector<std::uint32_t>& tasks) {
    return fmt::format("task{} {}", tasks.size() == 1 ? "" : "s", TaskSet::of(tasks).str());
}

}  // namespace

TaskStates::TaskStates(const google::protobuf::RepeatedPtrField<v1::TaskLayout>& layout) {
    for (const auto& node : layout)
        for (const auto task : node.tasks()) tasks_.emplace(task, Task{node.node()});
}

void TaskStates::started(std::uint32_t task) {
    const auto at = tasks_.find(task);
    if (at != tasks_.end() && at->second.state == State::starting) at->second.state = State::running;
}

void TaskStates::exited(std::uint32_t task, std::uint32_t wait_status, bool out_of_memory) {
    const auto at = tasks_.find(task);
    if (at == tasks_.end() || at->second.state >= State::exited) return;
    const bool fine = wait_status == 0 && !out_of_memory;
    at->second.state = fine ? State::exited : State::abnormal;
    ++over_;
    if (fine) return;
    failed_ = true;
    const int by = WIFSIGNALED(static_cast<int>(wait_status)) ? WTERMSIG(static_cast<int>(wait_status)) : 0;
    killed_ = killed_ || by == SIGKILL || by == SIGTERM;
    untold_.push_back({task, wait_status, out_of_memory});
    if (const int code = code_of(wait_status); code > exit_code_) {
        exit_code_ = code;
        worst_status_ = wait_status;
    }
    if (exit_code_ == 0) exit_code_ = 1;  // out of memory, though the task itself ended well
}

void TaskStates::lost(const std::string& node, int exit_code) {
    for (auto& [id, task] : tasks_) {
        if (task.node != node || task.state >= State::exited) continue;
        task.state = State::abnormal;
        ++over_;
        failed_ = true;
        if (exit_code_ >= exit_code) continue;
        exit_code_ = exit_code;
        worst_status_ =
            exit_code > 128 ? static_cast<std::uint32_t>(exit_code - 128) : static_cast<std::uint32_t>(exit_code) << 8;
    }
}

std::vector<std::string> TaskStates::take_messages(bool with_signals) {
    if (!with_signals)
        std::erase_if(untold_, [](const Exit& exit) { return WIFSIGNALED(static_cast<int>(exit.status)); });
    // One line for all that ended alike, in the order in which the first of them did.
    std::vector<std::string> lines;
    std::vector<bool> told(untold_.size(), false);
    for (std::size_t i = 0; i < untold_.size(); ++i) {
        if (told[i]) continue;
        std::vector<std::uint32_t> same;
        std::vector<std::string> nodes;
        for (std::size_t j = i; j < untold_.size(); ++j) {
            const auto& node = tasks_.at(untold_[j].task).node;
            if (told[j] || untold_[j].status != untold_[i].status ||
                untold_[j].out_of_memory != untold_[i].out_of_memory || node != tasks_.at(untold_[i].task).node)
                continue;
            told[j] = true;
            same.push_back(untold_[j].task);
            nodes.push_back(node);
        }
        lines.push_back(fmt::format("{}: {}: {}", compress_hosts(nodes), task_list(same),
                                    end_text(untold_[i].status, untold_[i].out_of_memory)));
    }
    untold_.clear();
    return lines;
}

std::vector<std::string> TaskStates::states() const {
    struct Named {
        State state;
        const char* name;
    };
    static constexpr Named named[] = {{State::starting, "unknown"},
                                      {State::running, "running"},
                                      {State::exited, "exited"},
                                      {State::abnormal, "exited abnormally"}};
    std::vector<std::string> lines;
    for (const auto& entry : named) {
        std::vector<std::uint32_t> ids;
        for (const auto& [id, task] : tasks_)
            if (task.state == entry.state) ids.push_back(id);
        if (!ids.empty()) lines.push_back(fmt::format("{}: {}", task_list(ids), entry.name));
    }
    return lines;
}

}  // namespace spur::cli::srun
