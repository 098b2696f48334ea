// sprio: what each waiting job is worth, factor by factor.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sprio(Invocation& self);

}  // namespace spur::cli
