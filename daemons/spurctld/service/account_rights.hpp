// Who may change which accounts: administrators all, operators all but administrators, coordinators what is below their
// accounts.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/model/picture.hpp"

namespace spur::ctld {

// Is `who` a coordinator of `account`, or of one above it?
bool is_coordinator(const Actor& who, const Picture& picture, std::string_view account);

Result<void> may_edit(const Actor& who, const Command& command, const Picture& picture);

}  // namespace spur::ctld
