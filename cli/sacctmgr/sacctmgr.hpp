// sacctmgr: accounts, users, associations and QOS.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sacctmgr(Invocation& self);

}  // namespace spur::cli
