// srun: run tasks on allocated nodes, and wait for them.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_srun(Invocation& self);

}  // namespace spur::cli
