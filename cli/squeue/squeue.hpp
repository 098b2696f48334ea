// squeue: the jobs and steps of the cluster.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_squeue(Invocation& self);

}  // namespace spur::cli
