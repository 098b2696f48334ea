// Who may change which accounts: administrators all, operators all but administrators, coordinators what is below their
// accounts.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::ctld {

// Is `who` a coordinator of `account`, or of one above it?
bool is_coordinator(const Actor& who, const planning::Directory& directory, std::string_view account);

Result<void> may_edit(const Actor& who, const Command& command, const planning::Directory& directory);

}  // namespace spur::ctld
