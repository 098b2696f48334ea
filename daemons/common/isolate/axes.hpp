// The axes whose plugins may live in a process of their own.
#pragma once

#include <vector>

#include "daemons/common/host/host.hpp"
#include "daemons/common/isolate/crossing.hpp"

namespace spur::isolate {

struct AxisCrossing {
    const host::AxisInfo* axis;
    std::vector<OpCrossing> ops;  // in the order of the axis's own
    // In the plugin's process: opens the plugin that `config` names.
    Result<host::Instance*> (*open)(host::PluginHost& host, const Config& config);
};

// nullptr: plugins of this axis stay inside of the daemon.
const AxisCrossing* find_crossing(std::string_view axis);

}  // namespace spur::isolate
