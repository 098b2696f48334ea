// sbatch: submit a batch script.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sbatch(Invocation& self);

}  // namespace spur::cli
