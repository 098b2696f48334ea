// What srun asks of the controller and of each agent: requests made from options. No I/O.
#pragma once

#include "cli/submit/options.hpp"
#include "spur/v1/agent.pb.h"
#include "spur/v1/controller.pb.h"

#include <span>
#include <string>
#include <vector>

namespace spur::cli::srun {

struct StepRequest {
    v1::CreateStepRequest request;
    std::vector<std::string> warnings;
};
// `own_allocation`: srun got the job for this step, so the step is to have all of it.
Result<StepRequest> step_request(const submit::SubmitOptions& options, const v1::Job& job, bool own_allocation,
                                 const std::string& command);

// A step in a component of a heterogeneous job: its size is that of the component unless it was typed. The variables
// around us tell of the first component only.
void adopt_size(submit::SubmitOptions& options, const v1::Job& job);

// Where a stream of the tasks goes, as -i, -o and -e say it.
struct StreamPlan {
    enum class Kind : std::uint8_t {
        streamed,      // through srun
        none,          // /dev/null
        one_task,      // only task `task`'s, through srun
        local_file,    // one file for all tasks, opened by srun
        remote_files,  // a file for each task or node, opened on the nodes
    };
    Kind kind = Kind::streamed;
    std::uint32_t task = 0;
    std::string pattern;  // as typed
};
StreamPlan stream_plan(const std::string& text);

// --multi-prog: one command line a task, ready for a shell. `where` names the file in errors; `arguments` are those
// after it, and go to every task.
Result<std::vector<std::string>> multi_prog_commands(std::string_view text, std::uint32_t tasks,
                                                     const std::string& where,
                                                     std::span<const std::string> arguments = {});

std::string shell_quoted(std::string_view word);

}  // namespace spur::cli::srun
