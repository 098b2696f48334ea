// Reading a spur_module that may be anything: every pointer, size and string in it is checked before it is used.
#pragma once

#include <spur/plugin/module.h>

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/module_info.hpp"

namespace spur::host {

// Copies `module` into values, or says in one sentence why the file is refused.
Result<void> read_module(const spur_module* module, const std::string& file, const std::string& program,
                         ModuleInfo& info, std::vector<spur_plugin_desc>& descriptors);

}  // namespace spur::host
