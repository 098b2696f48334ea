// The caller's proof of identity, made by the configured auth plugin.
#pragma once

#include "cli/common/cluster.hpp"
#include "core/base/result.hpp"
#include "daemons/common/wire/auth.hpp"

#include <memory>

namespace spur::cli {

Result<std::shared_ptr<wire::CredentialSource>> open_credentials(const Cluster& cluster);

}  // namespace spur::cli
