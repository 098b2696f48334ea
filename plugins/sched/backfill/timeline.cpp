// Levels, cursors and milestones: taking, giving back, and moving along the time.
#include "timeline.hpp"

#include <algorithm>
#include <utility>

#include <spur/plugin/plugin.hpp>

namespace spur::backfill {

namespace {
constexpr std::uint32_t first_spare_slot = 3;
constexpr std::size_t milestone_count = 8, most_cursors = 6;
constexpr State first_cursor{1};
}  // namespace

spur_status Timeline::begin(const spur_cluster_view& view, const spur_selector& select, spur_error* err) {
    if (const auto status = select.ops->begin(select.self, &view, &cycle_, err); status != SPUR_OK) return status;
    view_ = &view;
    select_ = &select;
    arena_.clear();
    bookings_.clear();
    has_deserted_ = is_emptied_ = has_milestones_ = false;
    milestones_.clear();
    cursors_.clear();
    current_ = 0;

    licenses_.clear();
    licensees_.clear();
    for (const auto& license : plugin::Records<spur_license_view>{view.licenses})
        licenses_.push_back(std::int64_t{license.total} - license.used);
    levels_.assign(1, {never, {0}});
    spare_.clear();
    for (auto slot = select.ops->slots(cycle_); slot-- > first_spare_slot;) spare_.push_back({slot});

    tenants_.clear();
    for (const auto slot : plugin::Records<std::uint32_t>{view.running_order}) {
        const auto& job = *SPUR_AT(spur_job_view, view.running, slot);
        // Whoever is over its limit, or cleaning up, leaves any moment.
        const bool leaves_soon = (job.flags & SPUR_JOB_COMPLETING) != 0 || job.ends <= view.now;
        tenants_.push_back({leaves_soon ? view.now + 1 : job.ends, {job.held, job.licenses, job.flags}, slot});
        note_licenses(tenants_.back());
    }
    if (!std::ranges::is_sorted(tenants_, {}, &Tenant::leaves)) std::ranges::stable_sort(tenants_, {}, &Tenant::leaves);
    return SPUR_OK;
}

void Timeline::close() { select_->ops->end(select_->self, cycle_); }

void Timeline::change(const State& state, const Holding& holding, int sign) {
    if (sign < 0)
        ops().take(cycle_, state.slot, holding.placement, holding.flags);
    else
        ops().give(cycle_, state.slot, holding.placement, holding.flags);
}

void Timeline::try_out(const Holding& holding, int sign) {
    change(cursors_[current_].state, holding, sign);
    for (const auto& license : plugin::Records<spur_license_request>{holding.licenses})
        if (license.license < licenses_.size()) licenses_[license.license] += sign * std::int64_t{license.count};
}

void Timeline::note_licenses(const Tenant& tenant) {
    for (const auto& license : plugin::Records<spur_license_request>{tenant.holding.licenses})
        licensees_.push_back({license.license, license.count, tenant.leaves, tenant.running_slot});
}

// Between two moments at which a booking begins there are only more and more.
std::int64_t Timeline::free_licenses(std::uint32_t license, std::int64_t start, std::int64_t end) const {
    if (license >= licenses_.size()) return 0;
    const auto free_at = [&](std::int64_t t) {
        auto free = licenses_[license];
        for (const auto& licensee : licensees_)
            if (licensee.license == license && licensee.leaves <= t) free += licensee.count;
        for (const auto& booking : bookings_)
            if (booking.start <= t && t < booking.end)
                for (const auto& taken : plugin::Records<spur_license_request>{booking.holding.licenses})
                    if (taken.license == license) free -= taken.count;
        return free;
    };
    auto least = free_at(start);
    for (const auto& booking : bookings_)
        if (booking.holding.licenses.count != 0 && start < booking.start && booking.start < end)
            least = std::min(least, free_at(booking.start));
    return least;
}

const State& Timeline::now_until(std::int64_t end) const {
    return std::ranges::lower_bound(levels_, end, {}, &Level::until)->state;
}

// Before the first booking there is one level, and it has none. What is kept of it is emptied once somebody looks.
void Timeline::keep_deserted() {
    if (std::exchange(has_deserted_, true)) return;
    ops().copy(cycle_, levels_.front().state.slot, deserted_.slot);
}

const State& Timeline::deserted() {
    keep_deserted();
    if (!std::exchange(is_emptied_, true))
        for (const auto& tenant : tenants_) change(deserted_, tenant.holding, +1);
    return deserted_;
}

// At moments by which equal parts of what is held have been given back. Only before the first booking is there a state
// without any.
void Timeline::set_milestones() {
    if (std::exchange(has_milestones_, true) || !bookings_.empty() || spare_.size() < 3 * milestone_count) return;
    std::size_t all = 0, given = 0;
    for (const auto& tenant : tenants_) all += tenant.holding.placement->share_count;
    auto last = levels_.front().state;
    std::size_t next = 0;
    for (std::size_t k = 1; k < milestone_count && next < tenants_.size(); ++k) {
        const auto goal = all * k / milestone_count;
        const auto begun = next;
        while (next < tenants_.size() && given < goal) given += tenants_[next++].holding.placement->share_count;
        if (next == begun) continue;
        while (next < tenants_.size() && tenants_[next].leaves == tenants_[next - 1].leaves)
            given += tenants_[next++].holding.placement->share_count;
        const auto state = spare_.back();
        spare_.pop_back();
        ops().copy(cycle_, last.slot, state.slot);
        for (auto i = begun; i < next; ++i) change(state, tenants_[i].holding, +1);
        milestones_.push_back({tenants_[next - 1].leaves, state});
        last = state;
    }
}

void Timeline::open_cursor() {
    if (!cursors_.empty()) return;
    keep_deserted();
    ops().copy(cycle_, levels_.front().state.slot, first_cursor.slot);
    cursors_.push_back({first_cursor, view_->now, 0, {}});
}

// Where all are far away, the nearest is doubled, as long as there are slots to spare.
Timeline::Cursor& Timeline::nearest_cursor(std::size_t left) {
    const auto distance = [&](const Cursor& cursor) {
        return cursor.left < left ? left - cursor.left : cursor.left - left;
    };
    const auto nearest = std::ranges::min_element(cursors_, {}, distance);
    current_ = static_cast<std::size_t>(nearest - cursors_.begin());
    if (cursors_.size() == most_cursors || spare_.size() < 3 * most_cursors ||
        distance(*nearest) * 2 * most_cursors < tenants_.size())
        return *nearest;
    auto twin = *nearest;
    twin.state = spare_.back();
    spare_.pop_back();
    ops().copy(cycle_, nearest->state.slot, twin.state.slot);
    current_ = cursors_.size();
    return cursors_.emplace_back(std::move(twin));
}

const State& Timeline::from_until(std::int64_t start, std::int64_t end) {
    open_cursor();
    const auto left =
        static_cast<std::size_t>(std::ranges::upper_bound(tenants_, start, {}, &Tenant::leaves) - tenants_.begin());
    auto& cursor = nearest_cursor(left);
    for (; cursor.left < left; ++cursor.left) change(cursor.state, tenants_[cursor.left].holding, +1);
    for (; cursor.left > left; --cursor.left) change(cursor.state, tenants_[cursor.left - 1].holding, -1);
    cursor.time = start;
    cursor.meets.resize(bookings_.size(), false);
    for (std::size_t i = 0; i < bookings_.size(); ++i) {
        const auto& booking = bookings_[i];
        const bool meets = booking.start < end && start < booking.end;
        if (meets == cursor.meets[i]) continue;
        change(cursor.state, booking.holding, meets ? -1 : +1);
        cursor.meets[i] = meets;
    }
    return cursor.state;
}

std::int64_t Timeline::departure_after(std::int64_t t, std::size_t skip) const {
    const auto next =
        static_cast<std::size_t>(std::ranges::upper_bound(tenants_, t, {}, &Tenant::leaves) - tenants_.begin());
    auto at = next + skip;
    if (at >= tenants_.size()) {
        if (tenants_.empty() || next == tenants_.size()) return never;
        at = tenants_.size() - 1;
    }
    return tenants_[at].leaves;
}

std::int64_t Timeline::departure_before(std::int64_t t, std::size_t skip) const {
    const auto next =
        static_cast<std::size_t>(std::ranges::lower_bound(tenants_, t, {}, &Tenant::leaves) - tenants_.begin());
    return next <= skip ? view_->now : tenants_[next - skip - 1].leaves;
}

std::int64_t Timeline::last_start_before_next_booking(std::int64_t start, std::int64_t length) const {
    auto last = never;
    for (const auto& booking : bookings_)
        if (booking.start - length >= start) last = std::min(last, booking.start - length);
    return last;
}

void Timeline::admit(Tenant tenant) {
    const auto at = std::ranges::upper_bound(tenants_, tenant.leaves, {}, &Tenant::leaves);
    for (auto& cursor : cursors_)
        if (tenant.leaves <= cursor.time) ++cursor.left;
    tenants_.insert(at, tenant);
}

void Timeline::start(const Holding& holding, std::int64_t end) {
    const Holding kept{arena_.keep(*holding.placement), holding.licenses, holding.flags};
    for (auto& level : levels_) change(level.state, kept, -1);
    for (const auto& cursor : cursors_)
        if (end > cursor.time) change(cursor.state, kept, -1);
    if (has_deserted_ && !is_emptied_) change(deserted_, kept, -1);
    for (const auto& milestone : milestones_)
        if (milestone.at < end) change(milestone.state, kept, -1);
    for (const auto& license : plugin::Records<spur_license_request>{kept.licenses})
        if (license.license < licenses_.size()) licenses_[license.license] -= license.count;
    const Tenant tenant{end, kept, SPUR_NONE};
    note_licenses(tenant);
    admit(tenant);
}

void Timeline::book(const Holding& holding, std::int64_t start, std::int64_t end) {
    open_cursor();
    const Holding kept{arena_.keep(*holding.placement), holding.licenses, holding.flags};
    auto level = std::ranges::upper_bound(levels_, start, {}, &Level::until);  // the first that meets it
    const bool splits = level == levels_.begin() ? start > view_->now : std::prev(level)->until < start;
    if (splits && !spare_.empty()) {
        const auto before = spare_.back();
        spare_.pop_back();
        ops().copy(cycle_, level->state.slot, before.slot);
        level = std::next(levels_.insert(level, {start, before}));
    }
    for (; level != levels_.end(); ++level) change(level->state, kept, -1);
    bookings_.push_back({start, end, kept});
}

Holding Timeline::holding_of(std::uint32_t running_slot) const {
    const auto& job = *SPUR_AT(spur_job_view, view_->running, running_slot);
    return {job.held, job.licenses, job.flags};
}

void Timeline::evict(std::uint32_t running_slot) {
    const auto found = std::ranges::find(tenants_, running_slot, &Tenant::running_slot);
    if (found == tenants_.end()) return;
    auto tenant = *found;
    tenants_.erase(found);
    const auto leaves = view_->now + 1;
    for (auto& cursor : cursors_)
        if (tenant.leaves <= cursor.time)
            --cursor.left;
        else if (leaves <= cursor.time)
            change(cursor.state, tenant.holding, +1);
    for (const auto& milestone : milestones_)
        if (leaves <= milestone.at && milestone.at < tenant.leaves) change(milestone.state, tenant.holding, +1);
    tenant.leaves = leaves;
    for (auto& licensee : licensees_)
        if (licensee.running_slot == running_slot) licensee.leaves = tenant.leaves;
    admit(tenant);
}

}  // namespace spur::backfill
