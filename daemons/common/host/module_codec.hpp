// ModuleInfo as bytes, for the way from the probing child to its parent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemons/common/host/module_info.hpp"

namespace spur::host {

std::string encode_module(const ModuleInfo& module);
std::optional<ModuleInfo> decode_module(
    std::string_view bytes);  // nothing: these bytes were not made by encode_module()

}  // namespace spur::host
