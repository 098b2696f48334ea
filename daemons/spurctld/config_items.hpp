// The configuration in force as `scontrol show config` lists it: Slurm's names, in Slurm's order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"

namespace spur::ctld {

std::vector<std::pair<std::string, std::string>> describe_config(const Config& config);

}  // namespace spur::ctld
