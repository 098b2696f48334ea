// The accounting outbox: what accounting must hear of, kept in the replicated state until it says that it has, so that
// neither a dead controller nor a dead database loses a job's record. Delivered at least once; sequence numbers tell
// repeats apart.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/ids.hpp"
#include "core/model/job.hpp"
#include "core/model/step.hpp"

namespace spur {

enum class OutboxKind : std::uint8_t { job_queued, job_started, job_requeued, job_ended, step_ended, job_changed };

struct OutboxEntry {
    std::uint64_t sequence{};
    OutboxKind kind{OutboxKind::job_ended};
    UnixSeconds at{};
    std::shared_ptr<const Job> job;    // as it was then
    std::shared_ptr<const Step> step;  // with step_ended
};

}  // namespace spur
