// The credential that srun carries from the controller to the agents: signed with its key, checked with the public
// half.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <optional>

#include "core/base/result.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

struct CredentialCheck {
    const v1::StepKeys& keys;         // that the controller says to trust; none: not known yet
    std::string_view node;            // this one
    std::uint32_t caller{};           // who presents it, as the auth plugin says
    std::optional<std::int64_t> now;  // nullopt: its age does not matter
};

// The credential's content, and which entry of its layout is this node's.
struct VerifiedCredential {
    v1::StepCredential credential;
    int node{};
};

// Refuses what is unsigned, altered, expired, for another node, or somebody else's. ErrorCode::unavailable: the key it
// is signed with is not known here, or not yet.
Result<VerifiedCredential> verify_credential(std::string_view bytes, const CredentialCheck& check);

// Leave to see what a job uses. The same refusals, but for the node: the job is there or it is not.
Result<v1::MeasurePermit> verify_permit(std::string_view bytes, const CredentialCheck& check);

}  // namespace spur::agent
