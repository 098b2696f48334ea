// sinfo --json: every node in the shape of Slurm's REST schema v0.0.38, which 22.05 prints.
#pragma once

#include "spur/v1/controller.pb.h"

#include <string>

namespace spur::cli::sinfo {

std::string nodes_json(const v1::ListNodesReply& reply);

}  // namespace spur::cli::sinfo
