// Every command of the multi-call binary: what it is called, what it does, where it starts.
#pragma once

#include "cli/common/invocation.hpp"

#include <span>
#include <string_view>

namespace spur::cli {

struct Verb {
    std::string_view name;        // "sbatch" or "submit"
    std::string_view slurm_name;  // what messages call it: "sbatch" for both; empty: a command of Spur's own
    Command run;
    std::string_view summary;
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

}  // namespace spur::cli
