// Looking at memory that a plugin pointed us to, without trusting the pointer: a bad one gives a refusal, not a crash.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace spur::host {

// Copies `size` bytes from `from`; false if any of them cannot be read.
bool copy_memory(void* to, const void* from, std::size_t size);

// The terminated string at `text`, at most `longest` bytes; nothing if it is unreadable or does not end in time.
std::optional<std::string> copy_string(const char* text, std::size_t longest);

// Is this the address of code in an object the process has loaded?
bool is_code(const void* address);

template <class T>
std::optional<T> copy_value(const T* from) {
    T value;
    if (!copy_memory(&value, from, sizeof(T))) return std::nullopt;
    return value;
}

}  // namespace spur::host
