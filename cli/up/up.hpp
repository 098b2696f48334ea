// spur up and spur down: a whole cluster on this machine, with no configuration.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_up(Invocation& self);
int run_down(Invocation& self);

}  // namespace spur::cli
