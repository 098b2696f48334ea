// The selector that sched plugins are checked with: whole idle nodes. It is the policy of the C++ select template.
#pragma once

#include <spur/plugin/sched.h>

namespace spur::check {

const spur_select_ops& reference_select_ops();
spur_selector reference_selector();

}  // namespace spur::check
