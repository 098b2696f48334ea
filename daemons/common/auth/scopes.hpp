// What a caller whose credential is scoped may ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::auth {

// "read", "jobs" or "admin": the scope that a method belongs to. What is not known here belongs to "admin".
std::string_view scope_of(std::string_view method);

Result<void> check_scopes(std::string_view method, const std::vector<std::string>& scopes);

}  // namespace spur::auth
