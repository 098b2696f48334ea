// spur sim: how a cluster would have scheduled a workload, in virtual time, with the plugins it would use.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sim(Invocation& self);

}  // namespace spur::cli
