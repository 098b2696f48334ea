// Which plugin an instruction address belongs to. Written when a plugin is loaded, read by the crash handler.
#pragma once

#include <cstdint>

#include "daemons/common/host/file_check.hpp"

namespace spur::host {

// Remember the executable segments of a dlopen handle under `plugin`, and the file they are from. Both names must live
// for ever.
void map_code(void* handle, const char* plugin, const char* file, const FileStamp& stamp);

// The plugin whose code contains `address`, or nullptr. Async-signal-safe.
const char* find_code_owner(std::uintptr_t address) noexcept;

// The file of `plugin` was written to while it was mapped: what crashed may be anybody's bytes. Async-signal-safe.
bool is_written_over(const char* plugin) noexcept;

}  // namespace spur::host
