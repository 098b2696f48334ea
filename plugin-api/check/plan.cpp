// Each call into the sink, checked and written down.
#include "plan.hpp"

#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::check {

using plugin::has_bit;
using plugin::Records;
using plugin::view;

Plan::Plan(const spur_cluster_view& cluster, Shape shape, std::set<std::uint32_t> limited, std::uint64_t stop_at)
    : view_(cluster), memory_(shape), ledger_(cluster), limited_(std::move(limited)), stop_at_(stop_at) {
    for (const auto slot : Records<std::uint32_t>(cluster.pending_order)) waiting_.insert(slot);
    sink_ = memory_.one(spur_plan_sink{
        .context = this,
        .stopped =
            [](auto* sink) { return std::uint32_t{++of(sink, "stopped").questions_ >= of(sink, "stopped").stop_at_}; },
        .may_start = [](auto* sink, auto job,
                        auto partition) { return of(sink, "may_start").may_start(job, partition); },
        .start = [](auto* sink, auto job, auto partition, auto* placement,
                    auto limit_s) { return of(sink, "start").start(job, partition, placement, limit_s); },
        .expect = [](auto* sink, auto job, auto at, auto partition,
                     auto) { of(sink, "expect").expect(job, at, partition); },
        .waits = [](auto* sink, auto job, auto reason, auto) { of(sink, "waits").waits(job, reason); },
        .preempt =
            [](auto* sink, auto job, auto partition, auto* victims, auto count, auto* placement) {
                return of(sink, "preempt").preempt(job, partition, victims, count, placement);
            }});
}

Plan& Plan::of(const spur_plan_sink* sink, const char* call) {
    auto& self = *static_cast<Plan*>(sink->context);
    if (!self.open_) self.object(fmt::format("sink->{} was called after plan() had returned", call));
    if (self.thread_ != std::this_thread::get_id())
        self.object(fmt::format("sink->{} was called on a thread other than the one plan() runs on", call));
    return self;
}

void Plan::close() {
    open_ = false;
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> groups;  // components: all, started
    for (const auto slot : waiting_)
        if (const auto group = pending(slot).het_group; group != 0) {
            ++groups[group].first;
            groups[group].second += started_.contains(slot);
        }
    for (const auto& [group, count] : groups)
        if (count.second != 0 && count.second != count.first)
            object(fmt::format("it starts {} of the {} components of heterogeneous job {}: all or none", count.second,
                               count.first, group));
}

void Plan::object(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
}

spur_status Plan::may_start(std::uint32_t job, std::uint32_t partition) {
    if (!waiting_.contains(job)) object(fmt::format("may_start() names slot {}, where no job waits", job));
    if (partition >= view_.partitions.count) object(fmt::format("may_start() names partition number {}", partition));
    return limited_.contains(job) ? SPUR_LIMITED : SPUR_MAY_START;
}

spur_status Plan::start(std::uint32_t job, std::uint32_t partition, const spur_placement* placement,
                        std::uint32_t limit_s) {
    if (placement == nullptr || placement->size < first_size<spur_placement>) {
        object("start() was given no placement, or one without its size");
        return SPUR_REJECTED;
    }
    const auto shares = spur_shares(placement);
    if (limited_.contains(job)) return SPUR_LIMITED;
    if (auto why = objection_to(job, partition, shares, limit_s)) {
        object(waiting_.contains(job) ? fmt::format("it starts job {}: {}", pending(job).id, *why) : *why);
        return SPUR_REJECTED;
    }
    for (const auto& share : Records<spur_node_share>(shares)) ledger_.take(share);
    for (const auto& license : Records<spur_license_request>(pending(job).licenses))
        licensed_[license.license] += license.count;
    ++started_[job];
    ++starts_;
    text_ += fmt::format("start {} in {} for {}: {}\n", job, partition, limit_s, digest_of(shares));
    return SPUR_OK;
}

Plan::Why Plan::objection_to(std::uint32_t job, std::uint32_t partition, spur_span shares,
                             std::uint32_t limit_s) const {
    if (!waiting_.contains(job)) return fmt::format("it starts slot {}, where no job waits", job);
    const auto& wanted = pending(job);
    const auto before = started_.contains(job) ? started_.at(job) : 0;
    if (before >= std::max(1u, wanted.array_tasks))
        return fmt::format("it has {} task(s) and all are started already", before);
    const Records<std::uint32_t> partitions(wanted.partitions);
    if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end())
        return fmt::format("partition number {} is not one of its own", partition);
    if (auto why = partition_objection(wanted, partition, shares.count, limit_s)) return why;
    if (auto why = reservation_objection(wanted, shares, limit_s)) return why;
    if (auto why = license_objection(wanted)) return why;
    return objection(view_, ledger_, wanted, partition, shares);
}

Plan::Why Plan::partition_objection(const spur_job_view& job, std::uint32_t number, std::size_t nodes,
                                    std::uint32_t limit_s) const {
    const auto& partition = *SPUR_AT(spur_partition_view, view_.partitions, number);
    if (partition.state != SPUR_PARTITION_UP && partition.state != SPUR_PARTITION_DRAIN)
        return fmt::format("partition {} starts no jobs", view(partition.name));
    if (partition.max_nodes != SPUR_UNLIMITED && nodes > partition.max_nodes)
        return fmt::format("{} nodes, partition {} allows {}", nodes, view(partition.name), partition.max_nodes);
    if (partition.max_time_s != SPUR_UNLIMITED && limit_s > partition.max_time_s)
        return fmt::format("a limit of {}s, partition {} allows {}s", limit_s, view(partition.name),
                           partition.max_time_s);
    const auto least = job.limit_min_s != 0 ? job.limit_min_s : job.limit_s;
    if (limit_s < least || limit_s > job.limit_s)
        return fmt::format("a limit of {}s, it asked for {}s to {}s", limit_s, least, job.limit_s);
    return std::nullopt;
}

Plan::Why Plan::reservation_objection(const spur_job_view& job, spur_span shares, std::uint32_t limit_s) const {
    const auto end = limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : view_.now + limit_s;
    const Records<spur_reservation_view> all(view_.reservations);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto& reserved = all[i];
        for (const auto& share : Records<spur_node_share>(shares)) {
            const bool inside = has_bit(reserved.nodes, share.node);
            if (job.reservation == i) {
                if (!inside)
                    return fmt::format("node number {} is not in its reservation {}", share.node, view(reserved.name));
                if (view_.now < reserved.start || view_.now >= reserved.end)
                    return fmt::format("its reservation {} is not open now", view(reserved.name));
            } else if (inside && reserved.start < end && view_.now < reserved.end) {
                return fmt::format("node number {} is reserved for {} before it would end", share.node,
                                   view(reserved.name));
            }
        }
    }
    return std::nullopt;
}

Plan::Why Plan::license_objection(const spur_job_view& job) const {
    for (const auto& wanted : Records<spur_license_request>(job.licenses)) {
        const auto& license = *SPUR_AT(spur_license_view, view_.licenses, wanted.license);
        const auto taken = licensed_.contains(wanted.license) ? licensed_.at(wanted.license) : 0;
        if (license.used + taken + wanted.count > license.total)
            return fmt::format("license {}: {} of {} in use, and {} more are taken", view(license.name),
                               license.used + taken, license.total, wanted.count);
    }
    return std::nullopt;
}

void Plan::expect(std::uint32_t job, std::int64_t at, std::uint32_t partition) {
    if (!waiting_.contains(job)) return object(fmt::format("expect() names slot {}, where no job waits", job));
    const Records<std::uint32_t> partitions(pending(job).partitions);
    if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end())
        object(fmt::format("job {} is expected in partition number {}, which is not one of its own", pending(job).id,
                           partition));
    if (at < view_.now) object(fmt::format("job {} is expected to start in the past", pending(job).id));
    text_ += fmt::format("expect {} in {} at {}\n", job, partition, at);
}

void Plan::waits(std::uint32_t job, std::uint32_t reason) {
    if (!waiting_.contains(job)) return object(fmt::format("waits() names slot {}, where no job waits", job));
    if (reason < SPUR_WAIT_PRIORITY || reason > SPUR_WAIT_LIMIT)
        object(fmt::format("waits() gives unknown reason {}", reason));
    text_ += fmt::format("waits {} for {}\n", job, reason);
}

spur_status Plan::preempt(std::uint32_t job, std::uint32_t partition, const std::uint32_t* victims, std::uint32_t count,
                          const spur_placement* placement) {
    if (placement == nullptr || placement->size < first_size<spur_placement> || placement->share_count == 0)
        object("preempt() says nothing about where its job is to start");
    else if (waiting_.contains(job))
        if (auto why = unmet(view_, pending(job), partition, spur_shares(placement)))
            object(fmt::format("it preempts for job {}: {}", pending(job).id, *why));
    if (!waiting_.contains(job)) object(fmt::format("preempt() names slot {}, where no job waits", job));
    const Records<std::uint32_t> running(view_.running_order);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (std::find(running.begin(), running.end(), victims[i]) == running.end()) {
            object(fmt::format("preempt() names slot {}, where no job runs", victims[i]));
        } else if (const auto& victim = *SPUR_AT(spur_job_view, view_.running, victims[i]);
                   victim.preempt_mode == SPUR_PREEMPT_OFF) {
            object(fmt::format("it pushes out job {}, which may not be preempted", victim.id));
        }
    }
    text_ += fmt::format("preempt for {}: {}\n", job, fmt::join(victims, victims + count, ","));
    return SPUR_OK;
}

}  // namespace spur::check
