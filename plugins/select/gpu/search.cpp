// Candidates, their order, switches, preferences, and sharing tasks out among the chosen nodes.
#include "search.hpp"

#include <algorithm>
#include <tuple>

namespace spur::select_gpu {

namespace {

constexpr std::uint32_t most_looks = 64;  // nodes compared for one that will do

std::uint64_t share_of(std::uint64_t total, std::uint32_t nodes) { return (total + nodes - 1) / nodes; }

std::uint64_t pooled_total(const Need& need) {
    return need.pooled < 0 ? 0 : need.gres[static_cast<std::size_t>(need.pooled)].per_job;
}

}  // namespace

void Search::begin() {
    const auto nodes = picture_.node_count();
    for (auto* words : {&words_, &saved_, &taken_}) words->assign(picture_.width(), 0);
    chosen_.clear();
    chosen_.reserve(nodes + 1);
    rooms_.clear();
    rooms_.reserve(nodes + 1);
    leaves_.clear();
    leaves_.reserve(picture_.view().groups.count);
}

// ---- the sets a job names
// --------------------------------------------------------------------------------------------

bool Search::choose(Question question) {
    if (!question.need.possible) return false;
    const auto& alternatives = question.job.alternatives;
    if (alternatives.count == 0) return choose_set(question);
    for (std::uint32_t a = 0; a < alternatives.count; ++a) {
        question.within = SPUR_AT(spur_bits, alternatives, a);
        if (choose_set(question)) return true;
    }
    return false;
}

bool Search::choose_set(Question& question) {
    if (!lay_candidates(question)) return false;
    const auto& view = picture_.view();
    if (question.job.max_switches != 0 && view.groups.count > 0 && view.now < question.job.switches_until)
        return choose_on_switches(question);
    return choose_preferred(question);
}

bool Search::choose_preferred(const Question& question) {
    const auto& preferred = question.job.preferred_nodes;
    if (preferred.words == nullptr || question.job.required_nodes.words != nullptr) return choose_from(question);
    saved_ = words_;
    for (std::uint32_t w = 0; w < picture_.width(); ++w) words_[w] &= word(preferred, w);
    if (choose_from(question)) return true;
    words_ = saved_;
    return choose_from(question);
}

// On one leaf switch, the one with the fewest nodes that will do; where several are allowed, on the largest ones
// together.
bool Search::choose_on_switches(const Question& question) {
    const auto& groups = picture_.view().groups;
    const auto nodes_of = [&](std::uint32_t leaf) { return SPUR_AT(spur_group_view, groups, leaf)->nodes; };
    const auto size_of = [&](std::uint32_t leaf) {
        std::uint32_t size = 0;
        for (std::uint32_t w = 0; w < picture_.width(); ++w) size += count(word(nodes_of(leaf), w) & words_[w]);
        return size;
    };
    leaves_.clear();
    for (std::uint32_t g = 0; g < groups.count; ++g)
        if (const auto& group = *SPUR_AT(spur_group_view, groups, g);
            group.kind == SPUR_GROUP_SWITCH && group.level == 0)
            leaves_.push_back(g);
    if (leaves_.empty()) return choose_from(question);
    std::ranges::sort(leaves_, {}, [&](std::uint32_t leaf) { return std::pair{size_of(leaf), leaf}; });
    const auto width = picture_.width();
    for (const auto leaf : leaves_) {
        const auto nodes = nodes_of(leaf);
        taken_.assign(width, 0);
        saved_ = words_;
        for (std::uint32_t w = 0; w < width; ++w) words_[w] &= word(nodes, w);
        const bool found = choose_from(question);
        if (found) return true;
        words_ = saved_;
    }
    if (question.job.max_switches == 1) return false;
    saved_.assign(width, 0);
    const auto allowed = std::min<std::size_t>(question.job.max_switches, leaves_.size());
    for (auto leaf = leaves_.end() - static_cast<std::ptrdiff_t>(allowed); leaf != leaves_.end(); ++leaf)
        for (std::uint32_t w = 0; w < width; ++w) saved_[w] |= word(nodes_of(*leaf), w);
    for (std::uint32_t w = 0; w < width; ++w) words_[w] &= saved_[w];
    return choose_from(question);
}

// Who may be asked at all. False: too few, or one the job insists on is missing.
bool Search::lay_candidates(const Question& question) {
    const auto& need = question.need;
    const auto& index = slots_.index(question.slot);
    const auto* const cores =
        need.jobs_per_core > 1 ? nullptr : index.cores_at_least(need.least_cores(picture_.most_threads()));
    const auto* const gpus = index.gpus_at_least(need.least_gpus());
    const auto* const memory = index.memory_at_least(need.least_memory());
    for (const auto* set : {cores, gpus, memory})
        if (set != nullptr && index.size_of(set) < need.min_nodes) return false;
    std::uint32_t found = 0;
    for (std::uint32_t w = 0; w < picture_.width(); ++w) {
        auto set = word(question.partition.nodes, w);
        if (!question.empty) set &= picture_.usable()[w];
        if (question.job.eligible_nodes.words != nullptr) set &= word(question.job.eligible_nodes, w);
        if (question.candidates.words != nullptr) set &= word(question.candidates, w);
        if (question.within != nullptr) set &= word(*question.within, w);
        if (need.whole) set &= index.idle()[w];
        if (cores != nullptr) set &= cores[w];
        if (gpus != nullptr) set &= gpus[w];
        if (memory != nullptr) set &= memory[w];
        if ((word(question.job.required_nodes, w) & ~set) != 0) return false;
        words_[w] = set;
        found += count(set);
    }
    return found >= need.min_nodes;
}

bool Search::may_fit(const Question& question) const {
    const auto& need = question.need;
    if (!need.possible) return false;
    const auto& index = slots_.index(question.slot);
    const auto* const cores =
        need.jobs_per_core > 1 ? nullptr : index.cores_at_least(need.least_cores(picture_.most_threads()));
    const auto* const gpus = index.gpus_at_least(need.least_gpus());
    const auto* const memory = index.memory_at_least(need.least_memory());
    for (const auto* set : {cores, gpus, memory})
        if (set != nullptr && index.size_of(set) < need.min_nodes) return false;
    std::uint32_t found = 0;
    for (std::uint32_t w = 0; w < picture_.width(); ++w) {
        auto set = word(question.partition.nodes, w) & picture_.usable()[w];
        if (question.job.eligible_nodes.words != nullptr) set &= word(question.job.eligible_nodes, w);
        if (need.whole) set &= index.idle()[w];
        if (cores != nullptr) set &= cores[w];
        if (gpus != nullptr) set &= gpus[w];
        if (memory != nullptr) set &= memory[w];
        found += count(set);
        if (found >= need.min_nodes) return true;
    }
    return false;
}

// ---- choosing
// --------------------------------------------------------------------------------------------------------

bool Search::is_suitable(const spur_job_view& job, std::uint32_t node) const {
    const auto& record = *picture_.node(node).view;
    return record.tmp_mib >= job.tmp_mib && record.sockets >= job.min_sockets &&
           record.cores_per_socket >= job.min_cores_per_socket && record.threads_per_core >= job.min_threads_per_core;
}

Room Search::room(const Question& question, std::uint32_t node) const {
    return is_suitable(question.job, node) ? fitter_.room(question.need, question.slot, node) : Room{};
}

bool Search::holds(const Question& question, std::uint32_t node, std::uint32_t tasks, std::uint64_t pooled) const {
    return is_suitable(question.job, node) && fitter_.holds(question.need, question.slot, node, tasks, pooled);
}

bool Search::choose_from(const Question& question) {
    forget();
    if ((question.job.flags & SPUR_JOB_CONTIGUOUS) != 0) return choose_contiguous(question);
    if (!question.need.spread && choose_even(question)) return true;
    // Where every node has to hold the same, or there can be one only, no other choice helps.
    const auto& need = question.need;
    const bool equal = (need.tasks == 0 && need.pooled < 0) || need.max_nodes == 1;
    if (equal && !need.spread && question.job.quotas.count == 0) return false;
    const bool fewest = (question.job.flags & SPUR_JOB_USE_MIN_NODES) != 0;  // whatever they weigh
    if (choose_roomy(question, !fewest)) return true;
    return !fewest && picture_.weight_groups() > 1 && need.max_nodes < picture_.node_count() &&
           choose_roomy(question, false);
}

void Search::forget() {
    for (const auto& one : chosen_) taken_[one.node / 64] &= ~bit(one.node);
    chosen_.clear();
    tasks_ = pooled_ = 0;
}

void Search::add(const Chosen& one) {
    chosen_.push_back(one);
    taken_[one.node / 64] |= bit(one.node);
    tasks_ += one.room.tasks;
    pooled_ += one.room.pooled;
}

bool Search::add(const Question& question, std::uint32_t node) {
    if ((taken_[node / 64] & bit(node)) != 0) return true;
    const auto here = room(question, node);
    if (here.tasks == 0) return false;
    add({node, here});
    return true;
}

void Search::drop_first() {
    const auto& first = chosen_.front();
    taken_[first.node / 64] &= ~bit(first.node);
    tasks_ -= first.room.tasks;
    pooled_ -= first.room.pooled;
    chosen_.erase(chosen_.begin());
}

bool Search::has_quotas(const spur_job_view& job) const {
    for (std::uint32_t q = 0; q < job.quotas.count; ++q) {
        const auto& quota = *SPUR_AT(spur_node_quota, job.quotas, q);
        const auto inside =
            std::ranges::count_if(chosen_, [&](const Chosen& one) { return has(quota.nodes, one.node); });
        if (static_cast<std::uint32_t>(inside) < quota.count) return false;
    }
    return true;
}

bool Search::has_required(const spur_job_view& job) const {
    for (std::uint32_t w = 0; w < picture_.width(); ++w)
        if ((word(job.required_nodes, w) & ~taken_[w]) != 0) return false;
    return true;
}

bool Search::is_enough(const Question& question) const {
    const auto& need = question.need;
    return chosen_.size() >= need.min_nodes && chosen_.size() <= need.max_nodes &&
           (need.tasks == 0 || tasks_ >= need.tasks) && pooled_ >= pooled_total(need);
}

// The nodes the job insists on, and enough of each set it names.
bool Search::add_obliged(const Question& question) {
    forget();
    const auto& job = question.job;
    for (std::uint32_t w = 0; w < picture_.width() && job.required_nodes.words != nullptr; ++w) {
        bool all = true;
        for_each_bit(word(job.required_nodes, w), w * 64,
                     [&](std::uint32_t node) { all = all && add(question, node); });
        if (!all) return false;
    }
    for (std::uint32_t q = 0; q < job.quotas.count; ++q) {
        const auto& quota = *SPUR_AT(spur_node_quota, job.quotas, q);
        auto inside = static_cast<std::uint32_t>(
            std::ranges::count_if(chosen_, [&](const Chosen& one) { return has(quota.nodes, one.node); }));
        for (std::uint32_t group = 0; group < picture_.weight_groups() && inside < quota.count; ++group)
            in_order(question, picture_.weight_group(group), false, [&](std::uint32_t node, std::uint32_t) {
                if (inside >= quota.count || chosen_.size() >= question.need.max_nodes) return false;
                if (has(quota.nodes, node) && (taken_[node / 64] & bit(node)) == 0 && add(question, node)) ++inside;
                return true;
            });
        if (inside < quota.count) return false;
    }
    return true;
}

template <class F>
bool Search::in_order(const Question& question, const std::uint64_t* group, bool loosest_first, F&& f) const {
    const auto width = picture_.width();
    const auto visit = [&](std::uint32_t bucket, auto&& set_of) {
        for (std::uint32_t w = 0; w < width; ++w)
            for (auto set = words_[w] & group[w] & set_of(w); set != 0; set &= set - 1)
                if (!f(w * 64 + lowest(set), bucket)) return false;
        return true;
    };
    if (first_fit_) return visit(0, [](std::uint32_t) { return ~std::uint64_t{0}; });
    const auto& index = slots_.index(question.slot);
    const bool by_gpu = question.need.least_gpus() > 0;
    const auto levels = by_gpu ? FreeIndex::gpu_levels : FreeIndex::core_levels;
    const auto level_set = [&](std::uint32_t level) {
        return by_gpu ? index.gpu_level(level) : index.core_level(level);
    };
    // Nodes with free devices come last for those who want none.
    const auto* const has_gpus = index.gpu_level(0);
    const bool minds_gpus = !by_gpu && index.size_of(has_gpus) > 0;
    for (std::uint32_t turn = 0; turn < (minds_gpus ? 2U : 1U); ++turn)
        for (std::uint32_t k = 0; k <= levels; ++k) {  // bucket b: at least level b - 1, not level b
            const auto bucket = loosest_first ? levels - k : k;
            const auto* const from = bucket == 0 ? nullptr : level_set(bucket - 1);
            const auto* const to = bucket == levels ? nullptr : level_set(bucket);
            if (from != nullptr && index.size_of(from) == 0) continue;
            const bool more = visit(turn * 100 + k, [&](std::uint32_t w) {
                auto set = from == nullptr ? ~std::uint64_t{0} : from[w];
                if (to != nullptr) set &= ~to[w];
                if (minds_gpus) set &= turn == 0 ? ~has_gpus[w] : has_gpus[w];
                return set;
            });
            if (!more) return false;
        }
    return true;
}

// As few nodes as allowed, with an equal part of the job on each.
bool Search::choose_even(const Question& question) {
    const auto& need = question.need;
    const auto nodes = need.min_nodes;
    auto tasks = need.tasks == 0 ? need.tasks_each_node : static_cast<std::uint32_t>(share_of(need.tasks, nodes));
    if (need.tasks != 0 && question.job.spread_nodes == SPUR_SPREAD_PLANE) {  // planes are not split
        const std::uint64_t plane = std::max(question.job.plane_size, 1U);
        tasks = static_cast<std::uint32_t>(std::min<std::uint64_t>((tasks + plane - 1) / plane * plane, need.tasks));
    }
    const auto pooled = share_of(pooled_total(need), nodes);
    if (!add_obliged(question)) return false;
    if (chosen_.empty() && nodes == 1) return choose_one(question, tasks, pooled);
    if (is_enough(question)) return true;
    if (need.least_gpus() > 0 && !first_fit_ && choose_some(question, tasks, pooled, true)) return true;
    return add_obliged(question) && choose_some(question, tasks, pooled, false);
}

// The best of the first few that will do: linked best, tearing least apart, with least to spare.
bool Search::choose_one(const Question& question, std::uint32_t tasks, std::uint64_t pooled) {
    const auto& need = question.need;
    const bool loosest = need.least_loaded;
    const bool by_links = need.least_gpus() > 0 && !first_fit_;
    Chosen best;
    std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> best_rank;
    bool found = false;
    for (std::uint32_t group = 0; group < picture_.weight_groups() && !found; ++group) {
        std::uint32_t looks = 0, bucket_found = 0;
        in_order(question, picture_.weight_group(group), loosest, [&](std::uint32_t node, std::uint32_t bucket) {
            if (found && !by_links && bucket != bucket_found) return false;
            if (!holds(question, node, tasks, pooled)) return true;
            const auto free = static_cast<std::uint64_t>(slots_.state(question.slot, node).head().free_cores);
            auto rank = std::tuple{std::uint64_t{0}, std::uint64_t{0}, loosest ? UINT64_MAX - free : free};
            if (by_links) {
                const auto devices =
                    fitter_.devices(need, question.slot, node, fitter_.amounts(need, node, tasks, pooled));
                rank = {devices.short_of_best, devices.torn, loosest ? UINT64_MAX - free : free};
            }
            if (!found || rank < best_rank) best = {node, {tasks, pooled}}, best_rank = rank, bucket_found = bucket;
            found = true;
            const bool perfect = by_links && std::get<0>(rank) == 0 && std::get<1>(rank) == 0;
            return !first_fit_ && !perfect && ++looks < most_looks;
        });
    }
    if (!found) return false;
    add(best);
    return true;
}

bool Search::choose_some(const Question& question, std::uint32_t tasks, std::uint64_t pooled, bool perfect) {
    const auto& need = question.need;
    for (std::uint32_t group = 0; group < picture_.weight_groups(); ++group)
        in_order(question, picture_.weight_group(group), need.least_loaded, [&](std::uint32_t node, std::uint32_t) {
            if (chosen_.size() >= need.min_nodes) return false;
            if ((taken_[node / 64] & bit(node)) != 0) return true;
            if (!holds(question, node, tasks, pooled)) return true;
            if (perfect) {
                const auto wanted = fitter_.amounts(need, node, tasks, pooled);
                if (fitter_.devices(need, question.slot, node, wanted).short_of_best != 0) return true;
            }
            add({node, {tasks, pooled}});
            return true;
        });
    return is_enough(question) && has_quotas(question.job);
}

// The roomiest nodes, until there are enough; with --spread-job as many as may be.
bool Search::choose_roomy(const Question& question, bool by_weight) {
    if (!add_obliged(question)) return false;
    const auto& need = question.need;
    rooms_.clear();
    for (std::uint32_t group = 0; group < picture_.weight_groups(); ++group) {
        const auto* const nodes = picture_.weight_group(group);
        const auto begun = rooms_.size();
        for (std::uint32_t w = 0; w < picture_.width(); ++w)
            for_each_bit(words_[w] & nodes[w] & ~taken_[w], w * 64, [&](std::uint32_t node) {
                if (const auto here = room(question, node); here.tasks != 0) rooms_.push_back({node, here});
            });
        if (by_weight || group + 1 == picture_.weight_groups())
            std::sort(rooms_.begin() + static_cast<std::ptrdiff_t>(by_weight ? begun : 0), rooms_.end(),
                      [](const Chosen& a, const Chosen& b) {
                          return std::tuple{b.room.pooled, b.room.tasks, a.node} <
                                 std::tuple{a.room.pooled, a.room.tasks, b.node};
                      });
    }
    bool enough = is_enough(question);
    for (const auto& one : rooms_) {
        if ((enough && !need.spread) || chosen_.size() >= need.max_nodes) break;
        add(one);
        enough = is_enough(question);
    }
    if (!enough || !has_quotas(question.job)) return false;
    if (!need.spread) replace_last(question);
    return true;
}

// The last node may have far more than is still missing: take the smallest that has enough instead.
void Search::replace_last(const Question& question) {
    if (rooms_.empty() || chosen_.empty() || question.job.quotas.count > 0) return;
    const auto last = chosen_.back();
    if (has(question.job.required_nodes, last.node)) return;
    const auto& need = question.need;
    const auto tasks_missing =
        need.tasks == 0 ? 0 : need.tasks - std::min<std::uint64_t>(need.tasks, tasks_ - last.room.tasks);
    const auto pooled_missing = pooled_total(need) - std::min(pooled_total(need), pooled_ - last.room.pooled);
    const Chosen* best = nullptr;
    for (const auto& one : rooms_) {
        if (one.node != last.node && (taken_[one.node / 64] & bit(one.node)) != 0) continue;
        if (one.room.tasks < tasks_missing || one.room.pooled < pooled_missing) continue;
        if (picture_.node(one.node).view->weight > picture_.node(last.node).view->weight) continue;
        if (best == nullptr ||
            std::tuple{one.room.pooled, one.room.tasks} < std::tuple{best->room.pooled, best->room.tasks})
            best = &one;
    }
    if (best == nullptr || best->node == last.node) return;
    taken_[last.node / 64] &= ~bit(last.node);
    tasks_ -= last.room.tasks;
    pooled_ -= last.room.pooled;
    chosen_.pop_back();
    add(*best);
}

// The first run of nodes side by side that will do, and no more of it than needed.
bool Search::choose_contiguous(const Question& question) {
    for (std::uint32_t node = 0; node < picture_.node_count(); ++node) {
        const auto here = is_candidate(node) ? room(question, node) : Room{};
        if (here.tasks == 0) {
            forget();
            continue;
        }
        if (chosen_.size() >= question.need.max_nodes) drop_first();
        add({node, here});
        const auto will_do = [&] {
            return is_enough(question) && has_required(question.job) && has_quotas(question.job);
        };
        if (!will_do()) continue;
        while (chosen_.size() > 1) {
            const auto first = chosen_.front();
            drop_first();
            if (will_do()) continue;
            chosen_.insert(chosen_.begin(), first);
            taken_[first.node / 64] |= bit(first.node);
            tasks_ += first.room.tasks;
            pooled_ += first.room.pooled;
            break;
        }
        return true;
    }
    return false;
}

}  // namespace spur::select_gpu
