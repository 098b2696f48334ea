// sshare: shares and usage of the account tree.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sshare(Invocation& self);

}  // namespace spur::cli
