// What an agent says when it joins, as the command that registers its node.
#pragma once

#include "core/command.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

NodeRegistered registration(NodeId id, const v1::Register& request);

}  // namespace spur::ctld
