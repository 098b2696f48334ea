// Making, announcing, replacing and using the leader's signing key.
#include "daemons/spurctld/agents/step_keys.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "spur/v1/controller.pb.h"

namespace spur::ctld {

namespace {

using Clock = std::chrono::system_clock;

std::uint64_t random_number() {
    std::random_device dice;
    return std::uint64_t{dice()} << 32 | dice();
}

Clock::time_point written_at(const std::string& file) {
    std::error_code error;
    const auto when = std::filesystem::last_write_time(file, error);
    return error ? Clock::now() : std::chrono::time_point_cast<Clock::duration>(std::chrono::file_clock::to_sys(when));
}

}  // namespace

StepKeys::StepKeys(Engine& engine, const std::string& directory, Log log)
    : engine_{engine}, file_{directory.empty() ? "" : directory + "/step_signing.key"}, log_{std::move(log)} {}

Result<void> StepKeys::open() {
    made_ = Clock::now();
    if (!file_.empty()) {
        auto known = sign::SigningKey::load(file_);
        if (known) {
            key_ = *std::move(known);
            made_ = written_at(file_);
            return {};
        }
        if (known.error().code != ErrorCode::not_found) return std::unexpected(known.error());
    }
    SPUR_TRY(key_, sign::SigningKey::make());
    return file_.empty() ? Result<void>{} : key_->store(file_);
}

void StepKeys::set_lifetime(std::chrono::seconds longest) {
    const std::lock_guard lock{mutex_};
    lifetime_ = longest;
}

Result<std::string> StepKeys::sign(std::string body) const {
    std::optional<sign::SigningKey> key;
    {
        const std::lock_guard lock{mutex_};
        key = key_;
    }
    v1::SignedCredential wrapped;
    SPUR_TRY(*wrapped.mutable_signature(), key->sign(body));
    wrapped.set_key(key->public_key());
    wrapped.set_body(std::move(body));
    return wrapped.SerializeAsString();
}

void StepKeys::on_leadership(const Cluster& cluster, const Leadership& now) {
    leads_ = now.is_leader;
    replacing_ = announced_ = false;
    if (leads_) announce(cluster);
}

// Not the parameter `leads`: it is set as well for what was applied before this controller began to lead.
void StepKeys::on_applied(const Cluster& cluster, const Events&, const planning::Changes&,
                          const std::shared_ptr<const planning::ReadModel>&, bool) {
    if (!leads_) return;
    announce(cluster);
    if (announced_) replace_if_old();
}

// [engine thread] Once for each lead, as soon as every controller understands it.
void StepKeys::announce(const Cluster& cluster) {
    constexpr std::uint32_t with_histories = 2;  // version of the state
    if (announced_ || cluster.state_version() < with_histories) return;
    announced_ = true;
    const auto complain = [this](const Result<Events>& result) {
        if (!result) log_(fmt::format("the beginning of this lead is not in the state: {}", result.error().text));
    };
    engine_.propose(BeginEra{fmt::format("{:016x}{:016x}", random_number(), random_number()), random_number()},
                    complain);
    const auto& known = cluster.history().step_keys;
    if (std::ranges::find(known, Text{key_->public_key()}) == known.end())
        engine_.propose(TrustStepKey{key_->public_key()}, complain);
}

// [engine thread]
void StepKeys::replace_if_old() {
    {
        const std::lock_guard lock{mutex_};
        if (replacing_ || lifetime_.count() == 0 || Clock::now() - made_ < lifetime_) return;
    }
    replacing_ = true;
    const auto fresh = sign::SigningKey::make();
    if (!fresh) return log_(fmt::format("the key for steps stays as it is: {}", fresh.error().text));
    // It is used for signatures only once agents can know it.
    engine_.propose(TrustStepKey{fresh->public_key()}, [this, fresh = *fresh](const Result<Events>& result) {
        if (result) return replaced(fresh);
        replacing_ = false;
    });
}

void StepKeys::replaced(const sign::SigningKey& fresh) {
    if (const auto stored = file_.empty() ? Result<void>{} : fresh.store(file_); !stored)
        log_(fmt::format("{}; the next start goes back to the key before", stored.error().text));
    const std::lock_guard lock{mutex_};
    key_ = fresh;
    made_ = Clock::now();
    replacing_ = false;
}

}  // namespace spur::ctld
