// Small helpers for reading text that users typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur {

std::string_view trim(std::string_view text);                         // blanks and line ends off both sides
std::vector<std::string_view> split(std::string_view text, char at);  // "a,,b" has three parts, "" has one
std::vector<std::string_view> split_outside_brackets(std::string_view text, char at);  // "1_[2,3],4" has two

std::optional<std::uint64_t> find_unsigned(std::string_view text);  // decimal digits only, and it must fit
bool equal_nocase(std::string_view a, std::string_view b);          // ASCII
std::string lower(std::string_view text);                           // ASCII

// For error messages: in double quotes, control bytes escaped, long texts cut short.
std::string quoted(std::string_view text);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

}  // namespace spur
