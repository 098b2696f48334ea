// Which plugin an instruction address belongs to. Written when a plugin is loaded, read by the crash handler.
#pragma once

#include <cstdint>

namespace spur::host {

// Remember the executable segments of a dlopen handle under `plugin`, which must live for ever.
void map_code(void* handle, const char* plugin);

// The plugin whose code contains `address`, or nullptr. Async-signal-safe.
const char* find_code_owner(std::uintptr_t address) noexcept;

}  // namespace spur::host
