// salloc: allocate nodes, and run a command or a shell with them.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_salloc(Invocation& self);

}  // namespace spur::cli
