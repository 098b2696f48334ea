// When things happen around a job, a step and a task on a node: the phases, by the names that Slurm's plugin stack
// (SPANK) gives them, and how what hangs on them is called. Each process has one table of hooks, in the order of its
// life; what is new in a phase is a row there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>

namespace spur {

enum class Phase : std::uint8_t {
    // of a job, by spurd, as root
    job_prolog,  // before the first step on this node
    job_epilog,  // after the last one

    // of a step, by its daemon, as root
    init,       // it knows what it is to run
    user_init,  // what is the user's, before there are tasks
    // of each of its tasks
    task_init_privileged,  // in the task's process, still as root
    task_init,             // in the task's process, as the user; the program comes next
    task_post_fork,        // in the step daemon, beside the two before
    task_exit,             // in the step daemon: the task has ended
    // of the step again
    exit,  // none of its processes is left
};

template <class Run>
struct Hook {
    Phase phase;
    Run run;
};

template <class Run, std::size_t count>
consteval bool is_in_order(const Hook<Run> (&hooks)[count]) {
    return std::ranges::is_sorted(hooks, {}, &Hook<Run>::phase);
}

// Calls what hangs on `phase`, row by row. Where rows can fail, the first failure is the answer and the rest is not
// called.
template <class Run, std::size_t count, class... Arguments>
std::invoke_result_t<const Run&, Arguments&...> run_phase(const Hook<Run> (&hooks)[count], Phase phase,
                                                          Arguments&... arguments) {
    constexpr bool can_fail = !std::is_void_v<std::invoke_result_t<const Run&, Arguments&...>>;
    for (const auto& hook : hooks) {
        if (hook.phase != phase) continue;
        if constexpr (can_fail) {
            if (auto done = std::invoke(hook.run, arguments...); !done) return done;
        } else {
            std::invoke(hook.run, arguments...);
        }
    }
    if constexpr (can_fail) return {};
}

}  // namespace spur
