// The batch script: where it is found and read from.
#pragma once

#include "cli/submit/options.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace spur::cli::submit {

struct BatchScript {
    std::string text;
    std::string path;          // absolute; empty: standard input or --wrap
    std::string default_name;  // of the job
    std::vector<std::string> arguments;
};

// From --wrap, a file, or standard input. Errors are sbatch's own sentences, one a line.
Result<BatchScript> load_script(const SubmitOptions& options, const std::vector<std::string>& command);

// The file `name` means: as a path if it looks like one, in the directory, then along PATH.
std::string find_program(const std::string& name, const std::string& directory, bool must_run);

}  // namespace spur::cli::submit
