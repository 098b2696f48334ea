// Secrets that stand in files of their own: `password = { file = "/etc/spur/db.secret" }`, which the configuration
// hands on as an option "password.file".
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::host {

inline constexpr std::string_view secret_file_suffix = ".file";

// The text of the file without a newline at its end. Refuses one that others than root and `user` own or may read.
Result<std::string> read_secret(const std::string& path, uid_t user);

// Changes when one of the files that these options name does: the options are the same, and what they say is not.
std::string secret_stamp(const std::vector<ConfigOption>& options);

}  // namespace spur::host
