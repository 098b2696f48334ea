// Many log lines at once, for what comes by the thousand a second: they reach the file by one write.
#pragma once

#include <string>
#include <vector>

#include "daemons/common/log/log.hpp"

namespace spur::log {

void write_all(Level level, const std::vector<std::string>& lines);

}  // namespace spur::log
