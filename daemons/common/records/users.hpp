// Users and groups by name and number. Listings ask for the same few again and again, so answers are kept.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace spur::records {

std::string name_of_user(std::uint32_t uid);  // the number, where there is no name
std::string name_of_group(std::uint32_t gid);
std::optional<std::uint32_t> find_user(const std::string& name_or_number);
std::optional<std::uint32_t> find_group(const std::string& name_or_number);

}  // namespace spur::records
