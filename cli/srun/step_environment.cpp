// What srun adds to its tasks' environment, and what programs beside srun are told.
#include "cli/srun/step_environment.hpp"

#include "cli/common/job_text.hpp"
#include "cli/submit/allocation.hpp"

namespace spur::cli::srun {

using namespace submit;

std::vector<std::string> option_variables(const SubmitOptions& options, const v1::CreateStepReply& made,
                                          bool own_allocation) {
    environment::Variables variables;
    // The choice that srun makes is told too: block where nodes get several tasks.
    const bool several = made.step().tasks() > static_cast<std::uint32_t>(made.layout_size());
    add_request(variables, own_allocation ? environment::own_task : environment::task,
                {options.spec, 0, {}, several ? "block" : "cyclic"});
    if (!own_allocation && source_of(options, "job-name") == Source::command_line)
        variables.set_if("SLURM_JOB_NAME", options.spec.name());
    return variables.lines();
}

environment::Variables script_variables(const SubmitOptions& options, const v1::CreateStepReply& made,
                                        const Submitter& submitter, const std::string& cluster,
                                        const std::string& context) {
    auto variables = allocation_variables(made.job(), options, cluster, submitter.directory, submitter.host);
    std::vector<std::uint32_t> counts;
    for (const auto& node : made.layout()) counts.push_back(static_cast<std::uint32_t>(node.tasks_size()));
    add_step(variables, made.step(), counts);
    variables.set("SLURM_NTASKS", made.step().tasks());
    variables.set("SLURM_NPROCS", made.step().tasks());
    variables.set("SLURM_NNODES", made.layout_size());
    variables.set("SLURM_JOB_USER", user_name(made.job()));
    variables.set("SLURM_JOB_UID", made.job().spec().uid());
    variables.set("SLURM_UMASK", fmt::format("{:04o}", submitter.umask));
    variables.set("SLURM_PRIO_PROCESS", submitter.nice);
    variables.set("SLURM_SCRIPT_CONTEXT", context);
    return variables;
}

}  // namespace spur::cli::srun
