// What sbatch, srun and salloc are asked for. One table of options serves the three; each row says who knows it.
#pragma once

#include "cli/common/console.hpp"
#include "cli/common/options.hpp"
#include "core/base/result.hpp"
#include "spur/v1/job.pb.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::submit {

enum Tool : unsigned { sbatch = 1, srun = 2, salloc = 4 };
inline constexpr unsigned all_tools = sbatch | srun | salloc;

// Where a value came from. Later ones win: script, environment, command line.
enum class Source : std::uint8_t { unset, script, environment, command_line };

// What only srun reads, beside the request itself.
struct StepOptions {
    std::optional<std::uint32_t> job_id;  // --jobid, or the job we are in
    std::optional<std::uint32_t> relative;
    std::optional<std::string> step_gres;  // SLURM_STEP_GRES: --gres for steps alone
    std::string std_in, std_out, std_err;  // as typed; empty: streamed
    bool label = false;
    bool unbuffered = false;
    bool pty = false;
    bool multi_prog = false;
    bool exact = false;
    bool overlap = false;
    bool exclusive = false;
    bool disable_status = false;
    bool quit_on_interrupt = false;
    bool preserve_env = false;
    bool interactive = false;
    bool mpi_list = false;  // --mpi=list: say which kinds there are, and run nothing
    std::optional<bool> kill_on_bad_exit;
    std::optional<std::uint32_t> wait_s;
    std::string task_prolog, task_epilog, prolog, epilog;
    std::string het_group;
    std::optional<std::uint32_t> time_limit_min;  // of the step
};

struct SubmitOptions {
    v1::JobSpec spec;
    StepOptions step;

    std::string gres;  // --gres and --gpus-per-node together make spec.gres_per_node
    std::string gpus_per_node;
    std::string chdir;
    std::string clusters;                    // -M
    std::optional<std::string> export_list;  // --export
    std::string export_file;
    bool login_environment = false;  // --get-user-env: what a login shell sets, below what is exported
    std::string propagate;           // empty: everything; "NONE"
    std::optional<std::string> wrap;
    bool parsable = false;
    bool test_only = false;
    bool wait = false;
    bool ignore_pbs = false;
    bool quiet = false;
    int verbose = 0;
    bool bell = false;
    bool no_bell = false;
    bool no_shell = false;
    std::optional<int> kill_command;  // salloc -K: the signal
    std::optional<std::uint32_t> immediate_s;

    std::vector<Source> sources;  // by row of option_rows()
};

// A setter's failure: most end the program with 255, as Slurm's do; those marked `limit` end it with 1.
using Set = Result<void>;

struct SubmitRow {
    const char* name;
    char letter;
    Argument argument;
    unsigned tools;
    Set (*set)(SubmitOptions&, const char* value);
    // Variables that give the same, per tool; several are separated by a blank, the last that is set wins.
    const char* sbatch_variable = nullptr;
    const char* srun_variable = nullptr;
    const char* salloc_variable = nullptr;
    const char* value_name = nullptr;
    const char* help = nullptr;
};

std::span<const SubmitRow> option_rows();
std::size_t row_named(std::string_view name);
Source source_of(const SubmitOptions& options, std::string_view name);

// Why parsing stopped, and what is left to do.
struct ParseOutcome {
    ParseEnd end = ParseEnd::go_on;
    int exit_code = 0;
    std::string error;              // empty: already told
    bool is_fatal = false;          // said as "fatal:", not as "error:"
    std::vector<std::string> rest;  // the command, and a ':' if another component follows

    static ParseOutcome wrong(int code, std::string text, bool fatal = false) {
        ParseOutcome outcome;
        outcome.end = ParseEnd::wrong;
        outcome.exit_code = code;
        outcome.error = std::move(text);
        outcome.is_fatal = fatal;
        return outcome;
    }
    static ParseOutcome ended(ParseEnd how) {
        ParseOutcome outcome;
        outcome.end = how;
        return outcome;
    }
};

// Options that describe the size and place of one component; the others hold for all that follow it as well.
bool is_for_one_component(std::string_view option);

ParseOutcome apply_words(Tool tool, std::vector<std::string> words, Source source, SubmitOptions& options);
// The same for a component after the one the words were typed for: what is for one component only is left out.
ParseOutcome inherit_words(Tool tool, std::vector<std::string> words, Source source, SubmitOptions& options);
ParseOutcome apply_environment(Tool tool, SubmitOptions& options);

// After the last source: options that exclude each other, and fields that several options make together.
Result<void> combine(Tool tool, SubmitOptions& options);

std::string help_text(Tool tool);
std::string_view usage_text(Tool tool);

}  // namespace spur::cli::submit
