// Classes of alike nodes, the sets of idle ones, and choosing from them.
#include "linear.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <unordered_map>

namespace spur::linear {

namespace {

bool has(const spur_bits& bits, std::uint32_t i) {
    return bits.words != nullptr && i < bits.count && (bits.words[i / 64] >> (i % 64) & 1) != 0;
}

constexpr std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << (i % 64); }

std::uint32_t count(const spur_bits& bits) {
    std::uint32_t sum = 0;
    if (bits.words != nullptr)
        for (std::uint32_t w = 0; w < (bits.count + 63) / 64; ++w)
            sum += static_cast<std::uint32_t>(__builtin_popcountll(bits.words[w]));
    return sum;
}

const spur_gres_view* find_gres(const spur_node_view& node, std::uint32_t name) {
    for (std::uint32_t i = 0; i < node.gres.count; ++i)
        if (const auto* gres = SPUR_AT(spur_gres_view, node.gres, i); gres->name == name) return gres;
    return nullptr;
}

// How many of the wanted type the node has.
std::uint64_t supply(const spur_gres_view& gres, std::uint32_t type) {
    if (gres.devices.count == 0 || type == 0) return gres.total;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < gres.devices.count; ++i)
        if (SPUR_AT(spur_device_view, gres.devices, i)->type == type) ++sum;
    return sum;
}

}  // namespace

void Cycle::begin(const spur_cluster_view& view) {
    view_ = &view;
    const auto width = (view.nodes.count + 63) / 64;
    slots_.resize(slot_count);
    auto& now = slots_[0];
    now.holders.assign(view.nodes.count, 0);
    now.idle.assign(width, 0);
    for (std::uint32_t i = 0; i < view.running_order.count; ++i) {
        const auto* job = SPUR_AT(spur_job_view, view.running, *SPUR_AT(std::uint32_t, view.running_order, i));
        if ((job->flags & SPUR_JOB_SUSPENDED) == 0) take(0, spur_shares(job->held), 1);
    }
    usable_.assign(width, 0);
    for (std::uint32_t i = 0; i < view.nodes.count; ++i) {
        const auto* node = SPUR_AT(spur_node_view, view.nodes, i);
        if (now.holders[i] == 0 && (node->cpus_used > 0 || node->running_jobs > 0))
            now.holders[i] = 1;  // somebody the view does not list
        if (now.holders[i] == 0) now.idle[i / 64] |= bit(i);
        if ((node->flags & SPUR_NODE_USABLE) != 0) usable_[i / 64] |= bit(i);
    }
    sort_nodes();
    mask_.resize(width);
    chosen_.reserve(view.nodes.count);
    room_.reserve(view.nodes.count);
    roomy_.reserve(view.nodes.count);
    for (auto& slot : slots_) {
        slot.holders.reserve(view.nodes.count);
        slot.idle.reserve(width);
    }
}

// By weight, and by class: hardware is looked at once for each.
void Cycle::sort_nodes() {
    const auto total = view_->nodes.count;
    std::map<std::uint32_t, std::size_t> weights;
    for (std::uint32_t i = 0; i < total; ++i) weights.emplace(SPUR_AT(spur_node_view, view_->nodes, i)->weight, 0);
    std::size_t place = 0;
    for (auto& [weight, at] : weights) at = place++;
    weights_.resize(weights.size());
    for (auto& words : weights_) words.assign((total + 63) / 64, 0);
    class_of_.resize(total);
    std::unordered_map<std::uint32_t, std::uint32_t> classes;
    std::uint32_t last_weight = 0, last_class = 0, number = 0;
    std::vector<std::uint64_t>* nodes = nullptr;
    for (std::uint32_t i = 0; i < total; ++i) {  // neighbours are often alike
        const auto* node = SPUR_AT(spur_node_view, view_->nodes, i);
        if (nodes == nullptr || node->weight != last_weight) nodes = &weights_[weights.at(last_weight = node->weight)];
        (*nodes)[i / 64] |= bit(i);
        if (i == 0 || node->klass != last_class)
            number =
                classes.try_emplace(last_class = node->klass, static_cast<std::uint32_t>(classes.size())).first->second;
        class_of_[i] = number;
    }
    rooms_.assign(classes.size(), {0, 0});
    searches_ = 0;
}

void Cycle::copy(std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    slots_[to].holders = slots_[from].holders;
    slots_[to].idle = slots_[from].idle;
}

void Cycle::take(std::uint32_t slot, spur_span shares, int change) {
    auto& [holders, idle] = slots_[slot];
    for (std::uint32_t i = 0; i < shares.count; ++i) {
        const auto node = SPUR_AT(spur_node_share, shares, i)->node;
        if (node >= holders.size()) continue;
        holders[node] += static_cast<std::uint32_t>(change);
        if (holders[node] == 0)
            idle[node / 64] |= bit(node);
        else
            idle[node / 64] &= ~bit(node);
    }
}

void Cycle::idle_nodes(std::uint32_t slot, std::uint64_t* words) const {
    std::copy(slots_[slot].idle.begin(), slots_[slot].idle.end(), words);
}

Cycle::Need Cycle::need_of(const spur_job_view& job, const spur_partition_view& partition) const {
    Need need{std::max({job.min_nodes, partition.min_nodes, 1U}), std::min(job.max_nodes, partition.max_nodes),
              job.tasks, std::max(job.cpus_per_task, 1U), job.tasks_per_node};
    if (need.tasks == 0) need.tasks = need.tasks_per_node != 0 ? need.min_nodes * need.tasks_per_node : need.min_nodes;
    need.min_nodes = std::max(need.min_nodes, count(job.required_nodes));
    return need;
}

bool Cycle::has_gres(const spur_job_view& job, const spur_node_view& node) const {
    for (std::uint32_t i = 0; i < job.gres.count; ++i) {
        const auto* wanted = SPUR_AT(spur_gres_request, job.gres, i);
        const auto* found = find_gres(node, wanted->name);
        if (found == nullptr) return false;
        const auto per_node = wanted->scope == SPUR_GRES_PER_NODE     ? wanted->count
                              : wanted->scope == SPUR_GRES_PER_SOCKET ? wanted->count * std::max(node.sockets, 1U)
                                                                      : 1;
        if (supply(*found, wanted->type) < per_node) return false;
    }
    return true;
}

std::uint32_t Cycle::capacity(const spur_job_view& job, const Need& need, const spur_node_view& node) const {
    if (!has_gres(job, node) || node.tmp_mib < job.tmp_mib) return 0;
    if (node.sockets < job.min_sockets || node.cores_per_socket < job.min_cores_per_socket ||
        node.threads_per_core < job.min_threads_per_core)
        return 0;
    if (node.cpus < job.min_cpus_per_node || node.memory_mib < job.mem_per_node_mib) return 0;
    auto cpus = node.cpus;
    if (job.flags & SPUR_JOB_ONE_THREAD_PER_CORE)
        cpus = node.cpus / std::max(1U, node.threads_per_core);  // specialised cores are not offered
    std::uint64_t tasks = job.flags & SPUR_JOB_OVERCOMMIT ? need.tasks : cpus / need.cpus_per_task;
    if (need.tasks_per_node != 0) {
        if (tasks < std::min(need.tasks_per_node, need.tasks)) return 0;
        tasks = std::min<std::uint64_t>(tasks, need.tasks_per_node);
    }
    if (job.tasks_per_socket != 0)
        tasks = std::min<std::uint64_t>(tasks, std::uint64_t{job.tasks_per_socket} * node.sockets);
    if (job.tasks_per_core != 0)
        tasks =
            std::min<std::uint64_t>(tasks, std::uint64_t{job.tasks_per_core} * node.sockets * node.cores_per_socket);
    if (job.mem_per_cpu_mib != 0)
        tasks = std::min<std::uint64_t>(tasks, node.memory_mib / (job.mem_per_cpu_mib * need.cpus_per_task));
    for (std::uint32_t i = 0; i < job.gres.count; ++i) {
        const auto* wanted = SPUR_AT(spur_gres_request, job.gres, i);
        const auto available = supply(*find_gres(node, wanted->name), wanted->type);
        if (wanted->scope == SPUR_GRES_PER_TASK && wanted->count != 0)
            tasks = std::min(tasks, available / wanted->count);
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(tasks, UINT32_MAX));
}

bool Cycle::satisfies_sets(const spur_job_view& job) const {
    for (std::uint32_t i = 0; i < job.quotas.count; ++i) {
        const auto* quota = SPUR_AT(spur_node_quota, job.quotas, i);
        const auto inside = std::ranges::count_if(chosen_, [&](std::uint32_t node) { return has(quota->nodes, node); });
        if (static_cast<std::uint32_t>(inside) < quota->count) return false;
    }
    return true;
}

std::uint32_t Cycle::find_usable(const Search& search, const spur_bits* within, bool empty) {
    const auto keep_only = [&](const spur_bits& bits) {
        const auto there = std::min<std::size_t>(bits.words == nullptr ? 0 : (bits.count + 63) / 64, mask_.size());
        for (std::size_t w = 0; w < there; ++w) mask_[w] &= bits.words[w];
        std::fill(mask_.begin() + static_cast<std::ptrdiff_t>(there), mask_.end(), 0);
    };
    if (empty)
        std::ranges::fill(mask_, ~std::uint64_t{0});
    else
        for (std::size_t w = 0; w < mask_.size(); ++w) mask_[w] = usable_[w] & slots_[search.pick.slot].idle[w];
    keep_only(search.partition.nodes);
    if (search.job.eligible_nodes.words != nullptr) keep_only(search.job.eligible_nodes);
    if (search.pick.candidates.words != nullptr) keep_only(search.pick.candidates);
    if (within != nullptr) keep_only(*within);
    if (const auto rest = view_->nodes.count % 64; rest != 0) mask_.back() &= (std::uint64_t{1} << rest) - 1;
    std::uint32_t sum = 0;
    for (const auto word : mask_) {
        if (sum >= search.need.min_nodes) break;
        if (word != 0) sum += static_cast<std::uint32_t>(std::popcount(word));
    }
    return sum;
}

template <class F>
void Cycle::for_each_usable(F&& f) const {
    for (const auto& words : weights_)
        for (std::size_t w = 0; w < mask_.size(); ++w)
            for (auto left = mask_[w] & words[w]; left != 0; left &= left - 1)
                if (!f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))))) return;
}

std::uint32_t Cycle::room_on(const Search& search, std::uint32_t i) {
    auto& known = rooms_[class_of_[i]];
    if (known.asked != searches_)
        known = {searches_, capacity(search.job, search.need, *SPUR_AT(spur_node_view, view_->nodes, i))};
    return known.room;
}

// Chooses node `i` if it is usable and of use.
bool Cycle::add(const Search& search, std::uint32_t i) {
    if (!is_usable(i)) return false;
    const auto room = room_on(search, i);
    if (room == 0) return false;
    choose_node(i, room);
    return true;
}

// What the job wants over all its nodes together, as far as node `i` has it.
std::uint32_t Cycle::pooled_supply(const spur_job_view& job, std::uint32_t i) const {
    std::uint64_t sum = 0;
    for (std::uint32_t g = 0; g < job.gres.count; ++g) {
        const auto* wanted = SPUR_AT(spur_gres_request, job.gres, g);
        if (wanted->scope != SPUR_GRES_PER_JOB) continue;
        sum += supply(*find_gres(*SPUR_AT(spur_node_view, view_->nodes, i), wanted->name), wanted->type);
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, UINT32_MAX));
}

// Do the chosen nodes hold the job's tasks and what it wants over all nodes together?
bool Cycle::is_enough(const Search& search) const {
    if (chosen_.size() < search.need.min_nodes || chosen_.size() > search.need.max_nodes) return false;
    if (total_room_ < search.need.tasks) return false;
    for (std::uint32_t g = 0; g < search.job.gres.count; ++g) {
        const auto* wanted = SPUR_AT(spur_gres_request, search.job.gres, g);
        if (wanted->scope != SPUR_GRES_PER_JOB) continue;
        std::uint64_t total = 0;
        for (const auto i : chosen_)
            total += supply(*find_gres(*SPUR_AT(spur_node_view, view_->nodes, i), wanted->name), wanted->type);
        if (total < wanted->count) return false;
    }
    return true;
}

// The nodes the job insists on, and enough of each set it names. False: one it insists on cannot be had.
bool Cycle::add_obliged(const Search& search) {
    const auto& job = search.job;
    choose_nobody();
    if (job.required_nodes.words != nullptr)
        for (std::uint32_t i = 0; i < view_->nodes.count; ++i)
            if (has(job.required_nodes, i) && !add(search, i)) return false;
    for (std::uint32_t q = 0; q < job.quotas.count; ++q) {
        const auto* quota = SPUR_AT(spur_node_quota, job.quotas, q);
        auto inside = static_cast<std::uint32_t>(
            std::ranges::count_if(chosen_, [&](std::uint32_t n) { return has(quota->nodes, n); }));
        for_each_usable([&](std::uint32_t i) {
            if (inside >= quota->count || chosen_.size() >= search.need.max_nodes) return false;
            if (has(quota->nodes, i) && std::ranges::find(chosen_, i) == chosen_.end() && add(search, i)) ++inside;
            return true;
        });
    }
    return true;
}

// Nodes in the order of their weights, until there are enough.
bool Cycle::choose_light(const Search& search) {
    if (!add_obliged(search)) return false;
    const bool wide = (search.job.flags & SPUR_JOB_SPREAD) != 0;
    const bool fresh = chosen_.empty();  // then nothing can be chosen twice
    bool enough = is_enough(search);
    for_each_usable([&](std::uint32_t i) {
        if ((enough && !wide) || chosen_.size() >= search.need.max_nodes) return false;
        if ((fresh || std::ranges::find(chosen_, i) == chosen_.end()) && add(search, i)) enough = is_enough(search);
        return true;
    });
    return enough && satisfies_sets(search.job);
}

// The richest nodes by tasks, or by what the job wants over all nodes: where only few are allowed, light ones may be
// too small.
bool Cycle::choose_rich(const Search& search, bool by_gres) {
    if (!add_obliged(search)) return false;
    roomy_.clear();
    for_each_usable([&](std::uint32_t i) {
        if (std::ranges::find(chosen_, i) == chosen_.end())
            if (const auto room = room_on(search, i); room != 0)
                roomy_.emplace_back(by_gres ? pooled_supply(search.job, i) : room, i);
        return true;
    });
    std::ranges::sort(roomy_, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    bool enough = is_enough(search);
    for (const auto& [wealth, i] : roomy_) {
        if (enough || chosen_.size() >= search.need.max_nodes) break;
        choose_node(i, room_on(search, i));
        enough = is_enough(search);
    }
    return enough && satisfies_sets(search.job);
}

// The first run of nodes side by side that will do.
bool Cycle::choose_contiguous(const Search& search) {
    const auto required = count(search.job.required_nodes);
    for (std::uint32_t start = 0; start < view_->nodes.count; ++start) {
        choose_nobody();
        for (auto i = start; i < view_->nodes.count && chosen_.size() < search.need.max_nodes && add(search, i); ++i) {
            const auto inside =
                std::ranges::count_if(chosen_, [&](auto n) { return has(search.job.required_nodes, n); });
            if (is_enough(search) && static_cast<std::uint32_t>(inside) == required && satisfies_sets(search.job))
                return true;
        }
    }
    return false;
}

// Fills chosen_ and room_; false: not enough.
bool Cycle::choose(const spur_pick& pick, const Need& need, bool empty) {
    const Search search{pick, *SPUR_AT(spur_job_view, view_->pending, pick.job),
                        *SPUR_AT(spur_partition_view, view_->partitions, pick.partition), need};
    const auto found = [&](const spur_bits* within) {
        if (find_usable(search, within, empty) < need.min_nodes) return false;
        if ((search.job.flags & SPUR_JOB_CONTIGUOUS) != 0) return choose_contiguous(search);
        if (choose_light(search)) return true;
        if (chosen_.size() < need.max_nodes) return false;  // all there are were chosen
        return choose_rich(search, false) || choose_rich(search, true);
    };
    ++searches_;
    if (search.job.alternatives.count == 0) return found(nullptr);
    for (std::uint32_t a = 0; a < search.job.alternatives.count; ++a)
        if (found(SPUR_AT(spur_bits, search.job.alternatives, a))) return true;
    return false;
}

spur_status Cycle::pick(const spur_pick& pick, spur_placement* out) {
    const auto* job = SPUR_AT(spur_job_view, view_->pending, pick.job);
    const auto* partition = SPUR_AT(spur_partition_view, view_->partitions, pick.partition);
    const auto need = need_of(*job, *partition);
    if (need.min_nodes > need.max_nodes || job->gres.count > most_requests) return SPUR_NEVER;
    const bool as_if_empty = (pick.flags & SPUR_PICK_EMPTY) != 0;
    // What fits now fits an empty cluster, also where choosing among more nodes misses it.
    if (!choose(pick, need, as_if_empty) && !(as_if_empty && choose(pick, need, false))) {
        if (!as_if_empty && (pick.flags & SPUR_PICK_BRIEF) != 0) return SPUR_NOT_NOW;
        return as_if_empty || !choose(pick, need, true) ? SPUR_NEVER : SPUR_NOT_NOW;
    }
    if ((pick.flags & SPUR_PICK_TEST_ONLY) != 0 || out == nullptr) return SPUR_FITS;
    put_in_order();
    return write(*job, need, *out);
}

// As the cluster counts its nodes.
void Cycle::put_in_order() {
    if (std::ranges::is_sorted(chosen_)) return;
    roomy_.clear();
    for (std::size_t k = 0; k < chosen_.size(); ++k) roomy_.emplace_back(room_[k], chosen_[k]);
    std::ranges::sort(roomy_, {}, [](const auto& one) { return one.second; });
    for (std::size_t k = 0; k < chosen_.size(); ++k) std::tie(room_[k], chosen_[k]) = roomy_[k];
}

spur_status Cycle::write(const spur_job_view& job, const Need& need, spur_placement& out) const {
    std::uint32_t words = 0, gres = 0;
    for (const auto i : chosen_) {
        const auto* node = SPUR_AT(spur_node_view, view_->nodes, i);
        words += (node->cores_offered.count + 63) / 64;
        for (std::uint32_t g = 0; g < job.gres.count; ++g)
            if (const auto* found = find_gres(*node, SPUR_AT(spur_gres_request, job.gres, g)->name))
                words += (found->devices.count + 63) / 64;
        gres += job.gres.count;
    }
    out.share_wanted = static_cast<std::uint32_t>(chosen_.size());
    out.gres_wanted = gres;
    out.word_wanted = words;
    if (out.share_capacity < out.share_wanted || out.gres_capacity < gres || out.word_capacity < words)
        return SPUR_NO_ROOM;
    out.share_count = out.gres_count = out.word_count = 0;
    out.score = static_cast<std::int64_t>(chosen_.size());

    std::array<std::uint64_t, most_requests> pooled{};  // what is still to be given, by request
    for (std::uint32_t g = 0; g < job.gres.count; ++g) pooled[g] = SPUR_AT(spur_gres_request, job.gres, g)->count;
    // Tasks evenly, earlier nodes first, none more than it can hold.
    std::uint32_t left = need.tasks;
    auto room_behind = total_room_;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
        const auto* node = SPUR_AT(spur_node_view, view_->nodes, chosen_[k]);
        const auto nodes_left = static_cast<std::uint32_t>(chosen_.size() - k);
        room_behind -= room_[k];
        auto tasks = std::min((left + nodes_left - 1) / nodes_left, room_[k]);
        if (left > tasks && room_behind < left - tasks) tasks = static_cast<std::uint32_t>(left - room_behind);
        left -= tasks;
        auto& share = out.shares[out.share_count++];
        share = {};
        share.node = chosen_[k];
        share.cpus = node->cpus;
        share.tasks = tasks;
        share.flags = SPUR_SHARE_WHOLE_NODE;
        share.memory_mib = job.mem_per_node_mib != 0  ? job.mem_per_node_mib
                           : job.mem_per_cpu_mib != 0 ? std::min(node->memory_mib, job.mem_per_cpu_mib * node->cpus)
                                                      : node->memory_mib;
        const auto core_words = (node->cores_offered.count + 63) / 64;
        std::copy_n(node->cores_offered.words, core_words, out.words + out.word_count);
        share.cores = {out.words + out.word_count, node->cores_offered.count, 0};
        out.word_count += core_words;
        write_gres(job, *node, tasks, pooled, out, share);
    }
    return SPUR_FITS;
}

void Cycle::write_gres(const spur_job_view& job, const spur_node_view& node, std::uint32_t tasks,
                       std::array<std::uint64_t, most_requests>& pooled, spur_placement& out,
                       spur_node_share& share) const {
    auto* const first = out.gres + out.gres_count;
    std::uint32_t given = 0;
    for (std::uint32_t g = 0; g < job.gres.count; ++g) {
        const auto* wanted = SPUR_AT(spur_gres_request, job.gres, g);
        const auto* found = find_gres(node, wanted->name);
        const auto available = supply(*found, wanted->type);
        std::uint64_t amount = wanted->count;
        if (wanted->scope == SPUR_GRES_PER_TASK) amount *= tasks;
        if (wanted->scope == SPUR_GRES_PER_SOCKET) amount *= std::max(node.sockets, 1U);
        if (wanted->scope == SPUR_GRES_PER_JOB) pooled[g] -= amount = std::min(available, pooled[g]);
        if (amount == 0) continue;
        auto& piece = out.gres[out.gres_count++];
        piece = {wanted->name, wanted->type, amount, {nullptr, 0, 0}};
        ++given;
        if (found->devices.count == 0) continue;
        auto* words = out.words + out.word_count;
        const auto width = (found->devices.count + 63) / 64;
        std::fill_n(words, width, 0);
        auto still = amount;
        for (std::uint32_t d = 0; d < found->devices.count && still > 0; ++d) {
            if (wanted->type != 0 && SPUR_AT(spur_device_view, found->devices, d)->type != wanted->type) continue;
            bool taken = false;  // by another request of this job for the same resource
            for (auto* other = first; other != &piece; ++other)
                taken = taken || (other->name == piece.name && has(other->devices, d));
            if (taken) continue;
            words[d / 64] |= std::uint64_t{1} << (d % 64);
            --still;
        }
        piece.devices = {words, found->devices.count, 0};
        out.word_count += width;
    }
    share.gres = {first, given, static_cast<std::uint32_t>(sizeof(spur_gres_share))};
}

}  // namespace spur::linear
