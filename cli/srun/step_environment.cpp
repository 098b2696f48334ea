// Writing SLURM_* variables from srun's options.
#include "cli/srun/step_environment.hpp"

#include "cli/common/job_text.hpp"
#include "cli/submit/allocation.hpp"

namespace spur::cli::srun {

using namespace submit;

std::vector<std::string> option_variables(const SubmitOptions& options, const v1::CreateStepReply& made,
                                          bool own_allocation) {
    std::vector<std::string> variables;
    const auto number = [&](const char* name, bool present, std::uint64_t value) {
        if (present) variables.push_back(fmt::format("{}={}", name, value));
    };
    const auto text = [&](std::string_view name, std::string_view value) {
        if (!value.empty()) variables.push_back(fmt::format("{}={}", name, value));
    };
    const auto& spec = options.spec;
    number("SLURM_CPUS_PER_TASK", spec.has_cpus_per_task(), spec.cpus_per_task());
    number("SLURM_NTASKS_PER_NODE", spec.has_tasks_per_node(), spec.tasks_per_node());
    number("SLURM_NTASKS_PER_SOCKET", spec.has_tasks_per_socket(), spec.tasks_per_socket());
    number("SLURM_NTASKS_PER_CORE", spec.has_tasks_per_core(), spec.tasks_per_core());
    number("SLURM_NTASKS_PER_TRES", spec.has_tasks_per_gpu(), spec.tasks_per_gpu());
    number("SLURM_THREADS_PER_CORE", spec.has_threads_per_core(), spec.threads_per_core());
    number("SLURM_OVERCOMMIT", spec.overcommit(), 1);
    if (own_allocation) text("SLURM_JOB_DEPENDENCY", spec.dependency());
    if (!own_allocation && source_of(options, "job-name") == Source::command_line) text("SLURM_JOB_NAME", spec.name());

    // The choice that srun makes is told too: block where nodes get several tasks.
    const auto typed = distribution_variables(spec);
    for (const auto& [name, value] : typed) text(name, value);
    if (typed.empty())
        text("SLURM_DISTRIBUTION",
             made.step().tasks() > static_cast<std::uint32_t>(made.layout_size()) ? "block" : "cyclic");
    return variables;
}

std::vector<std::pair<std::string, std::string>> script_variables(const SubmitOptions& options,
                                                                  const v1::CreateStepReply& made,
                                                                  const Submitter& submitter,
                                                                  const std::string& cluster,
                                                                  const std::string& context) {
    auto variables = allocation_variables(made.job(), options, cluster, submitter.directory, submitter.host);
    const auto add = [&](const char* name, std::string value) { variables.emplace_back(name, std::move(value)); };
    std::vector<std::uint32_t> counts;
    for (const auto& node : made.layout()) counts.push_back(static_cast<std::uint32_t>(node.tasks_size()));
    add("SLURM_NTASKS", fmt::format("{}", made.step().tasks()));
    add("SLURM_NPROCS", fmt::format("{}", made.step().tasks()));
    add("SLURM_NNODES", fmt::format("{}", made.layout_size()));
    add("SLURM_TASKS_PER_NODE", compress_counts(counts));
    add("SLURM_STEP_ID", fmt::format("{}", made.step().step_id()));
    add("SLURM_STEPID", fmt::format("{}", made.step().step_id()));
    add("SLURM_STEP_NODELIST", made.step().node_list());
    add("SLURM_STEP_NUM_NODES", fmt::format("{}", made.layout_size()));
    add("SLURM_STEP_NUM_TASKS", fmt::format("{}", made.step().tasks()));
    add("SLURM_STEP_TASKS_PER_NODE", compress_counts(counts));
    add("SLURM_JOB_USER", user_name(made.job()));
    add("SLURM_JOB_UID", fmt::format("{}", made.job().spec().uid()));
    add("SLURM_UMASK", fmt::format("{:04o}", submitter.umask));
    add("SLURM_PRIO_PROCESS", fmt::format("{}", submitter.nice));
    add("SLURM_SCRIPT_CONTEXT", context);
    return variables;
}

}  // namespace spur::cli::srun
