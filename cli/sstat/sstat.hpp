// sstat: what running steps use, as their nodes say.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sstat(Invocation& self);

}  // namespace spur::cli
