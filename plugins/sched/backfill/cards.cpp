// Filling and refreshing cards, hashing shapes, and noticing alike nodes.
#include "cards.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <spur/plugin/hash.hpp>

namespace spur::backfill {

namespace {

using plugin::Hash;
using plugin::Records;

// Everything a selector may look at, but for amounts.
std::uint64_t rest_of(const spur_job_view& job, std::uint32_t stride, std::uint64_t open, bool users_matter) {
    Hash hash;
    hash_rest(hash, job)(open);
    if (users_matter || (job.flags & SPUR_JOB_EXCLUSIVE_USER) != 0) hash(job.uid);
    hash.set(job.eligible_nodes).set(job.required_nodes).set(job.preferred_nodes);
    hash.span(job.alternatives).span(job.quotas);
    // Whatever a later release appends may matter to the selector.
    const auto* tail = reinterpret_cast<const unsigned char*>(&job) + sizeof(job);
    for (auto left = stride - std::min<std::uint32_t>(stride, sizeof(job)); left > 0;) {
        std::uint64_t word = 0;
        const auto length = std::min<std::uint32_t>(left, 8);
        std::memcpy(&word, tail, length);
        hash(word);
        tail += length;
        left -= length;
    }
    return hash.value();
}

std::uint64_t shape_hash(const Amounts& amounts) {
    Hash hash;
    hash(amounts.family, amounts.tasks, amounts.max_nodes);
    for (const auto amount : amounts.least) hash(amount);
    return hash.value();
}

std::uint64_t node_digest(const spur_node_view& node) {
    return Hash{}(node.flags & SPUR_NODE_USABLE, node.klass, node.cpus, node.memory_mib, node.tmp_mib).value();
}

// Why this partition does not start the job; 0: it may.
std::uint32_t objection(const spur_partition_view& partition, const spur_job_view& job, std::uint32_t least_s) {
    if (partition.state == SPUR_PARTITION_DOWN) return SPUR_WAIT_PARTITION_DOWN;
    if (partition.state == SPUR_PARTITION_INACTIVE) return SPUR_WAIT_PARTITION_INACTIVE;
    if (least_s > partition.max_time_s) return SPUR_WAIT_PARTITION_TIME_LIMIT;
    if (job.min_nodes > partition.max_nodes) return SPUR_WAIT_PARTITION_NODE_LIMIT;
    return 0;
}

// Does it make a difference to selectors whose job it is? On nodes that somebody has for himself it does.
bool do_users_matter(const spur_cluster_view& view) {
    for (const auto& partition : Records<spur_partition_view>{view.partitions})
        if (partition.exclusive_user != 0) return true;
    for (const auto slot : Records<std::uint32_t>{view.running_order})
        if ((SPUR_AT(spur_job_view, view.running, slot)->flags & SPUR_JOB_EXCLUSIVE_USER) != 0) return true;
    return false;
}

}  // namespace

void Cards::update(const spur_cluster_view& view, bool complete) {
    const auto* changes = view.changes;
    const bool users_matter = do_users_matter(view);
    const bool known = complete && changes != nullptr && changes->complete != 0 && changes->since == seen_ &&
                       users_matter == users_matter_ && stale_ <= view.pending_order.count + 1000;
    users_matter_ = users_matter;
    seen_ = view.number;
    was_full_ = !known;
    if (!known) return rebuild(view);
    cards_.resize(view.pending.count);
    for (const auto slot : Records<std::uint32_t>{changes->gone_pending})
        if (slot < cards_.size()) cards_[slot] = {};
    for (const auto slot : Records<std::uint32_t>{changes->new_pending})
        if (SPUR_AT(spur_job_view, view.pending, slot)->id != 0) fill(view, slot);
    stale_ += changes->new_pending.count;
    const bool alike = are_nodes_alike(view);  // then what was possible still is
    for (auto& shape : shapes_) {
        shape.never_in_window = false;
        if (!alike) {
            shape.is_examined = false;
            if (shape.open_count != 0) shape.refusal = 0;
        }
        shape.fails_from_s = Shape::nobody;
        shape.earliest = 0;
    }
    std::ranges::fill(permissions_, 0);
}

// Are the nodes that changed what they were before, but for the jobs on them?
bool Cards::are_nodes_alike(const spur_cluster_view& view) {
    bool alike = nodes_.size() == view.nodes.count;
    nodes_.resize(view.nodes.count);
    for (const auto i : Records<std::uint32_t>{view.changes->nodes}) {
        if (i >= nodes_.size()) continue;
        const auto now = node_digest(*SPUR_AT(spur_node_view, view.nodes, i));
        alike = std::exchange(nodes_[i], now) == now && alike;
    }
    return alike;
}

void Cards::rebuild(const spur_cluster_view& view) {
    nodes_.clear();
    for (const auto& node : Records<spur_node_view>{view.nodes}) nodes_.push_back(node_digest(node));
    cards_.assign(view.pending.count, {});
    shape_numbers_.clear();
    owner_numbers_.clear();
    shapes_.clear();
    amounts_.clear();
    open_partitions_.clear();
    permissions_.clear();
    ranks_.clear();
    stale_ = 0;
    rank_qos(view);
    for (const auto slot : Records<std::uint32_t>{view.pending_order}) fill(view, slot);
}

void Cards::fill(const spur_cluster_view& view, std::uint32_t slot) {
    const auto& job = *SPUR_AT(spur_job_view, view.pending, slot);
    auto& card = cards_[slot] = {};
    card.limit_s = card.least_s = job.limit_s;
    if (job.limit_min_s != 0 && job.limit_min_s < job.limit_s) card.least_s = job.limit_min_s;
    card.has_deadline = job.deadline != 0;
    card.is_component = job.het_group != 0;
    card.has_tasks = job.array_tasks != 0;
    card.rank = rank_of(view, job);

    std::uint64_t open = 0;
    std::uint32_t refusal = 0;
    const Records<std::uint32_t> partitions{job.partitions};
    for (std::uint32_t p = 0; p < partitions.size() && p < 64; ++p) {
        const auto why = objection(*SPUR_AT(spur_partition_view, view.partitions, partitions[p]), job, card.least_s);
        if (why == 0)
            open |= std::uint64_t{1} << p;
        else if (refusal == 0)
            refusal = why;
    }
    const auto amounts = amounts_of(job, rest_of(job, view.pending.stride, open, users_matter_));
    const auto hash = shape_hash(amounts);
    // Why nothing is open may differ between jobs of one request: how long they are is no part of a shape.
    const auto [shape, is_new_shape] = shape_numbers_.try_emplace(Hash{}(hash, open == 0 ? refusal : 0U).value(),
                                                                  static_cast<std::uint32_t>(shapes_.size()));
    if (is_new_shape) {
        const auto first = static_cast<std::uint32_t>(open_partitions_.size());
        for (std::uint32_t p = 0; p < partitions.size() && p < 64; ++p)
            if ((open >> p & 1) != 0) open_partitions_.push_back(partitions[p]);
        shapes_.push_back({.first_open = first,
                           .open_count = static_cast<std::uint32_t>(open_partitions_.size()) - first,
                           .refusal = static_cast<std::uint8_t>(open != 0      ? 0
                                                                : refusal != 0 ? refusal
                                                                               : SPUR_WAIT_NEVER),
                           .why = 0,
                           .is_examined = false,
                           .never_in_window = false,
                           .fails_from_s = Shape::nobody,
                           .earliest = 0,
                           .earliest_length = 0});
        amounts_.push_back(amounts);
    }
    card.shape = shape->second;
    const auto owner_hash = Hash{}(job.uid, job.association, job.qos, job.klass, hash).value();
    const auto [owner, is_new_owner] =
        owner_numbers_.try_emplace(owner_hash, static_cast<std::uint32_t>(permissions_.size()));
    if (is_new_owner) permissions_.push_back(0);
    card.owner = owner->second;
}

// A QOS that may preempt others stands above them; a ring of them ends where it began.
void Cards::rank_qos(const spur_cluster_view& view) {
    const Records<spur_qos_view> all{view.qos};
    qos_depths_.assign(all.size(), 0);
    for (std::uint32_t round = 0; round < std::min(all.size(), 64U); ++round) {
        bool changed = false;
        for (std::uint32_t i = 0; i < all.size(); ++i)
            for (std::uint32_t j = 0; j < all.size(); ++j)
                if (i != j && plugin::has_bit(all[i].preempts, j) && qos_depths_[i] <= qos_depths_[j] &&
                    qos_depths_[j] < all.size()) {
                    qos_depths_[i] = qos_depths_[j] + 1;
                    changed = true;
                }
        if (!changed) break;
    }
}

std::uint32_t Cards::rank_of(const spur_cluster_view& view, const spur_job_view& job) {
    std::uint64_t tier = 0;
    for (const auto partition : Records<std::uint32_t>{job.partitions})
        tier = std::max<std::uint64_t>(tier, SPUR_AT(spur_partition_view, view.partitions, partition)->tier);
    const auto depth = job.qos < qos_depths_.size() ? qos_depths_[job.qos] : 0;
    const auto rank = std::uint64_t{depth} << 40 | std::uint64_t{job.reservation != SPUR_NONE} << 33 | tier;
    const auto found = std::ranges::find(ranks_, rank);
    if (found != ranks_.end()) return static_cast<std::uint32_t>(found - ranks_.begin());
    ranks_.push_back(rank);
    return static_cast<std::uint32_t>(ranks_.size() - 1);
}

const std::vector<std::uint32_t>& Cards::order(const spur_cluster_view& view) {
    const Records<std::uint32_t> given{view.pending_order};
    order_.resize(given.size());
    if (ranks_.size() < 2) {
        std::copy(given.begin(), given.end(), order_.begin());
        return order_;
    }
    by_rank_.resize(ranks_.size());
    std::iota(by_rank_.begin(), by_rank_.end(), 0U);
    std::ranges::sort(by_rank_, std::greater{}, [&](std::uint32_t i) { return ranks_[i]; });
    counts_.assign(ranks_.size(), 0);
    for (const auto slot : given) ++counts_[cards_[slot].rank];
    std::uint32_t first = 0;
    for (const auto rank : by_rank_) first += std::exchange(counts_[rank], first);
    for (const auto slot : given) order_[counts_[cards_[slot].rank]++] = slot;
    return order_;
}

}  // namespace spur::backfill
