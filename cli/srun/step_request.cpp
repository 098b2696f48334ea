// What srun asks for.
#include "cli/srun/step_request.hpp"

#include "cli/common/job_text.hpp"
#include "core/model/array_spec.hpp"
#include "core/text/lexical.hpp"
#include "core/text/pattern.hpp"

#include <unistd.h>

#include <map>

namespace spur::cli::srun {
namespace {

using submit::Source;

// Without -n, -c says how many tasks there are: as many as the job's CPUs are enough for. Over fewer nodes than the job
// has, the controller decides.
std::uint32_t tasks_that_fit(const submit::SubmitOptions& options, const v1::Job& job) {
    const auto& spec = options.spec;
    if (source_of(options, "nodes") == Source::command_line || options.step.relative || !spec.node_list().empty())
        return 0;
    std::uint32_t tasks = 0;
    for (const auto& share : job.shares()) tasks += share.cpus() / std::max(1U, spec.cpus_per_task());
    return tasks;
}

// -N, -n and their relatives against the nodes the job has.
Result<void> size_step(const submit::SubmitOptions& options, const v1::Job& job, bool own_allocation,
                       StepRequest& out) {
    const auto& spec = options.spec;
    auto& request = out.request;
    const auto have = node_count(job);
    if (spec.has_tasks()) request.set_tasks(spec.tasks());
    if (spec.has_cpus_per_task()) request.set_cpus_per_task(spec.cpus_per_task());
    if (!own_allocation && spec.has_cpus_per_task() && !spec.has_tasks() && !spec.has_tasks_per_node())
        if (const auto fit = tasks_that_fit(options, job)) request.set_tasks(fit);
    if (spec.has_tasks_per_node()) request.set_tasks_per_node(spec.tasks_per_node());
    if (spec.has_tasks_per_gpu()) request.set_tasks_per_gpu(spec.tasks_per_gpu());
    if (!spec.has_min_nodes()) return {};

    const bool typed = source_of(options, "nodes") == Source::command_line;
    auto least = spec.min_nodes(), most = spec.max_nodes();
    if (own_allocation && least < have && have <= most) least = most = have;  // as many as were free
    if (typed && least > have && have != 0)
        return fail(ErrorCode::invalid, "Only allocated {} nodes asked for {}", have, least);
    if (spec.has_tasks() && spec.tasks() < least) {
        out.warnings.push_back(fmt::format("Warning: can't run {} processes on {} nodes, setting nnodes to {}",
                                           spec.tasks(), least, spec.tasks()));
        least = spec.tasks();
        most = std::min(most, spec.tasks());
    }
    if (!typed && !options.step.exact && options.step.relative) return {};
    request.set_min_nodes(least);
    request.set_max_nodes(std::max(least, most));
    return {};
}

void take_memory_and_gres(const submit::SubmitOptions& options, v1::CreateStepRequest& request) {
    const auto& spec = options.spec;
    if (spec.has_mem_per_node_mib()) request.set_mem_per_node_mib(spec.mem_per_node_mib());
    if (spec.has_mem_per_cpu_mib()) request.set_mem_per_cpu_mib(spec.mem_per_cpu_mib());
    request.set_gres_per_node(options.gres == "none" ? "none" : spec.gres_per_node());
    request.set_gres_per_step(spec.gres_per_job());
    request.set_gres_per_task(spec.gres_per_task());
}

}  // namespace

Result<StepRequest> step_request(const submit::SubmitOptions& options, const v1::Job& job, bool own_allocation,
                                 const std::string& command) {
    const auto& spec = options.spec;
    StepRequest out;
    auto& request = out.request;
    request.set_job_id(job.id());
    SPUR_CHECK(size_step(options, job, own_allocation, out));
    if (!own_allocation) take_memory_and_gres(options, request);
    request.set_node_list(own_allocation ? "" : spec.node_list());
    request.set_exclude_nodes(own_allocation ? "" : spec.exclude_nodes());
    if (options.step.relative) {
        request.set_relative(*options.step.relative);
        if (*options.step.relative >= node_count(job))
            return fail(
                ErrorCode::invalid,
                "--relative and SLURM_JOB_NUM_NODES option incompatible with count of allocated nodes ({}+{}>{})",
                *options.step.relative, std::max(1U, request.min_nodes()), node_count(job));
    }
    request.set_distribution(spec.distribution());
    request.set_overlap(options.step.overlap);
    // Asking for CPUs per task has meant exactly those since 22.05.
    request.set_exact(options.step.exact || spec.has_cpus_per_task());
    request.set_exclusive(options.step.exclusive && !own_allocation);  // --exclusive was for the job, then
    const bool named = submit::source_of(options, "job-name") == Source::command_line || own_allocation;
    request.set_name(named && !spec.name().empty() ? spec.name() : command.substr(command.rfind('/') + 1));
    if (source_of(options, "time") == Source::command_line && !own_allocation)
        request.set_time_limit_min(*options.step.time_limit_min);
    if (options.immediate_s) request.set_immediate_s(*options.immediate_s);
    if (spec.overcommit()) request.set_overcommit(true);
    request.set_submit_host(spec.alloc_node());
    request.set_interactive(options.step.interactive);
    request.set_cpu_bind(spec.cpu_bind());
    request.set_gpu_bind(spec.gpu_bind());
    request.set_srun_pid(static_cast<std::uint32_t>(::getpid()));
    return out;
}

void adopt_size(submit::SubmitOptions& options, const v1::Job& job) {
    auto& spec = options.spec;
    const auto& own = job.spec();
    const auto untyped = [&](const char* option) { return source_of(options, option) != Source::command_line; };
    if (untyped("ntasks")) own.has_tasks() ? spec.set_tasks(own.tasks()) : spec.clear_tasks();
    if (untyped("cpus-per-task"))
        own.has_cpus_per_task() ? spec.set_cpus_per_task(own.cpus_per_task()) : spec.clear_cpus_per_task();
    if (untyped("ntasks-per-node"))
        own.has_tasks_per_node() ? spec.set_tasks_per_node(own.tasks_per_node()) : spec.clear_tasks_per_node();
    if (!untyped("nodes")) return;
    spec.clear_min_nodes();
    spec.clear_max_nodes();
}

StreamPlan stream_plan(const std::string& text) {
    if (text.empty() || equal_nocase(text, "all")) return {};
    if (equal_nocase(text, "none")) return {StreamPlan::Kind::none, 0, text};
    if (const auto task = find_unsigned(text); task && *task < UINT32_MAX)
        return {StreamPlan::Kind::one_task, static_cast<std::uint32_t>(*task), text};
    if (differs_by_task(text) || differs_by_node(text)) return {StreamPlan::Kind::remote_files, 0, text};
    return {StreamPlan::Kind::local_file, 0, text};
}

std::string shell_quoted(std::string_view word) {
    std::string text = "'";
    for (const char c : word) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

Result<std::vector<std::string>> multi_prog_commands(std::string_view text, std::uint32_t tasks,
                                                     const std::string& where, std::span<const std::string> arguments) {
    std::vector<std::string> commands(tasks);
    std::size_t number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        std::vector<std::string> words;
        for (const auto part : split(line, ' '))
            for (const auto word : split(part, '\t'))
                if (!trim(word).empty()) words.emplace_back(trim(word));
        if (words.empty() || words[0].starts_with('#')) continue;
        if (words.size() < 2)
            return fail(ErrorCode::invalid, "{}:{}: no program for task ranks {}", where, number, words[0]);
        TaskSet ranks;
        if (words[0] == "*") {
            for (std::uint32_t task = 0; task < tasks; ++task)
                if (commands[task].empty()) ranks.insert(task);
        } else {
            const auto parsed = ArraySpec::parse(words[0], highest_max_array_size);
            if (!parsed) return fail(ErrorCode::invalid, "{}:{}: bad task ranks \"{}\"", where, number, words[0]);
            ranks = parsed->tasks;
        }
        for (auto task = ranks.first(); task && *task < tasks; task = ranks.next(*task + 1))
            if (!commands[*task].empty())
                return fail(ErrorCode::invalid,
                            "Duplicate record for task {}\nLine {} of configuration file {} invalid", *task, number,
                            where);
        std::uint32_t offset = 0;  // %o: the task's place within this line's ranks
        for (auto task = ranks.first(); task; task = ranks.next(*task + 1), ++offset) {
            if (*task >= tasks) break;
            std::string command;
            for (std::size_t i = 1; i < words.size(); ++i) {
                std::string word;
                for (std::size_t at = 0; at < words[i].size(); ++at) {
                    if (words[i][at] == '%' && at + 1 < words[i].size() &&
                        (words[i][at + 1] == 't' || words[i][at + 1] == 'o')) {
                        word += fmt::format("{}", words[i][at + 1] == 't' ? *task : offset);
                        ++at;
                    } else {
                        word += words[i][at];
                    }
                }
                command += (command.empty() ? "" : " ") + shell_quoted(word);
            }
            for (const auto& argument : arguments) command += " " + shell_quoted(argument);
            commands[*task] = std::move(command);
        }
    }
    for (std::uint32_t task = 0; task < tasks; ++task)
        if (commands[task].empty())
            return fail(ErrorCode::invalid, "Configuration file {} invalid, no record for task id {}", where, task);
    return commands;
}

}  // namespace spur::cli::srun
