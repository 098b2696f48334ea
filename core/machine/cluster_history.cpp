// Leaders, their marks and their keys.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"

namespace spur {

namespace {

constexpr std::size_t kept_eras = 64;
constexpr std::size_t kept_keys = 32;  // steps run for long, and their credentials with them
constexpr std::size_t key_size = 32;   // Ed25519

}  // namespace

Standing compare(const History& history, std::uint64_t version, const SeenHistory& seen) {
    if (seen.id.empty() || history.id.empty()) return Standing::same;
    if (!(seen.id == history.id)) return Standing::other;
    if (history.eras.empty() || seen.era < history.eras.front().number) return Standing::same;  // too long ago to tell
    const auto era = std::ranges::find(history.eras, seen.era, &Era::number);
    if (era == history.eras.end() || era->mark != seen.mark) return Standing::behind;
    const auto next = std::next(era);
    const bool reached = next == history.eras.end() ? seen.version <= version : seen.version < next->version;
    return reached ? Standing::same : Standing::behind;
}

Result<void> ClusterOps::on(const BeginEra& cmd) {
    auto& history = c.history_;
    if (history.id.empty() && cmd.history.empty()) return fail(ErrorCode::invalid, "a history needs an id");
    if (history.id.empty()) history.id = cmd.history;
    auto& eras = history.eras;
    eras.push_back({eras.empty() ? 1 : eras.back().number + 1, cmd.mark, version});
    if (eras.size() > kept_eras) eras.erase(eras.begin());
    // A copy of the state that was put back must not number anew what accounting has of its lost future under the same
    // numbers. Whatever was numbered before this moment is below it: nobody posts 2^30 entries in a second.
    if (posts_events()) c.next_outbox_ = std::max(c.next_outbox_, (static_cast<std::uint64_t>(at) << 30U) + 1);
    events.push_back(HistoryChanged{});
    return {};
}

Result<void> ClusterOps::on(const TrustStepKey& cmd) {
    if (cmd.key.size() != key_size)
        return fail(ErrorCode::invalid, "a key for the credentials of steps has {} bytes, not {}", key_size,
                    cmd.key.size());
    auto& keys = c.history_.step_keys;
    std::erase(keys, cmd.key);
    keys.push_back(cmd.key);
    if (keys.size() > kept_keys) keys.erase(keys.begin());
    events.push_back(HistoryChanged{});
    return {};
}

// An agent that knows more than this state does: what it has been sent since must not be taken for what is to come.
void ClusterOps::follow_seen(Node& node, const SeenHistory& seen) {
    const auto standing = compare(c.history_, c.version_, seen);
    if (standing == Standing::same) return;
    if (standing == Standing::behind && seen.job < c.policies_.max_job_id)
        c.next_job_id_ = std::max(c.next_job_id_, seen.job + 1);
    if (node.reason.empty())
        set_reason(node,
                   standing == Standing::behind ? "Its agent has seen a later state; an older copy was put back?"
                                                : "Its agent comes from another history of this cluster",
                   0);
    events.push_back(HistoryDiffers{node.id, standing == Standing::other});
}

}  // namespace spur
