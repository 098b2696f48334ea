// scontrol: show and change anything, one command a call or many in a conversation.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_scontrol(Invocation& self);

}  // namespace spur::cli
