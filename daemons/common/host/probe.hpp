// Look into a plugin file without letting it near this process: it is opened in a child that has little memory, little
// time and nothing open, and what it says about itself comes back through a pipe. Whatever the file does, crash, exit,
// loop or eat memory, the caller gets either its description or one sentence saying what happened.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/module_info.hpp"

namespace spur::host {

struct ProbeOptions {
    std::chrono::milliseconds timeout{5'000};
    std::uint64_t memory_bytes{std::uint64_t{1} << 30};  // beyond what this process has mapped already
    bool check_owner{true};                              // refuse files others could have written, as the daemons do
};

// Forks: call it from a program with one thread.
Result<ModuleInfo> probe(const std::filesystem::path& file, const ProbeOptions& options = {});

// Every <axis>_<name>.so in `dirs`, in the order of the search path; the first of two with the same name is the one a
// daemon would take. A directory that cannot be read is one entry with an error.
struct Found {
    std::filesystem::path file;
    bool shadowed{false};  // an earlier directory has a file of the same name
    Result<ModuleInfo> module;
};
std::vector<Found> probe_all(const std::vector<std::filesystem::path>& dirs, const ProbeOptions& options = {});

}  // namespace spur::host
