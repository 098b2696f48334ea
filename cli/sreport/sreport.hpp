// sreport: what was used, by whom, from spurdbd's roll-up.
#pragma once

#include "cli/common/invocation.hpp"

namespace spur::cli {

int run_sreport(Invocation& self);
int run_report(Invocation& self);  // spur report: the same for people

}  // namespace spur::cli
