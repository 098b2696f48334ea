// Reading the options of sbatch, srun and salloc from words and from the environment.
#include "cli/submit/options.hpp"

#include "core/model/gres.hpp"
#include "core/model/gres_kind.hpp"
#include "core/text/lexical.hpp"

#include <algorithm>
#include <cstdlib>

namespace spur::cli::submit {
namespace {

constexpr int usage_exit_code = 255;

const char* variables_of(const SubmitRow& row, Tool tool) {
    switch (tool) {
        case sbatch:
            return row.sbatch_variable;
        case srun:
            return row.srun_variable;
        case salloc:
            return row.salloc_variable;
    }
    return nullptr;
}

void remember(SubmitOptions& options, std::size_t row, Source source) {
    if (options.sources.size() <= row) options.sources.resize(option_rows().size(), Source::unset);
    options.sources[row] = source;
}

ParseOutcome refused(const Error& error) {
    return ParseOutcome::wrong(error.code == ErrorCode::limit ? 1 : usage_exit_code, error.text);
}

// A variable for an option without argument sets it if it is empty, "yes" or a number other than 0.
bool switches_on(std::string_view value) {
    if (value.empty() || equal_nocase(value, "yes")) return true;
    const auto number = find_unsigned(value);
    return number && *number != 0;
}

}  // namespace

std::size_t row_named(std::string_view name) {
    const auto rows = option_rows();
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name) return i;
    return rows.size();
}

Source source_of(const SubmitOptions& options, std::string_view name) {
    const auto row = row_named(name);
    return row < options.sources.size() ? options.sources[row] : Source::unset;
}

bool is_for_one_component(std::string_view option) {
    static constexpr std::string_view names[] = {"constraint",
                                                 "contiguous",
                                                 "core-spec",
                                                 "cores-per-socket",
                                                 "cpus-per-gpu",
                                                 "cpus-per-task",
                                                 "exclusive",
                                                 "gpu-bind",
                                                 "gpus",
                                                 "gpus-per-node",
                                                 "gpus-per-socket",
                                                 "gpus-per-task",
                                                 "gres",
                                                 "gres-flags",
                                                 "licenses",
                                                 "mail-type",
                                                 "mail-user",
                                                 "mem-per-cpu",
                                                 "mem-per-gpu",
                                                 "mincpus",
                                                 "nodefile",
                                                 "nodelist",
                                                 "nodes",
                                                 "ntasks",
                                                 "ntasks-per-core",
                                                 "ntasks-per-gpu",
                                                 "ntasks-per-node",
                                                 "ntasks-per-socket",
                                                 "overcommit",
                                                 "oversubscribe",
                                                 "share",
                                                 "sockets-per-node",
                                                 "spread-job",
                                                 "switches",
                                                 "threads-per-core",
                                                 "tmp",
                                                 "use-min-nodes",
                                                 "distribution",
                                                 "extra-node-info"};
    return std::ranges::find(names, option) != std::end(names);
}

namespace {

ParseOutcome read_words(Tool tool, std::vector<std::string> words, Source source, SubmitOptions& options,
                        bool inherited) {
    const auto rows = option_rows();
    std::vector<OptionShape> shapes;
    std::vector<std::size_t> row_of;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if ((rows[i].tools & tool) == 0) continue;
        shapes.push_back({rows[i].name, rows[i].letter, rows[i].argument});
        row_of.push_back(i);
    }
    shapes.push_back({"help", 'h', Argument::none});
    shapes.push_back({"usage", 0, Argument::none});
    shapes.push_back({"version", 'V', Argument::none});
    // What follows the script or the command is its own.
    auto parsed = read_options(shapes, words, Order::stop_at_first_word);
    if (!parsed) return ParseOutcome::wrong(usage_exit_code, {});
    for (const auto& seen : parsed->seen) {
        if (seen.row == row_of.size()) return ParseOutcome::ended(ParseEnd::help);
        if (seen.row == row_of.size() + 1) return ParseOutcome::ended(ParseEnd::usage);
        if (seen.row == row_of.size() + 2) return ParseOutcome::ended(ParseEnd::version);
        const auto row = row_of[seen.row];
        if (inherited && is_for_one_component(rows[row].name)) continue;
        if (const auto set = rows[row].set(options, seen.value); !set) return refused(set.error());
        remember(options, row, source);
    }
    ParseOutcome outcome;
    outcome.rest = std::move(parsed->rest);
    return outcome;
}

}  // namespace

ParseOutcome apply_words(Tool tool, std::vector<std::string> words, Source source, SubmitOptions& options) {
    return read_words(tool, std::move(words), source, options, false);
}

ParseOutcome inherit_words(Tool tool, std::vector<std::string> words, Source source, SubmitOptions& options) {
    return read_words(tool, std::move(words), source, options, true);
}

ParseOutcome apply_environment(Tool tool, SubmitOptions& options) {
    const auto rows = option_rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const char* variables = variables_of(rows[i], tool);
        if (variables == nullptr) continue;
        for (const auto name : split(variables, ' ')) {
            const char* value = std::getenv(std::string(name).c_str());
            if (value == nullptr) continue;
            if (rows[i].argument == Argument::none && std::string_view(rows[i].name) != "verbose" &&
                !switches_on(value))
                continue;
            if (const auto set = rows[i].set(options, value); !set) {
                auto outcome = refused(set.error());
                outcome.error = fmt::format("{} (from the variable {})", outcome.error, name);
                return outcome;
            }
            remember(options, i, Source::environment);
        }
    }
    return {};
}

namespace {

// Memory is asked for in one way only. A variable gives way to what was typed.
Result<void> choose_memory(SubmitOptions& options) {
    auto& spec = options.spec;
    const auto node = source_of(options, "mem"), cpu = source_of(options, "mem-per-cpu"),
               gpu = source_of(options, "mem-per-gpu");
    const auto typed = [](Source source) { return source == Source::script || source == Source::command_line; };
    const int count = typed(node) + typed(cpu) + typed(gpu);
    if (count > 1) return fail(ErrorCode::conflict, "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
    if (count == 1) {
        if (!typed(node)) spec.clear_mem_per_node_mib();
        if (!typed(cpu)) spec.clear_mem_per_cpu_mib();
        if (!typed(gpu)) spec.clear_mem_per_gpu_mib();
    } else if (spec.has_mem_per_cpu_mib() && spec.has_mem_per_node_mib()) {
        spec.clear_mem_per_node_mib();
    }
    return {};
}

}  // namespace

Result<void> combine(Tool tool, SubmitOptions& options) {
    auto& spec = options.spec;
    SPUR_CHECK(choose_memory(options));
    auto gres = options.gres == "none" ? std::string() : options.gres;
    if (!options.gpus_per_node.empty()) gres += (gres.empty() ? "" : ",") + options.gpus_per_node;
    spec.set_gres_per_node(gres);
    if (spec.has_cpus_per_gpu() && spec.has_cpus_per_task() &&
        source_of(options, "cpus-per-task") == source_of(options, "cpus-per-gpu"))
        return fail(ErrorCode::conflict, "--cpus-per-task and --cpus-per-gpu are mutually exclusive.");
    if (tool == salloc && spec.signal().starts_with("B:"))
        return fail(ErrorCode::conflict, "Invalid --signal specification: there is no batch shell to signal");
    const bool one_thread = spec.hint() == "nomultithread" || spec.hint() == "compute_bound";
    if (one_thread && !spec.has_threads_per_core()) spec.set_threads_per_core(1);
    if (spec.has_tasks_per_gpu() && !spec.has_tasks())
        if (const auto gpus = parse_gres(spec.gres_per_job()); gpus && gres_count(*gpus, gpu_gres) != 0)
            spec.set_tasks(static_cast<std::uint32_t>(gres_count(*gpus, gpu_gres) * spec.tasks_per_gpu()));
    // As many nodes as tasks at most, where the user named a range of nodes and tasks but no minimum above it.
    if (options.immediate_s) spec.set_immediate_s(*options.immediate_s);
    return {};
}

std::string help_text(Tool tool) {
    std::vector<HelpLine> lines;
    for (const auto& row : option_rows())
        if ((row.tools & tool) != 0 && row.help)
            lines.push_back({row.letter, row.name, row.value_name, row.argument, row.help});
    switch (tool) {
        case sbatch:
            return cli::help_text("sbatch [OPTIONS(0)...] [ : [OPTIONS(N)...]] script(0) [args(0)...]", lines);
        case srun:
            return cli::help_text(
                "srun [OPTIONS(0)... [executable(0) [args(0)...]]] [ : [OPTIONS(N)...]] executable(N) [args(N)...]",
                lines);
        case salloc:
            return cli::help_text("salloc [OPTIONS(0)...] [ : [OPTIONS(N)]] [command(0) [args(0)...]]", lines);
    }
    return {};
}

std::string_view usage_text(Tool tool) {
    switch (tool) {
        case sbatch:
            return "Usage: sbatch [-N nnodes] [-n ntasks] [-c ncpus] [-p partition] [-t minutes] [--mem=MB] "
                   "[--gres=list]\n"
                   "              [-J jobname] [-A account] [-q qos] [-a indexes] [-d type:jobid] [-C list] [-w "
                   "hosts]\n"
                   "              [-x hosts] [-D path] [-i file] [-o file] [-e file] [--export=names] "
                   "[--wrap=command]\n"
                   "              [--parsable] [--test-only] [--wait] [--hold] ... executable [args...]\n"
                   "       sbatch --help lists every option\n";
        case srun:
            return "Usage: srun [-N nnodes] [-n ntasks] [-c ncpus] [-p partition] [-t minutes] [--mem=MB] "
                   "[--gres=list]\n"
                   "            [-J jobname] [--jobid=id] [-w hosts] [-x hosts] [-r n] [-m dist] [-D path] [-i in] [-o "
                   "out]\n"
                   "            [-e err] [-l] [-u] [--pty] [-K] [-W sec] [--exact] [--overlap] [--exclusive] "
                   "[--multi-prog]\n"
                   "            ... executable [args...]\n"
                   "       srun --help lists every option\n";
        case salloc:
            return "Usage: salloc [-N nnodes] [-n ntasks] [-c ncpus] [-p partition] [-t minutes] [--mem=MB] "
                   "[--gres=list]\n"
                   "              [-J jobname] [-A account] [-q qos] [-w hosts] [-x hosts] [-I[secs]] [--no-shell]\n"
                   "              [-K[signal]] ... [command [args...]]\n"
                   "       salloc --help lists every option\n";
    }
    return {};
}

}  // namespace spur::cli::submit
