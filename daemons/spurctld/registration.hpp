// What an agent says when it joins, as the command that registers its node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/command.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

NodeRegistered registration(NodeId id, const v1::Register& request);

// What the certificate of this node's agent may be made out to, by [tls] agent_names.
std::vector<std::string> certificate_names(std::string_view node, std::vector<std::string> patterns);
bool is_made_out_to(const std::vector<std::string>& names, const std::vector<std::string>& accepted);

}  // namespace spur::ctld
