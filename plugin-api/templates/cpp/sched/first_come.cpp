// One walk along the queue.
#include "first_come.hpp"

#include <algorithm>

using spur::plugin::has_bit;
using spur::plugin::Records;

FirstCome::FirstCome(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink)
    : view_(view),
      select_(select),
      sink_(sink),
      blocked_(view.partitions.count),
      candidates_((view.nodes.count + 63) / 64),
      shares_(64),
      gres_(64),
      words_(256) {
    for (const auto& license : Records<spur_license_view>(view.licenses)) licenses_.push_back(license.used);
}

spur_status FirstCome::plan(spur_error* err) {
    if (const auto status = select_.ops->begin(select_.self, &view_, &cycle_, err); status != SPUR_OK) return status;
    for (const auto slot : Records<std::uint32_t>(view_.pending_order)) {
        if (sink_.stopped(&sink_)) break;
        const auto& job = *SPUR_AT(spur_job_view, view_.pending, slot);
        std::uint32_t reason = SPUR_WAIT_RESOURCES;
        for (std::uint32_t task = 0; task < std::max(1u, job.array_tasks); ++task) {
            for (const auto partition : Records<std::uint32_t>(job.partitions))
                if ((reason = start_one(slot, partition)) == 0) break;
            if (reason != 0) break;
        }
        if (reason == SPUR_WAIT_RESOURCES)
            for (const auto partition : Records<std::uint32_t>(job.partitions)) blocked_[partition] = true;
        if (reason != 0) sink_.waits(&sink_, slot, reason, {});
    }
    select_.ops->end(select_.self, cycle_);
    return SPUR_OK;
}

std::uint32_t FirstCome::start_one(std::uint32_t slot, std::uint32_t number) {
    const auto& job = *SPUR_AT(spur_job_view, view_.pending, slot);
    const auto& partition = *SPUR_AT(spur_partition_view, view_.partitions, number);
    std::uint32_t limit_s = 0;
    if (const auto reason = find_limit(job, partition, limit_s); reason != 0) return reason;
    if (blocked_[number]) return SPUR_WAIT_PRIORITY;
    if (!has_licenses(job)) return SPUR_WAIT_LICENSES;
    if (sink_.may_start(&sink_, slot, number) != SPUR_MAY_START) return SPUR_WAIT_LIMIT;
    if (const auto reason = find_candidates(job, limit_s); reason != 0) return reason;

    const auto verdict = pick(slot, number);
    if (verdict == SPUR_NOT_NOW) return SPUR_WAIT_RESOURCES;
    if (verdict != SPUR_FITS) return view_.reservations.count > 0 ? SPUR_WAIT_NODES_UNAVAILABLE : SPUR_WAIT_NEVER;
    if (placement_.share_count > partition.max_nodes) return SPUR_WAIT_PARTITION_NODE_LIMIT;
    if (sink_.start(&sink_, slot, number, &placement_, limit_s) != SPUR_OK) return SPUR_WAIT_LIMIT;
    select_.ops->take(cycle_, 0, &placement_, job.flags);
    for (const auto& wanted : Records<spur_license_request>(job.licenses)) licenses_[wanted.license] += wanted.count;
    return 0;
}

// The time limit to start with: the job's own, cut down to the partition's where the job allows that.
std::uint32_t FirstCome::find_limit(const spur_job_view& job, const spur_partition_view& partition,
                                    std::uint32_t& limit_s) const {
    if (partition.state == SPUR_PARTITION_DOWN) return SPUR_WAIT_PARTITION_DOWN;
    if (partition.state == SPUR_PARTITION_INACTIVE) return SPUR_WAIT_PARTITION_INACTIVE;
    if (job.min_nodes > partition.max_nodes) return SPUR_WAIT_PARTITION_NODE_LIMIT;
    limit_s = job.limit_s;
    if (limit_s > partition.max_time_s) {
        if (job.limit_min_s == 0 || job.limit_min_s > partition.max_time_s) return SPUR_WAIT_PARTITION_TIME_LIMIT;
        limit_s = partition.max_time_s;
    }
    const bool too_late = job.deadline != 0 && (limit_s == SPUR_UNLIMITED || view_.now + limit_s > job.deadline);
    return too_late ? SPUR_WAIT_DEADLINE : 0;
}

bool FirstCome::has_licenses(const spur_job_view& job) const {
    const Records<spur_license_view> all(view_.licenses);
    for (const auto& wanted : Records<spur_license_request>(job.licenses))
        if (licenses_[wanted.license] + wanted.count > all[wanted.license].total) return false;
    return true;
}

// Nodes of the job's reservation if it has one, else those that are not reserved before it would end.
std::uint32_t FirstCome::find_candidates(const spur_job_view& job, std::uint32_t limit_s) {
    const Records<spur_reservation_view> all(view_.reservations);
    const auto end = limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : view_.now + limit_s;
    std::fill(candidates_.begin(), candidates_.end(), ~std::uint64_t{0});
    if (view_.nodes.count % 64 != 0) candidates_.back() = ~std::uint64_t{0} >> (64 - view_.nodes.count % 64);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const bool mine = job.reservation == i;
        if (mine && (view_.now < all[i].start || view_.now >= all[i].end)) return SPUR_WAIT_RESERVATION;
        const bool in_the_way = all[i].start < end && view_.now < all[i].end;
        for (std::size_t w = 0; w < candidates_.size() && (mine || in_the_way); ++w) {
            const auto reserved = w < (all[i].nodes.count + 63) / 64 ? all[i].nodes.words[w] : 0;
            candidates_[w] &= mine ? reserved : ~reserved;
        }
    }
    return 0;
}

spur_status FirstCome::pick(std::uint32_t slot, std::uint32_t partition) {
    const spur_pick question{sizeof(spur_pick), slot, partition, 0, {candidates_.data(), view_.nodes.count, 0}, 0, 0};
    for (;;) {
        placement_ = {};
        placement_.size = sizeof(spur_placement);
        placement_.share_capacity = static_cast<std::uint32_t>(shares_.size());
        placement_.gres_capacity = static_cast<std::uint32_t>(gres_.size());
        placement_.word_capacity = static_cast<std::uint32_t>(words_.size());
        placement_.shares = shares_.data();
        placement_.gres = gres_.data();
        placement_.words = words_.data();
        const auto verdict = select_.ops->pick(cycle_, &question, &placement_);
        if (verdict != SPUR_NO_ROOM) return verdict;
        shares_.resize(std::max<std::size_t>(shares_.size(), placement_.share_wanted));
        gres_.resize(std::max<std::size_t>(gres_.size(), placement_.gres_wanted));
        words_.resize(std::max<std::size_t>(words_.size(), placement_.word_wanted));
    }
}
