// sinfo: the nodes and partitions of the cluster.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sinfo(Invocation& self);

}  // namespace spur::cli
