// Checking the signature, the time, the caller and the node of a credential.
#include "daemons/spurd/credential.hpp"

#include <algorithm>

#include "daemons/common/sign/signing_key.hpp"

namespace spur::agent {

namespace {

constexpr std::int64_t clock_skew_s = 300;

// What was signed by a key that the controller says to trust.
Result<std::string> signed_body(std::string_view bytes, const CredentialCheck& check) {
    v1::SignedCredential outer;
    if (!outer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return fail(ErrorCode::invalid, "the step's credential is malformed");
    if (check.keys.keys().empty())
        return fail(ErrorCode::unavailable, "{} has not joined the cluster yet; try again in a moment", check.node);
    if (std::ranges::find(check.keys.keys(), outer.key()) == check.keys.keys().end())
        return fail(ErrorCode::unavailable, "the step's credential was not signed by this cluster's controller");
    if (!sign::is_signed_by(outer.key(), outer.body(), outer.signature()))
        return fail(ErrorCode::denied, "the step's credential was not signed by this cluster's controller");
    return outer.body();
}

Result<void> check_age(std::int64_t issued, std::int64_t expires, const CredentialCheck& check) {
    if (check.now && *check.now > expires)
        return fail(ErrorCode::denied,
                    "the step's credential has expired; the clocks of {} and the controller may differ", check.node);
    if (check.now && issued > *check.now + clock_skew_s)
        return fail(ErrorCode::denied, "the step's credential is from the future; the clock of {} is behind",
                    check.node);
    return {};
}

}  // namespace

Result<v1::MeasurePermit> verify_permit(std::string_view bytes, const CredentialCheck& check) {
    SPUR_TRY(const auto body, signed_body(bytes, check));
    v1::MeasurePermit permit;
    if (!permit.ParseFromString(body) || permit.job_id() == 0)
        return fail(ErrorCode::invalid, "this is no leave to measure a job's steps");
    SPUR_CHECK(check_age(permit.issued(), permit.expires(), check));
    if (check.caller != permit.uid())
        return fail(ErrorCode::denied, "leave to measure the steps of job {} was given to uid {}, not to uid {}",
                    permit.job_id(), permit.uid(), check.caller);
    return permit;
}

Result<VerifiedCredential> verify_credential(std::string_view bytes, const CredentialCheck& check) {
    SPUR_TRY(const auto body, signed_body(bytes, check));
    VerifiedCredential verified;
    auto& credential = verified.credential;
    if (!credential.ParseFromString(body)) return fail(ErrorCode::invalid, "the step's credential is malformed");
    SPUR_CHECK(check_age(credential.issued(), credential.expires(), check));
    if (check.caller != 0 && check.caller != credential.job().uid())
        return fail(ErrorCode::denied, "uid {} may not start steps in a job of uid {}", check.caller,
                    credential.job().uid());
    const auto& layout = credential.layout();
    const auto mine =
        std::ranges::find(layout, check.node, [](const auto& entry) -> std::string_view { return entry.node(); });
    if (mine == layout.end()) return fail(ErrorCode::denied, "the step's credential is not for node {}", check.node);
    verified.node = static_cast<int>(mine - layout.begin());
    return verified;
}

}  // namespace spur::agent
