// From options to requests: the components of a job, each with what the script, the environment and the command line
// say of it, and what every request carries of the submitting process.
#pragma once

#include "cli/submit/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::submit {

// A command line cut at its ':' words: the options of each component, and the command after the last.
struct CommandLine {
    std::vector<std::vector<std::string>> components;  // each begins with the program's name
    std::vector<std::string> command;                  // empty: none
    std::vector<std::vector<std::string>> commands;    // srun: that of each component
};
struct SplitOutcome {
    ParseOutcome outcome;  // not go_on: leave
    CommandLine line;
    SubmitOptions first;  // what the command line says of the first component
};
SplitOutcome split_command_line(Tool tool, const std::vector<std::string>& words);

// The options of every component. `script` is empty for srun and salloc.
struct ComponentsOutcome {
    ParseOutcome outcome;
    std::vector<SubmitOptions> components;
};
ComponentsOutcome read_components(Tool tool, const CommandLine& line, std::string_view script, bool ignore_pbs);

// What this process adds: directory, host, session, umask, limits, environment, the command line itself.
struct Submitter {
    std::string host, directory, command_line;
    std::uint32_t session = 0, umask = 022;
    std::vector<std::string> environment;
    int nice = 0;

    static Submitter here(const std::vector<std::string>& words);
};
Result<void> complete(Tool tool, SubmitOptions& options, const Submitter& submitter);

// --export and --export-file: which variables travel. The list's names are looked up in `all`.
Result<std::vector<std::string>> exported(const SubmitOptions& options, const std::vector<std::string>& all);

void add_limits(const SubmitOptions& options, v1::JobSpec& spec);

}  // namespace spur::cli::submit
