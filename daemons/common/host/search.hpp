// Where plugins are looked for: `[plugins] dirs` in their order, then the directory Spur was installed with.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::host {

// The configured directories, then ../lib/spur beside this program, then the one compiled in; each once.
std::vector<std::filesystem::path> plugin_search_path(const std::vector<std::string>& configured);

std::string plugin_file_name(std::string_view type);  // "sched/backfill" -> "sched_backfill.so"
bool is_plugin_type(std::string_view type);           // axis, slash, name; both [a-z][a-z0-9_]*

struct PluginFile {
    std::filesystem::path path;                   // the one to open
    std::vector<std::filesystem::path> shadowed;  // the same name in later directories
};
Result<PluginFile> find_plugin(std::string_view type, const std::vector<std::filesystem::path>& dirs);

}  // namespace spur::host
