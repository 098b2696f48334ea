// Filling and emptying the accounting outbox.
#include "core/machine/cluster_ops.hpp"

namespace spur {

namespace {
constexpr std::size_t most_entries = 1'000'000;  // a database gone for good must not take the controller with it
}

void ClusterOps::post(OutboxKind kind, const Job& job, const Step* step) {
    OutboxEntry entry;
    entry.sequence = c.next_outbox_++;
    entry.kind = kind;
    entry.at = at;
    entry.job = std::make_shared<Job>(job);
    if (step) entry.step = std::make_shared<Step>(*step);
    c.outbox_.push_back(std::move(entry));
    if (c.outbox_.size() > most_entries) c.outbox_.pop_front();
}

void ClusterOps::post_jobs() {
    if (!keeps_outbox()) return;
    for (const auto& event : events) {
        if (const auto* queued = std::get_if<JobQueued>(&event)) {
            if (const Job* found = job(queued->job); found && !queued->duplicate)
                post(OutboxKind::job_queued, *found, nullptr);
        } else if (const auto* started = std::get_if<JobStarted>(&event)) {
            if (const Job* found = job(started->job)) post(OutboxKind::job_started, *found, nullptr);
        } else if (const auto* ended = std::get_if<JobEnded>(&event)) {
            if (const Job* found = job(ended->job)) post(OutboxKind::job_ended, *found, nullptr);
        } else if (const auto* over = std::get_if<StepEnded>(&event);
                   over && c.state_version_ < version_with_step_ends) {
            const Job* found = job(over->step.job);
            const Step* step = c.find_step(over->step);
            if (found && step) post(OutboxKind::step_ended, *found, step);
        }
    }
}

bool ClusterOps::keeps_outbox() const {
    return c.policies_.keep_outbox && (c.outbox_is_read_ || c.state_version_ < version_with_outbox_readers);
}

Result<void> ClusterOps::on(const OutboxDelivered& cmd) {
    if (c.state_version_ >= version_with_outbox_readers) c.outbox_is_read_ = true;
    while (!c.outbox_.empty() && c.outbox_.front().sequence <= cmd.sequence) c.outbox_.pop_front();
    return {};
}

}  // namespace spur
