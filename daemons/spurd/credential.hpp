// The credential that srun carries from the controller to the agents: signed with a key that only they two know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <optional>

#include "core/result.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

struct CredentialCheck {
    std::string_view key;             // from the controller's welcome; empty: not known yet
    std::string_view node;            // this one
    std::uint32_t caller{};           // who presents it, as the auth plugin says
    std::optional<std::int64_t> now;  // nullopt: its age does not matter
};

// The credential's content, and which entry of its layout is this node's.
struct VerifiedCredential {
    v1::StepCredential credential;
    int node{};
};

// HMAC-SHA-256 over the body. Refuses what is unsigned, altered, expired, for another node, or somebody else's.
Result<VerifiedCredential> verify_credential(std::string_view bytes, const CredentialCheck& check);

}  // namespace spur::agent
