// Promised starts, limits, and the reasons jobs wait for.
#include <algorithm>

#include "pass.hpp"

namespace spur::backfill {

using plugin::Records;

namespace {

std::uint64_t digest_of(const spur_placement& placement, std::int64_t start) {
    auto digest = static_cast<std::uint64_t>(start) * 0x9e3779b97f4a7c15ULL;
    for (const auto& share : Records<spur_node_share>{spur_shares(&placement)})
        digest = (digest ^ (share.node + 1)) * 0xff51afd7ed558ccdULL + (digest >> 31);
    return digest | 1;
}

}  // namespace

bool Pass::is_limited(std::uint32_t slot, std::uint32_t number, bool ask_again) {
    auto& known = cards_.permission(cards_.card(slot));
    if (known == 0 || (known == 1 && ask_again))
        known = sink_.may_start(&sink_, slot, number) == SPUR_MAY_START ? 1 : 1 + SPUR_LIMITED;
    return known != 1;
}

bool Pass::may_promise(const Shape& shape) const {
    if (shape.never_in_window && victims_.empty()) return false;
    return std::ranges::any_of(cards_.open_partitions(shape),
                               [&](auto partition) { return queues_[partition].promised < options_.reserve; });
}

std::int64_t Pass::length_of(Unit unit) const {
    std::int64_t longest = 0;
    for (const auto slot : unit) {
        const auto least = cards_.card(slot).least_s;
        longest = std::max(longest, least == SPUR_UNLIMITED ? Timeline::never / 4 : std::int64_t{least});
    }
    return longest;
}

void Pass::promise(Unit unit) {
    const auto start = earliest_start(unit);
    for (const auto slot : unit)
        for (const auto partition : partitions_of(slot)) ++queues_[partition].promised;
    if (!start || *start > view_.now + 1) {
        if (preempt(unit)) return;
        // Looking for victims has used the places found before.
        if (start && !victims_.empty() && !fits_at(unit, *start, &places_)) return;
    }
    if (start) book(unit, *start, places_);
}

// The first moment at which they fit, and places_. Between two moments at which a booking or reservation comes into
// their way, more and more becomes free: such a stretch can be searched by halves.
std::optional<std::int64_t> Pass::earliest_start(Unit unit) {
    auto& known = shape(unit[0]);
    if (known.never_in_window) return std::nullopt;
    const auto length = length_of(unit);
    auto last = view_.now + options_.window_s;
    for (const auto slot : unit)
        if (const auto deadline = job(slot).deadline; deadline != 0) last = std::min(last, deadline - length);
    auto t = view_.now + 1;
    const bool learns = unit.size() == 1 && !cards_.card(unit[0]).has_deadline;
    if (learns && known.earliest_length <= length) t = std::max(t, known.earliest);

    t = std::max(t, 1 + timeline_.last_milestone_without(last, view_.now, [&](const State& state) {
        return std::ranges::all_of(unit, [&](auto slot) { return may_fit(state, slot); });
    }));
    placed_at_ = Timeline::never;
    const auto guess = forecast_.guess(unit[0], timeline_.cursor_time());
    while (t <= last && !is_stopped()) {
        const auto opens = opening(unit, t);
        if (!opens) break;
        if (t = *opens; t > last) break;
        const auto end = std::min(last, stretch_end(unit, t));
        if (const auto start = first_start_within(unit, {t, end}, guess)) {
            if (learns) known.earliest = *start, known.earliest_length = length;
            if (placed_at_ != *start && !fits_at(unit, *start, &places_)) return std::nullopt;
            forecast_.note(unit[0], *start);
            return start;
        }
        t = end + 1;
    }
    if (learns && !stopped_) known.never_in_window = true;
    return std::nullopt;
}

// In a state without bookings, whatever is reserved for whom.
bool Pass::may_fit(const State& state, std::uint32_t slot) {
    if (job(slot).max_switches != 0) return true;
    return std::ranges::any_of(partitions_of(slot), [&](auto partition) {
        return pick(state, {slot, partition, {view_.now, view_.now}}, {}, false);
    });
}

bool Pass::fits_at(Unit unit, std::int64_t start, std::vector<Place>* places) {
    return fit_together(timeline_.from_until(start, start + length_of(unit)), unit, start, places);
}

// Both ends count. Where they start is the same whatever the guess; a good one saves the way along the time.
std::optional<std::int64_t> Pass::first_start_within(Unit unit, Stretch stretch, std::int64_t guess) {
    const auto [first, end] = stretch;
    auto low = first - 1;  // they do not fit at low
    auto high = first;     // and fit at high, if `found`
    bool found = false;
    std::size_t skip = 64;
    if (guess > end) {
        if (!fits_at(unit, end, nullptr)) return std::nullopt;
        high = end;
        found = true;
    } else if (guess >= first) {
        skip = 4;
        found = fits_at(unit, guess, unit.size() == 1 ? &places_ : nullptr);
        if (found && unit.size() == 1) placed_at_ = guess;
        (found ? high : low) = guess;
        for (auto earlier = guess - 1; found && low < earlier && earlier < high; skip *= 4) {
            if (!fits_at(unit, earlier, nullptr))
                low = earlier;
            else
                high = earlier;
            earlier = std::max(first, timeline_.departure_before(earlier, skip));
        }
    }
    for (; !found; skip *= 2) {
        high = std::min(end, timeline_.departure_after(low, skip));
        found = fits_at(unit, high, nullptr);
        if (found) break;
        if (high >= end) return std::nullopt;
        low = high;
    }
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        (fits_at(unit, middle, nullptr) ? high : low) = middle;
    }
    return high;
}

// The first moment from `t` on at which their own reservations are open; nullopt: never again.
std::optional<std::int64_t> Pass::opening(Unit unit, std::int64_t t) const {
    for (std::size_t agreed = 0; agreed < unit.size();)
        for (const auto slot : unit) {
            const auto opens = reserved_.opens(job(slot), t);
            if (!opens) return std::nullopt;
            agreed = *opens == t ? agreed + 1 : 1;
            t = *opens;
            if (agreed == unit.size()) break;
        }
    return t;
}

// The last start until which nothing new comes into their way.
std::int64_t Pass::stretch_end(Unit unit, std::int64_t start) const {
    const auto length = length_of(unit);
    auto end = timeline_.last_start_before_next_booking(start, length);
    for (const auto moment : reserved_.starts())
        if (moment - length >= start) end = std::min(end, moment - length);
    for (const auto slot : unit)
        if (const auto closes = reserved_.closes(job(slot), start); closes != Timeline::never)
            end = std::min(end, std::max(start, closes - 1));
    return end;
}

void Pass::book(Unit, std::int64_t start, const std::vector<Place>& places) {
    for (const auto& place : places) {
        const auto& wanted = job(place.slot);
        timeline_.book({place.placement, wanted.licenses, wanted.flags}, start, end_of(start, place.limit_s));
        auto& told = cards_.card(place.slot).expected;
        if (const auto digest = digest_of(*place.placement, start); std::exchange(told, digest) == digest) continue;
        nodes_.assign((view_.nodes.count + 63) / 64, 0);
        for (const auto& share : Records<spur_node_share>{spur_shares(place.placement)})
            nodes_[share.node / 64] |= std::uint64_t{1} << (share.node % 64);
        sink_.expect(&sink_, place.slot, start, place.partition, {nodes_.data(), view_.nodes.count, 0});
    }
}

// ---- saying why ----------------------------------------------------------------------------------------------------

// The host keeps what it was told: only what is new is told again.
void Pass::say(std::uint32_t slot, std::uint32_t reason) {
    auto& card = cards_.card(slot);
    if (card.said == reason && !cards_.was_full()) return;
    card.said = static_cast<std::uint8_t>(reason);
    const auto text = reason == SPUR_WAIT_NODES_UNAVAILABLE ? obstacle(slot) : std::string{};
    sink_.waits(&sink_, slot, reason, plugin::str(text));
}

// What is in the way of a job whose nodes are not to be had, in Slurm's words.
std::string Pass::obstacle(std::uint32_t slot) {
    constexpr std::size_t most = 512;
    const auto& wanted = job(slot);
    std::string names;
    for (std::uint32_t i = 0; i < wanted.required_nodes.count && names.size() < most; ++i) {
        if (!plugin::has_bit(wanted.required_nodes, i)) continue;
        const auto& node = *SPUR_AT(spur_node_view, view_.nodes, i);
        if ((node.flags & SPUR_NODE_USABLE) != 0) continue;
        names += names.empty() ? "UnavailableNodes:" : ",";
        names += plugin::view(node.name);
    }
    if (!names.empty() || shape(slot).refusal != 0) return names;
    const Stretch when{view_.now, end_of(view_.now, cards_.card(slot).least_s)};
    return reserved_.is_maintenance(wanted, when) ? "Reserved for maintenance" : "May be reserved for other job";
}

bool Pass::is_kept_out(std::uint32_t slot) {
    if (reserved_.empty() || job(slot).reservation != SPUR_NONE) return false;
    const auto end = end_of(view_.now, cards_.card(slot).least_s);
    const Stretch when{view_.now, end};
    if (reserved_.candidates(job(slot), when).words == nullptr) return false;
    return std::ranges::any_of(partitions_of(slot), [&](auto partition) {
        return pick(timeline_.now_until(end), {slot, partition, when}, {}, false);
    });
}

std::uint32_t Pass::reason_for(std::uint32_t slot) {
    const auto& known = shape(slot);
    if (known.why != SPUR_WAIT_RESOURCES && known.why != 0) return known.why;
    bool is_front = false;
    for (const auto partition : partitions_of(slot)) is_front |= !std::exchange(queues_[partition].has_front, true);
    return is_front ? SPUR_WAIT_RESOURCES : SPUR_WAIT_PRIORITY;
}

}  // namespace spur::backfill
