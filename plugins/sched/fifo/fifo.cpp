// Trying the jobs of each partition in order until one must wait.
#include "fifo.hpp"

#include <algorithm>

namespace spur::fifo {

PlacementBuffer::PlacementBuffer() : shares_(64), gres_(64), words_(256) { bind(); }

void PlacementBuffer::bind() {
    placement_ = {};
    placement_.size = sizeof(placement_);
    placement_.shares = shares_.data();
    placement_.share_capacity = static_cast<std::uint32_t>(shares_.size());
    placement_.gres = gres_.data();
    placement_.gres_capacity = static_cast<std::uint32_t>(gres_.size());
    placement_.words = words_.data();
    placement_.word_capacity = static_cast<std::uint32_t>(words_.size());
}

void PlacementBuffer::grow() {
    shares_.resize(std::max<std::size_t>(shares_.size(), placement_.share_wanted));
    gres_.resize(std::max<std::size_t>(gres_.size(), placement_.gres_wanted));
    words_.resize(std::max<std::size_t>(words_.size(), placement_.word_wanted));
    bind();
}

struct Fifo::Cycle {
    const spur_cluster_view& view;
    const spur_selector& select;
    const spur_plan_sink& sink;
    spur_select_cycle* picture;

    void waits(std::uint32_t slot, std::uint32_t reason) const { sink.waits(&sink, slot, reason, {nullptr, 0, 0}); }
};

spur_status Fifo::plan(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink,
                       spur_error* err) {
    Cycle cycle{view, select, sink, nullptr};
    if (const auto status = select.ops->begin(select.self, &view, &cycle.picture, err); status != SPUR_OK)
        return status;
    blocked_.assign(view.partitions.count, 0);
    licenses_.assign(view.licenses.count, 0);
    for (std::uint32_t i = 0; i < view.pending_order.count; ++i) {
        if (sink.stopped(&sink)) break;
        const auto slot = *SPUR_AT(std::uint32_t, view.pending_order, i);
        const auto* job = SPUR_AT(spur_job_view, view.pending, slot);
        // An array record starts as many tasks as fit.
        for (std::uint32_t task = 0; task < std::max(job->array_tasks, 1U); ++task)
            if (sink.stopped(&sink) || try_job(cycle, slot) != Outcome::started) break;
    }
    select.ops->end(select.self, cycle.picture);
    return SPUR_OK;
}

Fifo::Outcome Fifo::try_job(Cycle& cycle, std::uint32_t slot) {
    const auto* job = SPUR_AT(spur_job_view, cycle.view.pending, slot);
    auto best = Outcome::never;
    for (std::uint32_t p = 0; p < job->partitions.count; ++p) {
        const auto outcome = try_partition(cycle, slot, *SPUR_AT(std::uint32_t, job->partitions, p));
        if (outcome == Outcome::started) return outcome;
        if (best == Outcome::never) best = outcome;
    }
    if (best == Outcome::blocked)
        for (std::uint32_t p = 0; p < job->partitions.count; ++p)
            blocked_[*SPUR_AT(std::uint32_t, job->partitions, p)] = 1;
    return best;
}

// The nodes of the job's reservation if it has one, else those that are not reserved before it would end. False: its
// reservation is not open.
bool Fifo::find_candidates(const spur_cluster_view& view, const spur_job_view& job) {
    const auto end = job.limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : view.now + job.limit_s;
    candidates_.assign((view.nodes.count + 63) / 64, ~std::uint64_t{0});
    if (view.nodes.count % 64 != 0) candidates_.back() >>= 64 - view.nodes.count % 64;
    for (std::uint32_t i = 0; i < view.reservations.count; ++i) {
        const auto* reserved = SPUR_AT(spur_reservation_view, view.reservations, i);
        const bool mine = job.reservation == i;
        if (mine && (view.now < reserved->start || view.now >= reserved->end)) return false;
        const bool in_the_way =
            reserved->start < end && view.now < reserved->end && !(job.flags & SPUR_JOB_IGNORE_RESERVATIONS);
        if (!mine && !in_the_way) continue;
        for (std::size_t w = 0; w < candidates_.size(); ++w) {
            const auto nodes = w < (reserved->nodes.count + 63) / 64 ? reserved->nodes.words[w] : 0;
            candidates_[w] &= mine ? nodes : ~nodes;
        }
    }
    return true;
}

Fifo::Outcome Fifo::try_partition(Cycle& cycle, std::uint32_t slot, std::uint32_t partition) {
    const auto* job = SPUR_AT(spur_job_view, cycle.view.pending, slot);
    const auto* rules = SPUR_AT(spur_partition_view, cycle.view.partitions, partition);
    if (rules->state == SPUR_PARTITION_DOWN) return cycle.waits(slot, SPUR_WAIT_PARTITION_DOWN), Outcome::held;
    if (rules->state == SPUR_PARTITION_INACTIVE) return cycle.waits(slot, SPUR_WAIT_PARTITION_INACTIVE), Outcome::held;
    if (job->limit_s > rules->max_time_s) return cycle.waits(slot, SPUR_WAIT_PARTITION_TIME_LIMIT), Outcome::held;
    if (job->min_nodes > rules->max_nodes) return cycle.waits(slot, SPUR_WAIT_PARTITION_NODE_LIMIT), Outcome::held;
    if (blocked_[partition]) return cycle.waits(slot, SPUR_WAIT_PRIORITY), Outcome::blocked;
    if (job->deadline != 0 && job->limit_s != SPUR_UNLIMITED && cycle.view.now + job->limit_s > job->deadline)
        return cycle.waits(slot, SPUR_WAIT_DEADLINE), Outcome::held;
    for (std::uint32_t i = 0; i < job->licenses.count; ++i) {
        const auto* wanted = SPUR_AT(spur_license_request, job->licenses, i);
        const auto* license = SPUR_AT(spur_license_view, cycle.view.licenses, wanted->license);
        if (license->used + licenses_[wanted->license] + wanted->count > license->total)
            return cycle.waits(slot, SPUR_WAIT_LICENSES), Outcome::held;
    }
    if (cycle.sink.may_start(&cycle.sink, slot, partition) != SPUR_MAY_START)
        return cycle.waits(slot, SPUR_WAIT_LIMIT), Outcome::held;

    if (!find_candidates(cycle.view, *job)) return cycle.waits(slot, SPUR_WAIT_RESERVATION), Outcome::held;

    const bool restricted = cycle.view.reservations.count > 0;
    const spur_bits candidates{restricted ? candidates_.data() : nullptr, restricted ? cycle.view.nodes.count : 0, 0};
    const spur_pick pick{sizeof(spur_pick), slot, partition, 0, candidates, 0, 0};
    const auto& ops = *cycle.select.ops;
    auto verdict = ops.pick(cycle.picture, &pick, placement_.get());
    if (verdict == SPUR_NO_ROOM) {
        placement_.grow();
        verdict = ops.pick(cycle.picture, &pick, placement_.get());
    }
    if (verdict == SPUR_NEVER)
        return cycle.waits(slot, restricted ? SPUR_WAIT_NODES_UNAVAILABLE : SPUR_WAIT_NEVER), Outcome::never;
    if (verdict != SPUR_FITS) return cycle.waits(slot, SPUR_WAIT_RESOURCES), Outcome::blocked;
    if (placement_.get()->share_count > rules->max_nodes)
        return cycle.waits(slot, SPUR_WAIT_PARTITION_NODE_LIMIT), Outcome::held;
    if (cycle.sink.start(&cycle.sink, slot, partition, placement_.get(), job->limit_s) != SPUR_OK) return Outcome::held;
    ops.take(cycle.picture, 0, placement_.get(), job->flags);
    for (std::uint32_t i = 0; i < job->licenses.count; ++i) {
        const auto* wanted = SPUR_AT(spur_license_request, job->licenses, i);
        licenses_[wanted->license] += wanted->count;
    }
    return Outcome::started;
}

}  // namespace spur::fifo
