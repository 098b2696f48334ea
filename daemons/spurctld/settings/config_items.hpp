// The configuration in force as `scontrol show config` lists it: Slurm's names, in Slurm's order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/config.hpp"
#include "daemons/common/host/host.hpp"

namespace spur::ctld {

// `plugins` are those of this daemon: one that is in force in the place of another is what is shown.
std::vector<std::pair<std::string, std::string>> describe_config(const Config& config,
                                                                 const std::vector<host::PluginStatus>& plugins);

}  // namespace spur::ctld
