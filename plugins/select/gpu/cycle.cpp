// The selector's calls, answered from picture, slots and search, with a memory of recent questions.
#include "cycle.hpp"

#include <algorithm>

namespace spur::select_gpu {

namespace {

constexpr std::size_t remembered_answers = 16384;

}  // namespace

Cycle::Cycle(const Options& options) : options_{options}, remembered_(remembered_answers) {
    fitter_.use_first_fit(options.first_fit);
    search_.use_first_fit(options.first_fit);
}

void Cycle::begin(const spur_cluster_view& view) {
    ++number_;
    picture_.build(view, chooser_);
    slots_.begin(picture_);
    search_.begin();
}

bool Cycle::copy(std::uint32_t from, std::uint32_t to) {
    if (from >= slots() || to >= slots()) return false;
    slots_.copy(from, to);
    return true;
}

void Cycle::take(std::uint32_t slot, spur_span shares, std::uint32_t job_flags) {
    if (slot < slots()) slots_.take(slot, shares, job_flags);
}

void Cycle::give(std::uint32_t slot, spur_span shares, std::uint32_t job_flags) {
    if (slot < slots()) slots_.give(slot, shares, job_flags);
}

bool Cycle::fits_empty(const spur_job_view& job, std::uint32_t partition, const Need& need) {
    const auto hash = (job.klass + partition) * 0x9e3779b97f4a7c15ULL;
    auto& kept = remembered_[(hash >> 32) % remembered_answers];
    if (kept.cycle == number_ && kept.klass == job.klass && kept.partition == partition) return kept.fits;
    const auto& rules = *SPUR_AT(spur_partition_view, picture_.view().partitions, partition);
    const bool fits = search_.choose({job, rules, need, Slots::empty, {}, true, nullptr});
    kept = {job.klass, number_, partition, fits};
    return fits;
}

spur_status Cycle::pick(const spur_pick& pick, spur_placement* out) {
    const auto& wanted = job(pick.job);
    const auto& rules = *SPUR_AT(spur_partition_view, picture_.view().partitions, pick.partition);
    const auto need = need_of(picture_, wanted, pick.partition, options_.rules);
    const bool empty = (pick.flags & SPUR_PICK_EMPTY) != 0;
    if (empty && ((pick.flags & SPUR_PICK_TEST_ONLY) != 0 || out == nullptr) && pick.candidates.words == nullptr)
        return fits_empty(wanted, pick.partition, need) ? SPUR_FITS : SPUR_NEVER;
    if (!empty && pick.slot >= slots()) return SPUR_NOT_NOW;
    const Question question{wanted, rules, need, empty ? Slots::empty : pick.slot, pick.candidates, empty, nullptr};
    if (!search_.choose(question)) {
        if (empty) return SPUR_NEVER;
        if ((pick.flags & SPUR_PICK_BRIEF) != 0) return SPUR_NOT_NOW;
        return fits_empty(wanted, pick.partition, need) ? SPUR_NOT_NOW : SPUR_NEVER;
    }
    if ((pick.flags & SPUR_PICK_TEST_ONLY) != 0 || out == nullptr) return SPUR_FITS;
    return PlacementWriter{picture_, slots_, fitter_, *out}.write(question, search_.chosen());
}

void Cycle::screen(std::uint32_t slot, const std::uint32_t* jobs, std::uint32_t count, spur_status* verdicts) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& wanted = job(jobs[i]);
        verdicts[i] = SPUR_NOT_NOW;
        if (wanted.partitions.count == 0 || slot >= slots()) continue;
        const auto partition = *SPUR_AT(std::uint32_t, wanted.partitions, 0);
        const auto& rules = *SPUR_AT(spur_partition_view, picture_.view().partitions, partition);
        const auto need = need_of(picture_, wanted, partition, options_.rules);
        if (search_.may_fit({wanted, rules, need, slot, {}, false, nullptr})) verdicts[i] = SPUR_FITS;
    }
}

void Cycle::idle_nodes(std::uint32_t slot, std::uint64_t* words) const {
    if (slot < slots()) std::copy_n(slots_.index(slot).idle(), (picture_.node_count() + 63) / 64, words);
}

std::string Cycle::explain(const spur_pick& pick) {
    const auto& wanted = job(pick.job);
    const auto& rules = *SPUR_AT(spur_partition_view, picture_.view().partitions, pick.partition);
    const auto need = need_of(picture_, wanted, pick.partition, options_.rules);
    if (need.min_nodes > need.max_nodes)
        return "it wants at least " + std::to_string(need.min_nodes) + " nodes and may have " +
               std::to_string(need.max_nodes);
    if (!need.possible) return "it asks for resources that no node has, or in forms that contradict each other";
    std::uint32_t allowed = 0, usable = 0, roomy = 0;
    for (std::uint32_t i = 0; i < picture_.node_count(); ++i) {
        if (!has(rules.nodes, i) || (wanted.eligible_nodes.words != nullptr && !has(wanted.eligible_nodes, i)))
            continue;
        if (pick.candidates.words != nullptr && !has(pick.candidates, i)) continue;
        ++allowed;
        if ((picture_.usable()[i / 64] & bit(i)) == 0) continue;
        ++usable;
        if (pick.slot < slots() && fitter_.room(need, pick.slot, i).tasks > 0) ++roomy;
    }
    return std::to_string(need.min_nodes) + " node(s) are wanted; of " + std::to_string(allowed) +
           " that are allowed, " + std::to_string(usable) + " are up and " + std::to_string(roomy) +
           " have room for a part of it";
}

}  // namespace spur::select_gpu
