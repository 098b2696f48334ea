// A plugin's numbers on their way from its process to the daemon.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "daemons/common/host/metrics.hpp"
#include "daemons/common/isolate/pack.hpp"

namespace spur::isolate {

void pack(Pack& out, const std::vector<host::Metric>& metrics);
std::optional<std::vector<host::Metric>> unpack_metrics(std::string_view bytes);

}  // namespace spur::isolate
