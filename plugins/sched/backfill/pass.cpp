// Walking the queue in priority order: start, promise, preempt, or say why not.
#include "pass.hpp"

#include <algorithm>
#include <bit>

namespace spur::backfill {

using plugin::Records;

Pass::Pass(const spur_cluster_view& view, const spur_plan_sink& sink, const Options& options, Workshop& workshop)
    : view_{view},
      sink_{sink},
      options_{options},
      cards_{workshop.cards},
      denials_{workshop.denials},
      forecast_{workshop.forecast},
      timeline_{workshop.timeline},
      reserved_{workshop.reserved},
      placement_{workshop.placement},
      nodes_{workshop.nodes},
      queues_(view.partitions.count) {}

bool Pass::run() {
    denials_.clear();
    forecast_.turn();
    const auto& order = cards_.order(view_);
    for (const auto slot : order)
        if (cards_.card(slot).is_component) groups_[job(slot).het_group].push_back(slot);
    find_victims();
    for (const auto slot : order) {
        if (is_stopped(16)) return false;
        consider(slot);
    }
    return !stopped_;
}

bool Pass::is_stopped(std::uint32_t every) {
    if (!stopped_ && asked_++ % every == 0) stopped_ = sink_.stopped(&sink_) != 0;
    return stopped_;
}

// ---- the walk ------------------------------------------------------------------------------------------------------

void Pass::consider(std::uint32_t slot) {
    auto& card = cards_.card(slot);
    auto& shape = cards_.shape(card);
    if (card.is_component) return consider_group(slot);
    if (shape.refusal != 0) return say(slot, shape.refusal);
    if (!card.has_tasks) return say(slot, SPUR_WAIT_LIMIT);
    if (card.has_deadline && end_of(view_.now, card.least_s) > job(slot).deadline) return say(slot, SPUR_WAIT_DEADLINE);
    if (card.least_s < shape.fails_from_s && !is_denied(slot)) {
        const auto tasks = job(slot).array_tasks;
        for (std::uint32_t task = 0; task < tasks; ++task) {
            const auto outcome = start_one(slot);
            if (outcome == Outcome::limited) return say(slot, SPUR_WAIT_LIMIT);
            if (outcome == Outcome::waits) break;
            if (task + 1 == tasks || is_stopped()) return;
        }
        if (!card.has_deadline) {
            shape.fails_from_s = card.least_s;
            denials_.add(cards_.amounts(card), card.least_s, shape.why);
        }
    }
    wait({&slot, 1});
}

// Did somebody who wants no more ask in vain?
bool Pass::is_denied(std::uint32_t slot) {
    const auto& card = cards_.card(slot);
    const auto why = denials_.covering(cards_.amounts(card), card.least_s);
    if (why == 0) return false;
    shape(slot).why = why;
    shape(slot).fails_from_s = card.least_s;
    return true;
}

Pass::Outcome Pass::start_one(std::uint32_t slot) {
    const auto& wanted = job(slot);
    bool first = true;
    for (const auto partition : partitions_of(slot)) {
        const auto limit_s = longest_limit(slot, partition);
        if (limit_s == 0) {
            if (std::exchange(first, false)) shape(slot).why = static_cast<std::uint8_t>(lack_);
            continue;
        }
        if (is_limited(slot, partition, true)) return Outcome::limited;
        const auto status = sink_.start(&sink_, slot, partition, placement_.get(), limit_s);
        if (status == SPUR_LIMITED) cards_.permission(cards_.card(slot)) = 1 + SPUR_LIMITED;
        if (status != SPUR_OK) return Outcome::limited;
        timeline_.start({placement_.get(), wanted.licenses, wanted.flags}, end_of(view_.now, limit_s));
        return Outcome::started;
    }
    return Outcome::waits;
}

void Pass::consider_group(std::uint32_t slot) {
    const auto found = groups_.find(job(slot).het_group);
    if (found == groups_.end()) return;  // seen with its first component
    const auto group = std::move(found->second);
    groups_.erase(found);
    const auto say_all = [&](std::uint32_t reason) {
        for (const auto member : group) say(member, reason);
    };
    for (const auto member : group) {
        if (shape(member).refusal != 0) return say_all(shape(member).refusal);
        if (is_limited(member, partitions_of(member).front(), true)) return say_all(SPUR_WAIT_LIMIT);
        if (const auto deadline = job(member).deadline;
            deadline != 0 && end_of(view_.now, cards_.card(member).least_s) > deadline)
            return say_all(SPUR_WAIT_DEADLINE);
    }
    if (!start_group(group)) wait(group);
}

bool Pass::start_group(Unit group) {
    const auto& state = timeline_.from_until(
        view_.now,
        end_of(view_.now, static_cast<std::uint32_t>(std::min<std::int64_t>(length_of(group), SPUR_UNLIMITED))));
    if (!fit_together(state, group, view_.now, &places_)) {
        for (const auto member : group) shape(member).why = static_cast<std::uint8_t>(lack_);
        return false;
    }
    for (const auto& place : places_) {
        if (sink_.start(&sink_, place.slot, place.partition, place.placement, place.limit_s) != SPUR_OK) break;
        const auto& wanted = job(place.slot);
        timeline_.start({place.placement, wanted.licenses, wanted.flags}, end_of(view_.now, place.limit_s));
    }
    return true;
}

void Pass::wait(Unit unit) {
    const bool promises =
        std::ranges::any_of(unit, [&](auto slot) { return may_promise(shape(slot)); }) && !is_stopped() &&
        std::ranges::none_of(unit, [&](auto slot) { return (job(slot).flags & SPUR_JOB_NO_RESERVE) != 0; });
    for (const auto slot : unit) {
        examine(slot);
        if (const auto refusal = shape(slot).refusal; refusal != 0) {
            for (const auto member : unit) say(member, refusal);
            return;
        }
        // Those far behind are asked about once; their turn comes when they would start or be promised to.
        if (!promises && !cards_.was_full() && cards_.card(slot).said != 0) {
            if (cards_.card(slot).said == SPUR_WAIT_LIMIT) return;
            continue;
        }
        if (is_limited(slot, partitions_of(slot).front(), false)) {
            for (const auto member : unit) say(member, SPUR_WAIT_LIMIT);
            return;
        }
    }
    if (promises) {
        if (unit.size() == 1 && is_kept_out(unit[0])) shape(unit[0]).why = SPUR_WAIT_NODES_UNAVAILABLE;
        promise(unit);
    }
    for (const auto slot : unit) say(slot, reason_for(slot));
}

// Is there a way to start such a job at all, once others have left?
void Pass::examine(std::uint32_t slot) {
    auto& known = shape(slot);
    const auto& wanted = job(slot);
    if (wanted.max_switches != 0 && view_.now < wanted.switches_until) return;  // more of them may do after that
    if (std::exchange(known.is_examined, true)) return;
    bool exists = false;
    for (const auto partition : partitions_of(slot)) {
        const auto verdict =
            ask(timeline_.deserted(), {slot, partition, {view_.now, view_.now}}, {}, SPUR_PICK_TEST_ONLY);
        if (verdict == SPUR_FITS) return;
        exists = exists || verdict != SPUR_NEVER;
    }
    known.refusal = exists ? SPUR_WAIT_NODES_UNAVAILABLE : SPUR_WAIT_NEVER;
}

// ---- fitting -------------------------------------------------------------------------------------------------------

spur_status Pass::ask(const State& state, const Question& question, spur_bits candidates, std::uint32_t flags) {
    const spur_pick pick{sizeof(spur_pick), question.slot, question.partition, state.slot, candidates, flags, 0};
    const bool write = (flags & SPUR_PICK_TEST_ONLY) == 0;
    auto verdict = timeline_.ops().pick(timeline_.cycle(), &pick, write ? placement_.get() : nullptr);
    if (verdict == SPUR_NO_ROOM) {
        placement_.grow();
        verdict = timeline_.ops().pick(timeline_.cycle(), &pick, placement_.get());
    }
    if (verdict == SPUR_FITS && write && placement_.get()->share_count > partition(question.partition).max_nodes)
        return SPUR_NOT_NOW;
    return verdict;
}

bool Pass::pick(const State& state, const Question& question, spur_bits candidates, bool write) {
    return ask(state, question, candidates, SPUR_PICK_BRIEF | (write ? 0 : SPUR_PICK_TEST_ONLY)) == SPUR_FITS;
}

bool Pass::has_licenses(const Question& question) const {
    const auto& wanted = job(question.slot);
    for (const auto& license : Records<spur_license_request>{wanted.licenses}) {
        const auto free = timeline_.free_licenses(license.license, question.when.start, question.when.end);
        const auto kept = reserved_.kept_for_others(wanted, question.when, license.license);
        if (free - std::int64_t{kept} < std::int64_t{license.count}) return false;
    }
    return true;
}

bool Pass::fits(const State& state, const Question& question, bool write) {
    const auto& wanted = job(question.slot);
    if (!reserved_.is_open(wanted, question.when)) return lack_ = SPUR_WAIT_RESERVATION, false;
    if (wanted.licenses.count != 0 && !has_licenses(question)) return lack_ = SPUR_WAIT_LICENSES, false;
    const auto candidates = reserved_.empty() ? spur_bits{} : reserved_.candidates(wanted, question.when);
    lack_ = wanted.reservation == SPUR_NONE ? SPUR_WAIT_RESOURCES : SPUR_WAIT_RESERVATION;
    const auto fits_there = [&] {
        if (wanted.max_switches != 0 && view_.groups.count != 0 && question.when.start < wanted.switches_until)
            return fits_on_few_switches(state, question, candidates, write);
        return pick(state, question, candidates, write);
    };
    if (reserved_.empty()) return fits_there();
    const auto forbidden = reserved_.forbidden_cores(wanted, question.when);
    const auto& select = timeline_.ops();
    for (const auto& cores : forbidden) select.take(timeline_.cycle(), state.slot, &cores, 0);
    const bool found = fits_there();
    for (const auto& cores : forbidden) select.give(timeline_.cycle(), state.slot, &cores, 0);
    return found;
}

std::uint32_t Pass::switches_used() const {
    std::vector<std::uint32_t> seen;
    for (const auto& share : Records<spur_node_share>{spur_shares(placement_.get())}) {
        const auto& groups = SPUR_AT(spur_node_view, view_.nodes, share.node)->groups;
        auto leaf = SPUR_NONE;
        for (const auto group : Records<std::uint32_t>{groups})
            if (SPUR_AT(spur_group_view, view_.groups, group)->kind == SPUR_GROUP_SWITCH) leaf = group;
        if (std::ranges::find(seen, leaf) == seen.end()) seen.push_back(leaf);
    }
    return static_cast<std::uint32_t>(seen.size());
}

// The selector's own choice if that will do, else the leaf switches with most free nodes, as many as are allowed.
bool Pass::fits_on_few_switches(const State& state, const Question& question, spur_bits candidates, bool write) {
    const auto allowed = job(question.slot).max_switches;
    if (!pick(state, question, candidates, true)) return false;
    if (switches_used() <= allowed) return true;
    const auto width = (view_.nodes.count + 63) / 64;
    std::vector<std::uint64_t> idle(width, ~std::uint64_t{0});
    if (SPUR_CAN(spur_select_ops, &timeline_.ops(), idle_nodes))
        timeline_.ops().idle_nodes(timeline_.cycle(), state.slot, idle.data());
    if (candidates.words != nullptr)
        for (std::uint32_t w = 0; w < width; ++w) idle[w] &= candidates.words[w];
    std::vector<std::pair<std::uint32_t, const spur_group_view*>> leaves;
    for (const auto& one : Records<spur_group_view>{view_.groups}) {
        if (one.kind != SPUR_GROUP_SWITCH || one.level != 0 || one.nodes.words == nullptr) continue;
        std::uint32_t free = 0;
        for (std::uint32_t w = 0; w < std::min(width, (one.nodes.count + 63) / 64); ++w)
            free += static_cast<std::uint32_t>(std::popcount(one.nodes.words[w] & idle[w]));
        leaves.emplace_back(free, &one);
    }
    std::ranges::stable_sort(leaves, std::greater{}, [](const auto& leaf) { return leaf.first; });
    for (std::size_t first = 0; first + 1 <= leaves.size(); ++first) {
        std::vector<std::uint64_t> within(width, 0);
        for (std::size_t i = first; i < std::min<std::size_t>(leaves.size(), first + allowed); ++i)
            for (std::uint32_t w = 0; w < std::min(width, (leaves[i].second->nodes.count + 63) / 64); ++w)
                within[w] |= leaves[i].second->nodes.words[w] &
                             (candidates.words == nullptr ? ~std::uint64_t{0} : candidates.words[w]);
        if (pick(state, question, {within.data(), view_.nodes.count, 0}, write)) return true;
    }
    lack_ = SPUR_WAIT_TOPOLOGY;
    return false;
}

std::uint32_t Pass::longest_limit(std::uint32_t slot, std::uint32_t number) {
    const auto& card = cards_.card(slot);
    const auto& wanted = job(slot);
    const auto& rules = partition(number);
    auto longest = std::min(card.limit_s, rules.max_time_s);
    if (card.has_deadline)
        longest = static_cast<std::uint32_t>(
            std::min<std::int64_t>(longest, std::max<std::int64_t>(wanted.deadline - view_.now, 0)));
    if (longest < card.least_s) return lack_ = SPUR_WAIT_DEADLINE, 0;
    // The host counts limits in minutes.
    const auto whole = [&](std::uint32_t limit_s) {
        return limit_s == card.limit_s ? limit_s : std::max(card.least_s, limit_s - limit_s % 60);
    };
    const auto try_limit = [&](std::uint32_t limit_s, bool write) {
        const auto end = end_of(view_.now, limit_s);
        return fits(timeline_.now_until(end), {slot, number, {view_.now, end}}, write);
    };
    longest = whole(longest);
    if (try_limit(longest, true)) return longest;
    if (longest == card.least_s || !try_limit(card.least_s, false)) return 0;

    std::vector<std::uint32_t> limits{card.least_s};
    const auto add = [&](std::int64_t moment) {
        const auto limit = moment - view_.now;
        if (limit > card.least_s && limit < longest) limits.push_back(whole(static_cast<std::uint32_t>(limit)));
    };
    timeline_.for_each_boundary(add);
    std::ranges::for_each(reserved_.starts(), add);
    std::ranges::sort(limits, std::greater{});
    for (const auto limit_s : limits)
        if (try_limit(limit_s, true)) return limit_s;
    return 0;
}

bool Pass::fit_together(const State& state, Unit unit, std::int64_t start, std::vector<Place>* places) {
    if (unit.size() == 1 && places == nullptr) {
        const auto end = end_of(start, cards_.card(unit[0]).least_s);
        return std::ranges::any_of(partitions_of(unit[0]), [&](auto partition) {
            return fits(state, {unit[0], partition, {start, end}}, false);
        });
    }
    kept_.clear();
    std::vector<Place> found;
    for (const auto slot : unit) {
        const auto limit_s = cards_.card(slot).least_s;
        for (const auto partition : partitions_of(slot))
            if (fits(state, {slot, partition, {start, end_of(start, limit_s)}}, true)) {
                found.push_back({slot, partition, kept_.keep(*placement_.get()), limit_s});
                break;
            }
        if (found.empty() || found.back().slot != slot) break;
        if (unit.size() > 1) timeline_.take({found.back().placement, job(slot).licenses, job(slot).flags});
    }
    if (unit.size() > 1)
        for (const auto& place : found)
            timeline_.give({place.placement, job(place.slot).licenses, job(place.slot).flags});
    if (found.size() < unit.size()) return false;
    if (places != nullptr) *places = std::move(found);
    return true;
}

}  // namespace spur::backfill
