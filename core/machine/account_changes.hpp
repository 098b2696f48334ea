// What an edit of accounts changes, in words, for the record of transactions.
#pragma once

#include "core/machine/cluster.hpp"
#include "core/machine/command.hpp"

namespace spur {

// `before`: the state that it is about to change.
AccountsChange describe_edit(const AccountsEdit& edit, const Cluster& before, const Text& actor);

}  // namespace spur
