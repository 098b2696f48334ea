// Opening plugin files and reading what they say about themselves. An opened file stays mapped for the life of the
// process: threads and callbacks of a plugin may outlast its instances.
#pragma once

#include <spur/plugin/module.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/file_check.hpp"
#include "daemons/common/host/module_info.hpp"

namespace spur::host {

struct LoadOptions {
    std::string program{"this daemon"};  // named in refusals
    bool check_owner{true};
    uid_t user{};  // with check_owner: root and this user are trusted
};

// A plugin file that passed every check. descriptors[i] belongs to info.plugins[i] and was read in full: what this host
// knows of it is there, what the plugin's headers did not have yet is zero.
struct Library {
    ModuleInfo info;
    std::vector<spur_plugin_desc> descriptors;
    std::filesystem::path name;  // as it was looked for: a link may lead elsewhere by now
    FileStamp stamp;             // of what was opened

    const spur_plugin_desc* find(std::string_view type) const;
};

// The library behind `file`, opened now or before. Its file name must match a plugin in it. [main-thread]
Result<const Library*> load_library(const std::filesystem::path& file, const LoadOptions& options);

// What became of the file on disk since it was opened, for a sentence that names it; empty while it is the same. Only a
// restart of `program` can use another one.
std::string find_change(const Library& library, const std::string& program);

}  // namespace spur::host
