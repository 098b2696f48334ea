// The state belongs to one cluster: under another name its jobs, accounts and agents would be taken for those of
// somebody else. Its name is kept beside it, and a different one is refused unless `may_rename`.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace spur::ctld {

Result<void> check_cluster_name(const std::string& dir, const std::string& name, bool may_rename);
Result<void> keep_cluster_name(const std::string& dir, const std::string& name);
Error name_mismatch(const std::string& dir, const std::string& kept, const std::string& name);

}  // namespace spur::ctld
