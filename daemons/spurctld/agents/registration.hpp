// What an agent says when it joins, as the command that registers its node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/machine/cluster.hpp"
#include "core/machine/command.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// What the agent has seen of the state is left out until the state has a history: older controllers do not know it.
NodeRegistered registration(NodeId id, const v1::Register& request, bool has_history);
v1::SeenHistory history_now(const History& history, std::uint64_t version);  // for agents to remember

// What the certificate of this node's agent may be made out to, by [tls] agent_names.
std::vector<std::string> certificate_names(std::string_view node, std::vector<std::string> patterns);
bool is_made_out_to(const std::vector<std::string>& names, const std::vector<std::string>& accepted);

}  // namespace spur::ctld
