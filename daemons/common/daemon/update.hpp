// Is there a newer release? Answered from a file that the site keeps; Spur itself never downloads or replaces anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::daemon {

// The version that `feed` names for the channel, if it is newer than `running`. The feed has lines such as
// "stable 1.2.0".
Result<std::optional<std::string>> find_update(const UpdateConfig& config, std::string_view running);
void log_update(const UpdateConfig& config);  // a line if there is one, or if the feed cannot be read

bool is_newer(std::string_view version, std::string_view than);  // by numbers: 1.10.0 is newer than 1.9.3

}  // namespace spur::daemon
