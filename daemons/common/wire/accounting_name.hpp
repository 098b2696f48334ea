// What spurdbd is called in credentials (Audience): it may be shared by several clusters, so that no cluster is named beside it.
#pragma once

#include <string_view>

namespace spur::wire {

inline constexpr std::string_view accounting_name = "spurdbd";

}  // namespace spur::wire
