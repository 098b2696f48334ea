// Who is preempted for whom: as few running jobs as will do, the youngest of them.
#include <algorithm>

#include "pass.hpp"

namespace spur::backfill {

using plugin::Records;

void Pass::find_victims() {
    for (const auto slot : Records<std::uint32_t>{view_.running_order}) {
        const auto& running = *SPUR_AT(spur_job_view, view_.running, slot);
        if (running.preempt_mode == SPUR_PREEMPT_OFF || running.preempt_exempt_until > view_.now) continue;
        if ((running.flags & (SPUR_JOB_COMPLETING | SPUR_JOB_SUSPENDED)) != 0) continue;
        victims_.push_back(slot);
    }
    std::ranges::sort(victims_, [&](auto a, auto b) {
        const auto &x = *SPUR_AT(spur_job_view, view_.running, a), &y = *SPUR_AT(spur_job_view, view_.running, b);
        return x.started != y.started ? x.started > y.started : x.id > y.id;
    });
}

bool Pass::may_push(const spur_job_view& pending, const spur_job_view& victim) const {
    if (pending.preempt_tier > victim.preempt_tier) return true;
    return pending.qos < view_.qos.count && victim.qos != SPUR_NONE &&
           plugin::has_bit(SPUR_AT(spur_qos_view, view_.qos, pending.qos)->preempts, victim.qos);
}

// In the cursor's slot: as if the victim were gone. A suspended job keeps its memory.
void Pass::lift(std::uint32_t victim) {
    auto holding = timeline_.holding_of(victim);
    timeline_.give(holding);
    if (SPUR_AT(spur_job_view, view_.running, victim)->preempt_mode != SPUR_PREEMPT_SUSPEND) return;
    holding.flags |= SPUR_JOB_SUSPENDED;
    timeline_.take(holding);
}

void Pass::put_back(std::uint32_t victim) {
    auto holding = timeline_.holding_of(victim);
    if (SPUR_AT(spur_job_view, view_.running, victim)->preempt_mode == SPUR_PREEMPT_SUSPEND) {
        auto suspended = holding;
        suspended.flags |= SPUR_JOB_SUSPENDED;
        timeline_.give(suspended);
    }
    timeline_.take(holding);
}

// The components of a heterogeneous job preempt together: all of them start after it, or nobody is bothered.
bool Pass::preempt(Unit unit) {
    if (victims_.empty()) return false;
    const auto victims = victims_for(unit);
    if (victims.empty()) return false;
    const auto& state = cursor_now(unit);
    for (const auto victim : victims) lift(victim);
    const bool placed = fit_together(state, unit, view_.now, &places_);
    for (const auto victim : victims) put_back(victim);
    if (!placed) return false;
    const auto& first = places_.front();
    if (sink_.preempt(&sink_, first.slot, first.partition, victims.data(), static_cast<std::uint32_t>(victims.size()),
                      first.placement) != SPUR_OK)
        return false;
    for (const auto victim : victims) {
        timeline_.evict(victim);
        std::erase(victims_, victim);
    }
    book(unit, view_.now + 1, places_);
    return true;
}

// The cursor where victims are lifted out and put back.
const State& Pass::cursor_now(Unit unit) { return timeline_.from_until(view_.now, view_.now + length_of(unit)); }

// A smallest set without which they would not fit; empty: none would do.
std::vector<std::uint32_t> Pass::victims_for(Unit unit) {
    std::vector<std::uint32_t> all;
    for (const auto victim : victims_)
        if (std::ranges::any_of(unit, [&](auto slot) { return may_help(slot, victim); })) all.push_back(victim);
    return all.empty() ? all : fewest(unit, all);
}

// May the job push this one out, and does it hold anything the job could use?
bool Pass::may_help(std::uint32_t slot, std::uint32_t victim) {
    const auto& wanted = job(slot);
    const auto& running = *SPUR_AT(spur_job_view, view_.running, victim);
    if (!may_push(wanted, running)) return false;
    if (wanted.licenses.count != 0) return true;
    const Records<spur_node_share> shares{spur_shares(running.held)};
    return std::any_of(shares.begin(), shares.end(), [&](const auto& share) {
        if (wanted.eligible_nodes.words != nullptr && !plugin::has_bit(wanted.eligible_nodes, share.node)) return false;
        return std::ranges::any_of(partitions_of(slot),
                                   [&](auto number) { return plugin::has_bit(partition(number).nodes, share.node); });
    });
}

std::vector<std::uint32_t> Pass::fewest(Unit unit, const std::vector<std::uint32_t>& all) {
    constexpr std::size_t most_alone = 256;  // tried one by one
    const auto& state = cursor_now(unit);
    for (const auto victim : all) lift(victim);
    const bool possible = fit_together(state, unit, view_.now, nullptr);
    for (const auto victim : all) put_back(victim);
    if (!possible) return {};
    for (std::size_t i = 0; i < std::min(all.size(), most_alone); ++i) {
        lift(all[i]);
        const bool alone = fit_together(state, unit, view_.now, nullptr);
        put_back(all[i]);
        if (alone) return {all[i]};
    }
    const auto youngest = enough_of(unit, all);
    auto by_size = all;
    std::ranges::stable_sort(by_size, std::greater{}, [&](auto victim) {
        return SPUR_AT(spur_job_view, view_.running, victim)->held->share_count;
    });
    auto largest = enough_of(unit, by_size);
    return largest.size() < youngest.size() ? largest : youngest;
}

// From the front, twice as many each time until they will do, and of those only the ones that are needed.
std::vector<std::uint32_t> Pass::enough_of(Unit unit, const std::vector<std::uint32_t>& ordered) {
    const auto& state = cursor_now(unit);
    std::vector<std::uint32_t> chosen;
    for (std::size_t more = 1; chosen.size() < ordered.size(); more *= 2) {
        for (std::size_t i = 0; i < more && chosen.size() < ordered.size(); ++i) {
            chosen.push_back(ordered[chosen.size()]);
            lift(chosen.back());
        }
        if (fit_together(state, unit, view_.now, nullptr)) break;
    }
    for (auto i = chosen.size(); i-- > 0;) {
        put_back(chosen[i]);
        if (fit_together(state, unit, view_.now, nullptr))
            chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
        else
            lift(chosen[i]);
    }
    for (const auto victim : chosen) put_back(victim);
    return chosen;
}

}  // namespace spur::backfill
