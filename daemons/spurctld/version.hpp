// What this build calls itself.
#pragma once

#include <string_view>

namespace spur::ctld {
inline constexpr std::string_view version = "1.0.0";
}  // namespace spur::ctld
