// Reservations: made, changed, ended, and turned when their time comes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/cluster_ops.hpp"

namespace spur {

namespace {

constexpr std::uint64_t recurring = reservation_flag::hourly | reservation_flag::daily | reservation_flag::weekly |
                                    reservation_flag::weekday | reservation_flag::weekend;

// Monday is 0. Calendar days are UTC's, so that every controller agrees.
int weekday_of(UnixSeconds time) { return static_cast<int>(((time / 86'400) + 3) % 7); }

std::int64_t next_gap_s(const Reservation& reservation) {
    using namespace reservation_flag;
    if (reservation.has(hourly)) return 3'600;
    if (reservation.has(daily)) return 86'400;
    if (reservation.has(weekly)) return 7 * 86'400;
    const bool want_weekend = reservation.has(weekend);
    std::int64_t gap = 86'400;
    while ((weekday_of(reservation.start_time + gap) >= 5) != want_weekend) gap += 86'400;
    return gap;
}

bool overlap_in_time(const Reservation& a, const Reservation& b) {
    return a.start_time < b.end_time && b.start_time < a.end_time;
}

bool share_node(const Reservation& a, const Reservation& b) {
    return std::ranges::any_of(a.nodes, [&](NodeId id) { return std::ranges::binary_search(b.nodes, id); });
}

bool is_listed(const std::vector<Text>& list, const Text& name) { return std::ranges::find(list, name) != list.end(); }

}  // namespace

bool Cluster::may_use(const Reservation& reservation, const Job& job) const {
    const auto& spec = *job.spec;
    if (spec.uid == 0 && reservation.users.empty() && reservation.accounts.empty()) return true;
    const bool user_listed = is_listed(reservation.users, spec.user_name);
    const bool account_listed = is_listed(reservation.accounts, spec.account);
    if (reservation.deny_users ? user_listed : !reservation.users.empty() && !user_listed) return false;
    if (reservation.deny_accounts ? account_listed : !reservation.accounts.empty() && !account_listed) return false;
    return true;
}

Result<void> ClusterOps::check_reservation(const Reservation& wanted) const {
    if (wanted.start_time >= wanted.end_time) return fail(ErrorCode::invalid, "{}", refusal::invalid_time);
    if (wanted.users.empty() && wanted.accounts.empty())
        return fail(ErrorCode::invalid, "{}", refusal::reservation_empty);
    if (wanted.nodes.empty() && wanted.licenses.empty()) return fail(ErrorCode::invalid, "{}", refusal::invalid_node);
    if (!std::ranges::is_sorted(wanted.nodes)) return fail(ErrorCode::invalid, "{}", refusal::invalid_node);
    for (const auto id : wanted.nodes)
        if (const auto* node = c.find_node(id); !node || !node->configured)
            return fail(ErrorCode::invalid, "{}", refusal::invalid_node);
    if (!wanted.partition.empty() && !c.find_partition(wanted.partition))
        return fail(ErrorCode::invalid, "{}", refusal::invalid_partition);
    for (const auto& license : wanted.licenses) {
        const auto pool = c.licenses_.find(license.name);
        if (pool == c.licenses_.end() || license.count > pool->second.total)
            return fail(ErrorCode::invalid, "{}", refusal::invalid_license);
    }
    constexpr auto tolerant = reservation_flag::maint | reservation_flag::overlap;
    for (const auto& [name, other] : c.reservations_) {
        if (name == wanted.name || (wanted.flags & tolerant) || (other.flags & tolerant)) continue;
        if (!wanted.cores.empty() || !other.cores.empty()) continue;
        if (overlap_in_time(wanted, other) && share_node(wanted, other))
            return fail(ErrorCode::conflict, "{}", refusal::reservation_overlap);
    }
    if (wanted.has(reservation_flag::ignore_jobs) || wanted.has(reservation_flag::maint)) return {};
    for (const auto id : wanted.nodes)
        for (const auto job_id : c.jobs_on(id)) {
            const auto& job = c.jobs_.at(job_id);
            const bool until_then = job.is_active() && (job.end_time == 0 || job.end_time > wanted.start_time);
            if (until_then && (wanted.name.empty() || job.spec->reservation != wanted.name))
                return fail(ErrorCode::conflict, "{}", refusal::nodes_busy);
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
    if (!cmd.actor.is_operator()) return fail(ErrorCode::denied, "{}", refusal::denied);
    auto wanted = cmd.reservation;
    const auto place = c.reservations_.find(wanted.name);
    const bool exists = place != c.reservations_.end();
    if (cmd.edit == Edit::create && exists) return fail(ErrorCode::conflict, "{}", refusal::duplicate_reservation);
    if (cmd.edit != Edit::create && !exists) return fail(ErrorCode::not_found, "{}", refusal::invalid_reservation);
    if (cmd.edit == Edit::remove) {
        const auto uses = [&](JobId id) { return c.jobs_.at(id).spec->reservation == wanted.name; };
        if (std::ranges::any_of(c.active_, uses) || std::ranges::any_of(c.pending_, uses))
            return fail(ErrorCode::conflict, "{}", refusal::reservation_busy);
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
    for (auto& [name, entry] : c.reservations_) {
        const bool begun = entry.has(reservation_flag::begun);
        if (!begun && entry.start_time <= at) {
            entry.flags |= reservation_flag::begun;
            entry.version = version;
            mark_reserved(entry.nodes);
            events.push_back(ReservationChanged{name, false});
        }
        if (entry.end_time > at) continue;
        if (!(entry.flags & recurring)) {
            over.push_back(name);
            continue;
        }
        while (entry.end_time <= at) {
            const auto gap = next_gap_s(entry);
            entry.start_time += gap;
            entry.end_time += gap;
        }
        entry.flags &= ~reservation_flag::begun;
        if (entry.start_time <= at) entry.flags |= reservation_flag::begun;
        entry.version = version;
        mark_reserved(entry.nodes);
        for (const auto id : entry.nodes) events.push_back(NodeFreed{id});
        events.push_back(ReservationChanged{name, false});
    }
    for (const auto& name : over) end_reservation(name);
}

}  // namespace spur
