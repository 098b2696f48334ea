// sacct: jobs and steps that were, and those that are.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sacct(Invocation& self);
// `spur history`: the same for people, unless they say which columns they want.
int run_history(Invocation& self);

}  // namespace spur::cli
