// The accounting outbox: what accounting must hear of, kept in the replicated state until it says that it has, so that
// neither a dead controller nor a dead database loses a job's record. Delivered at least once; sequence numbers tell
// repeats apart.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/ids.hpp"
#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/model/reservation.hpp"
#include "core/model/step.hpp"

namespace spur {

enum class OutboxKind : std::uint8_t {
    job_queued,
    job_started,
    job_requeued,
    job_ended,
    step_ended,
    job_changed,
    node_event,
    accounts_edited,
    reservation_set,
    mirror,  // accounts, users, associations, QOS or reservations changed: whoever sends takes them as they are then
    step_started
};
constexpr bool has_job(OutboxKind kind) { return kind < OutboxKind::node_event || kind == OutboxKind::step_started; }

// A node was not to be used from `start` on; without a name: what the whole cluster had.
struct NodeEvent {
    Text node;
    UnixSeconds start{};
    UnixSeconds end{};  // 0: it still is so
    Text state;         // "DOWN", "DRAIN", "FAIL"; with a "*" if it does not answer
    Text reason;
    Uid reason_uid{};
    TresList tres;
    bool operator==(const NodeEvent&) const = default;
};

// One thing that somebody changed through sacctmgr.
struct AccountsChange {
    Text actor;
    std::uint32_t number{};  // in its command
    Text action;             // "Add Users"
    Text subject;            // "name='ann'"
    Text change;             // "default_account='physics'"
    bool operator==(const AccountsChange&) const = default;
};

struct OutboxEntry {
    std::uint64_t sequence{};
    OutboxKind kind{OutboxKind::job_ended};
    UnixSeconds at{};
    std::shared_ptr<const Job> job{};    // as it was then; where has_job() says so
    std::shared_ptr<const Step> step{};  // with step_started and step_ended
    std::shared_ptr<const NodeEvent> event{};
    std::shared_ptr<const AccountsChange> change{};
    std::shared_ptr<const Reservation> reservation{};
};

}  // namespace spur
