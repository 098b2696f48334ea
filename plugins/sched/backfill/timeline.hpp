// What is free, now and later, kept in the selector's slots.
//
// Tenants run now, or start in this pass, and leave when their limits strike. Bookings are promises for later. Whoever
// wants to start at `t` for a while may use what neither a tenant still holds at `t` nor a booking holds at any moment
// of that while: as time goes on tenants only leave, so that is all there is to ask. Two bookings that follow each
// other on one node count both, which may make a job look later than it is, never earlier.
//
// For starts at this moment there are levels, one slot each: jobs that will have ended by `until` meet only the
// bookings that begin before it. Where slots run out, levels are shared and a job meets more bookings than it would
// have to. For starts later there are cursors, slots that move along the time. To move one costs as much as all that
// comes or goes on the way, so the nearest is taken; and a few slots stand at milestones, and show what is free there
// but for bookings: who does not fit there fits at no moment before.
#pragma once

#include <spur/plugin/sched.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "memory.hpp"

namespace spur::backfill {

// A slot of the selector.
struct State {
    std::uint32_t slot;
};

// What somebody holds.
struct Holding {
    const spur_placement* placement;
    spur_span licenses;
    std::uint32_t flags;  // SPUR_JOB_*
};

class Timeline {
public:
    static constexpr std::int64_t never = SPUR_TIME_UNLIMITED;

    // Opens a cycle of the selector; close() ends it.
    spur_status begin(const spur_cluster_view& view, const spur_selector& select, spur_error* err);
    void close();

    const spur_select_ops& ops() const { return *select_->ops; }
    spur_select_cycle* cycle() const { return cycle_; }

    // For a job that starts now and has ended at `end`.
    const State& now_until(std::int64_t end) const;
    // Moments after now at which the picture for starts now changes.
    template <class F>
    void for_each_boundary(F&& f) const {
        for (const auto& level : levels_)
            if (level.until != never) f(level.until);
    }

    // For a job that starts at `start` and has ended at `end`. Valid until the next call.
    const State& from_until(std::int64_t start, std::int64_t end);
    // The last milestone before `t` at which `fits(state)` says no, or `otherwise`.
    template <class F>
    std::int64_t last_milestone_without(std::int64_t t, std::int64_t otherwise, F&& fits) {
        set_milestones();
        auto low = milestones_.begin();
        auto high = std::ranges::lower_bound(milestones_, t, {}, &Milestone::at);
        while (low != high) {
            const auto middle = low + (high - low) / 2;
            if (fits(middle->state))
                high = middle;
            else
                low = middle + 1;
        }
        return low == milestones_.begin() ? otherwise : std::prev(low)->at;
    }
    // As if all tenants had left and nothing were booked.
    const State& deserted();
    // How many of a license are free all that time.
    std::int64_t free_licenses(std::uint32_t license, std::int64_t start, std::int64_t end) const;
    // The first moment after `t` at which a tenant leaves, some `skip` of them on; never: all have left by then.
    std::int64_t departure_after(std::int64_t t, std::size_t skip) const;
    // The other way round: the last moment before `t`, some `skip` of them back; now: nobody leaves before.
    std::int64_t departure_before(std::int64_t t, std::size_t skip) const;
    // Where the last question about a later start was asked; now: there was none.
    std::int64_t cursor_time() const { return cursors_.empty() ? view_->now : cursors_[current_].time; }
    // The last start from which a job of `length` has ended before the first booking that begins after `start +
    // length`; never: no booking begins after that.
    std::int64_t last_start_before_next_booking(std::int64_t start, std::int64_t length) const;

    // From now on until `end`; copies the shares.
    void start(const Holding& holding, std::int64_t end);
    void book(const Holding& holding, std::int64_t start, std::int64_t end);
    std::size_t bookings() const { return bookings_.size(); }

    // ---- trying things out on the slot asked for last: whoever changes it puts it back before the next question
    void take(const Holding& holding) { try_out(holding, -1); }
    void give(const Holding& holding) { try_out(holding, +1); }
    // The running job in this slot leaves at once.
    void evict(std::uint32_t running_slot);
    Holding holding_of(std::uint32_t running_slot) const;

    std::int64_t now() const { return view_->now; }

private:
    struct Level {
        std::int64_t until;
        State state;
    };
    struct Milestone {
        std::int64_t at;
        State state;
    };
    struct Tenant {
        std::int64_t leaves;
        Holding holding;
        std::uint32_t running_slot;  // SPUR_NONE: started in this pass
    };
    struct Booking {
        std::int64_t start, end;
        Holding holding;
    };
    struct Cursor {
        State state;
        std::int64_t time;
        std::size_t left;         // tenants that have left by then
        std::vector<bool> meets;  // bookings, as far as they were there when it moved last
    };
    struct Licensee {  // a tenant's licenses of one kind
        std::uint32_t license, count;
        std::int64_t leaves;
        std::uint32_t running_slot;
    };
    void change(const State& state, const Holding& holding, int sign);
    void try_out(const Holding& holding, int sign);
    void note_licenses(const Tenant& tenant);
    void admit(Tenant tenant);
    void open_cursor();
    Cursor& nearest_cursor(std::size_t left);
    void keep_deserted();
    void set_milestones();

    const spur_cluster_view* view_{nullptr};
    const spur_selector* select_{nullptr};
    spur_select_cycle* cycle_{nullptr};
    Arena arena_;
    std::vector<Tenant> tenants_;  // in the order in which they leave
    std::vector<Booking> bookings_;
    std::vector<Level> levels_;           // by until; the last is never
    std::vector<State> spare_;            // slots for further levels
    std::vector<Milestone> milestones_;   // by at
    std::vector<std::int64_t> licenses_;  // free now
    std::vector<Licensee> licensees_;
    State deserted_{2};
    bool has_deserted_{false}, is_emptied_{false}, has_milestones_{false};
    std::vector<Cursor> cursors_;
    std::size_t current_{0};  // the cursor asked last
};

}  // namespace spur::backfill
