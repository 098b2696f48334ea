// Users and groups by name and number.
#pragma once

#include "daemons/common/records/users.hpp"

namespace spur::cli {

using records::find_group;
using records::find_user;
using records::name_of_group;
using records::name_of_user;

}  // namespace spur::cli
