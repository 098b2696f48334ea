// spur why: why a job is not running, in sentences.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_why(Invocation& self);

}  // namespace spur::cli
