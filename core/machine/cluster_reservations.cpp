// Reservations: made, changed, ended, and turned when their time comes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

constexpr std::uint64_t recurring = reservation_flag::hourly | reservation_flag::daily | reservation_flag::weekly |
                                    reservation_flag::weekday | reservation_flag::weekend;

// The next times of either are looked at against the first of the other.
bool overlap_in_time(const Reservation& a, const Reservation& b) {
    return a.holds_between(b.start_time, b.end_time) || b.holds_between(a.start_time, a.end_time);
}

bool share_node(const Reservation& a, const Reservation& b) {
    return std::ranges::any_of(a.nodes, [&](NodeId id) { return std::ranges::binary_search(b.nodes, id); });
}

// PURGE_COMP says after which time, or means five minutes.
std::int64_t purge_after_s(const Reservation& entry) { return entry.purge_comp_s ? entry.purge_comp_s : 300; }

}  // namespace

Result<void> ClusterOps::check_reservation(const Reservation& wanted) const {
    if (wanted.start_time >= wanted.end_time) return fail(refusal::invalid_time);
    if (wanted.users.empty() && wanted.groups.empty() && wanted.accounts.empty())
        return fail(refusal::reservation_empty);
    if (!wanted.users.empty() && !wanted.groups.empty()) return fail(refusal::users_and_groups);
    const bool needs_none = wanted.has(reservation_flag::any_nodes) && !wanted.licenses.empty();
    if (wanted.nodes.empty() && !needs_none) return fail(refusal::invalid_node);
    constexpr auto replaces = reservation_flag::replace | reservation_flag::replace_down;
    if ((wanted.flags & replaces) && wanted.has(reservation_flag::spec_nodes)) return fail(refusal::invalid_node);
    if (!std::ranges::is_sorted(wanted.nodes)) return fail(refusal::invalid_node);
    for (const auto id : wanted.nodes)
        if (const auto* node = c.find_node(id); !node || !node->configured) return fail(refusal::invalid_node);
    if (!wanted.partition.empty() && !c.find_partition(wanted.partition)) return fail(refusal::invalid_partition);
    for (const auto& license : wanted.licenses) {
        const auto pool = c.licenses_.find(license.name);
        if (pool == c.licenses_.end() || license.count > pool->second.total) return fail(refusal::invalid_license);
    }
    constexpr auto tolerant = reservation_flag::maint | reservation_flag::overlap;
    for (const auto& [name, other] : c.reservations_) {
        if (name == wanted.name || (wanted.flags & tolerant) || (other.flags & tolerant)) continue;
        if (!wanted.cores.empty() || !other.cores.empty()) continue;
        if (overlap_in_time(wanted, other) && share_node(wanted, other)) return fail(refusal::reservation_overlap);
    }
    if (wanted.has(reservation_flag::ignore_jobs) || wanted.has(reservation_flag::maint)) return {};
    for (const auto id : wanted.nodes)
        for (const auto job_id : c.jobs_on(id)) {
            const auto& job = c.jobs_.at(job_id);
            const bool until_then = job.is_active() && (job.end_time == 0 || job.end_time > wanted.start_time);
            if (until_then && (wanted.name.empty() || job.spec->reservation != wanted.name))
                return fail(refusal::nodes_busy);
        }
    return {};
}

Text ClusterOps::new_reservation_name(const Reservation& wanted) const {
    std::string_view owner = "resv";
    if (!wanted.accounts.empty()) owner = wanted.accounts.front();
    if (!wanted.users.empty()) owner = wanted.users.front();
    for (std::uint32_t i = 1;; ++i)
        if (Text name{fmt::format("{}_{}", owner, i)}; !c.reservations_.contains(name)) return name;
}

Result<void> ClusterOps::on(const EditReservation& cmd) {
    if (!cmd.actor.is_operator()) return fail(refusal::denied);
    auto wanted = cmd.reservation;
    const auto place = c.reservations_.find(wanted.name);
    const bool exists = place != c.reservations_.end();
    if (cmd.edit == Edit::create && exists) return fail(refusal::duplicate_reservation);
    if (cmd.edit != Edit::create && !exists) return fail(refusal::invalid_reservation);
    if (cmd.edit == Edit::remove) {
        const auto uses = [&](JobId id) { return c.jobs_.at(id).spec->reservation == wanted.name; };
        if (std::ranges::any_of(c.active_, uses) || std::ranges::any_of(c.pending_, uses))
            return fail(refusal::reservation_busy);
        end_reservation(wanted.name);
        return {};
    }
    SPUR_CHECK(check_reservation(wanted));
    if (wanted.name.empty()) wanted.name = new_reservation_name(wanted);
    wanted.flags &= ~reservation_flag::begun;
    wanted.version = version;
    if (exists) {
        const auto old = place->second;
        c.reservations_.erase(place);
        mark_reserved(old.nodes);
    }
    const auto name = wanted.name;
    c.reservations_[name] = std::move(wanted);
    note_use(c.reservations_[name]);
    turn_reservations();
    if (c.reservations_.contains(name)) events.push_back(ReservationChanged{name, false});
    return {};
}

// A node shows MAINT or RESERVED while a reservation that has begun has all of it.
void ClusterOps::mark_reserved(const std::vector<NodeId>& ids) {
    for (const auto id : ids) {
        auto& marked = c.nodes_[id.value];
        std::uint32_t flags = marked.flags & ~(node_flag::maint | node_flag::reserved);
        for (const auto& [name, entry] : c.reservations_) {
            if (!entry.has(reservation_flag::begun) || !entry.cores.empty()) continue;
            if (!std::ranges::binary_search(entry.nodes, id)) continue;
            flags |= node_flag::reserved | (entry.has(reservation_flag::maint) ? node_flag::maint : 0);
        }
        if (flags == marked.flags) continue;
        marked.flags = flags;
        touch(marked);
    }
}

// Of a reservation that goes when nobody needs it any more: does somebody?
void ClusterOps::note_use(Reservation& entry) {
    if (!entry.has(reservation_flag::purge_comp)) return;
    const auto wants = [&](JobId id) { return c.jobs_.at(id).spec->reservation == entry.name; };
    const bool used = std::ranges::any_of(c.active_, wants) || std::ranges::any_of(c.pending_, wants);
    if (used)
        entry.idle_since = 0;
    else if (entry.idle_since == 0)
        entry.idle_since = std::max(at, entry.start_time);
}

// After jobs came and went, or nodes did: reservations that follow them.
void ClusterOps::follow_reservations() {
    constexpr auto following =
        reservation_flag::replace | reservation_flag::replace_down | reservation_flag::purge_comp;
    const auto follows = [&](const auto& one) { return (one.second.flags & following) != 0; };
    if (std::ranges::none_of(c.reservations_, follows)) return;
    const auto matters = [](const Event& event) {
        return std::holds_alternative<JobStarted>(event) || std::holds_alternative<JobEnded>(event) ||
               std::holds_alternative<JobQueued>(event) || std::holds_alternative<NodeChanged>(event) ||
               std::holds_alternative<NodeFreed>(event);
    };
    if (std::ranges::none_of(events, matters)) return;
    for (auto& [name, entry] : c.reservations_) {
        note_use(entry);
        if (entry.has(reservation_flag::replace) || entry.has(reservation_flag::replace_down)) replace_nodes(entry);
    }
}

// Nodes that are down, or with REPLACE in use, make room for idle ones of the same partition, as far as there are any.
void ClusterOps::replace_nodes(Reservation& entry) {
    const auto* partition = c.find_partition(entry.partition);
    if (!partition || !entry.cores.empty() || !entry.is_active(at)) return;
    const auto is_spare = [&](NodeId id) {
        const auto& node = c.nodes_[id.value];
        if (!node.is_available() || !c.jobs_on(id).empty() || std::ranges::binary_search(entry.nodes, id)) return false;
        for (const auto& [other, kept] : c.reservations_)
            if (kept.name != entry.name && kept.holds_between(at, entry.end_time) &&
                std::ranges::binary_search(kept.nodes, id))
                return false;
        return true;
    };
    auto nodes = entry.nodes;
    auto spare = partition->nodes.begin();
    for (auto& id : nodes) {
        const bool in_use = entry.has(reservation_flag::replace) && !c.jobs_on(id).empty();
        if (c.nodes_[id.value].is_available() && !in_use) continue;
        spare = std::find_if(spare, partition->nodes.end(), is_spare);
        if (spare == partition->nodes.end()) break;
        id = *spare++;
    }
    if (nodes == entry.nodes) return;
    const auto old = std::exchange(entry.nodes, std::move(nodes));
    std::ranges::sort(entry.nodes);
    entry.version = version;
    mark_reserved(old);
    mark_reserved(entry.nodes);
    for (const auto id : old) events.push_back(NodeFreed{id});
    events.push_back(ReservationChanged{entry.name, false});
}

// Jobs that run in it have had their time, unless they may go on for a while.
void ClusterOps::end_reserved_jobs(const Reservation& entry) {
    const auto more = c.policies_.resv_over_run_min;
    if (entry.has(reservation_flag::flex) || more == unlimited) return;
    const auto running = c.active_;
    for (const auto id : running) {
        auto& job = c.jobs_.at(id);
        if (!job.is_active() || job.spec->reservation != entry.name) continue;
        if (more == 0) {
            end_active(job, JobState::timeout, Reason::time_limit);
            continue;
        }
        const auto last = at + std::int64_t{more} * 60;
        Change change{*this, job};
        if (job.end_time == 0 || job.end_time > last) job.end_time = last;
        events.push_back(JobChanged{job.id});
    }
}

// Jobs that wait for it can never start: they are held, as Slurm holds them, for their owner to decide.
void ClusterOps::end_reservation(const Text& name) {
    const auto old = c.reservations_.at(name);
    c.reservations_.erase(name);
    mark_reserved(old.nodes);
    for (const auto id : old.nodes) events.push_back(NodeFreed{id});
    events.push_back(ReservationChanged{name, true});
    if (old.has(reservation_flag::no_hold_jobs_after)) return;
    const auto waiting = c.pending_;
    for (const auto id : waiting) {
        auto& job = c.jobs_.at(id);
        if (job.spec->reservation != name || job.hold != Hold::none) continue;
        {
            Change change{*this, job};
            job.hold = Hold::admin;
            job.priority = 0;
            job.flags |= job_flag::resv_del_hold;
        }
        refresh(job);
    }
}

void ClusterOps::turn_reservations() {
    std::vector<Text> over;
    std::vector<Reservation> ended;
    for (auto& [name, entry] : c.reservations_) {
        const bool begun = entry.has(reservation_flag::begun);
        if (!begun && entry.start_time <= at) {
            entry.flags |= reservation_flag::begun;
            entry.version = version;
            mark_reserved(entry.nodes);
            events.push_back(ReservationChanged{name, false});
        }
        const bool unused = entry.has(reservation_flag::purge_comp) && entry.idle_since != 0 &&
                            entry.start_time <= at && entry.idle_since + purge_after_s(entry) <= at;
        if (entry.end_time > at && !unused) continue;
        ended.push_back(entry);
        if (!(entry.flags & recurring)) {
            over.push_back(name);
            continue;
        }
        const bool skips = unused && entry.end_time > at;  // the rest of this time is not needed
        for (bool more = skips; more || entry.end_time <= at; more = false) {
            const auto gap = entry.gap_after(entry.start_time);
            entry.start_time += gap;
            entry.end_time += gap;
        }
        entry.idle_since = entry.has(reservation_flag::purge_comp) ? entry.start_time : 0;
        entry.flags &= ~reservation_flag::begun;
        if (entry.start_time <= at) entry.flags |= reservation_flag::begun;
        entry.version = version;
        mark_reserved(entry.nodes);
        for (const auto id : entry.nodes) events.push_back(NodeFreed{id});
        events.push_back(ReservationChanged{name, false});
    }
    for (const auto& entry : ended) end_reserved_jobs(entry);
    for (const auto& name : over) end_reservation(name);
}

}  // namespace spur
