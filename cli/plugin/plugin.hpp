// spur plugin: find, inspect, check, start and watch plugins.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_plugin(Invocation& self);

}  // namespace spur::cli
