// Which reservations are a job's own, and which are in its way.
#include "reserved.hpp"

#include <algorithm>
#include <functional>

#include <spur/plugin/plugin.hpp>

namespace spur::backfill {

namespace {

bool overlaps(const spur_reservation_view& entry, Stretch when) {
    return entry.start < when.end && when.start < entry.end;
}

bool has_any(const spur_bits& bits) {  // reservations of licenses alone have no nodes
    return bits.words != nullptr && std::any_of(bits.words, bits.words + (bits.count + 63) / 64, std::identity{});
}

}  // namespace

void Reserved::begin(const spur_cluster_view& view) {
    node_count_ = view.nodes.count;
    entries_.clear();
    families_.clear();
    starts_.clear();
    const plugin::Records<spur_reservation_view> records{view.reservations};
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        auto family = i;
        for (std::uint32_t j = 0; j < i && family == i; ++j)
            if (plugin::view(records[j].name) == plugin::view(records[i].name)) family = families_[j];
        families_.push_back(family);
        if (records[i].end <= view.now) continue;
        entries_.push_back({&records[i], family, {}, {}});
        if (records[i].cores.words != nullptr) split_cores(view, entries_.back());
        if (records[i].start > view.now) starts_.push_back(records[i].start);
    }
    std::ranges::sort(starts_);
}

// The record numbers its cores through its nodes in order.
void Reserved::split_cores(const spur_cluster_view& view, Entry& entry) const {
    std::uint32_t first = 0;
    for (std::uint32_t n = 0; n < view.nodes.count && n < entry.record->nodes.count; ++n) {
        if (!plugin::has_bit(entry.record->nodes, n)) continue;
        const auto& node = *SPUR_AT(spur_node_view, view.nodes, n);
        const auto cores = node.sockets * node.cores_per_socket;
        std::vector<std::uint64_t> kept((cores + 63) / 64), rest(kept.size());
        for (std::uint32_t core = 0; core < cores; ++core)
            (plugin::has_bit(entry.record->cores, first + core) ? kept : rest)[core / 64] |= std::uint64_t{1}
                                                                                             << (core % 64);
        first += cores;
        for (auto* side : {&kept, &rest}) {
            spur_node_share share{};
            share.node = n;
            entry.words.push_back(std::move(*side));  // moving the list of lists leaves the words where they are
            share.cores = {entry.words.back().data(), cores, 0};
            (side == &kept ? entry.kept : entry.rest).push_back(share);
        }
    }
}

std::vector<spur_placement> Reserved::forbidden_cores(const spur_job_view& job, Stretch when) const {
    std::vector<spur_placement> found;
    for (const auto& entry : entries_) {
        if (entry.kept.empty()) continue;
        const bool mine = is_mine(job, entry);
        if (mine ? (entry.record->flags & SPUR_RESERVATION_FLEX) != 0 : !is_in_the_way(job, entry, when)) continue;
        const auto& shares = mine ? entry.rest : entry.kept;
        found.push_back(spur_placed(shares.data(), static_cast<std::uint32_t>(shares.size())));
    }
    return found;
}

bool Reserved::is_mine(const spur_job_view& job, const Entry& entry) const {
    return job.reservation < families_.size() && families_[job.reservation] == entry.family;
}

// A job inside a reservation that was made to overlap others, or for maintenance, is not kept out by those.
bool Reserved::is_in_the_way(const spur_job_view& job, const Entry& entry, Stretch when) const {
    if ((job.flags & SPUR_JOB_IGNORE_RESERVATIONS) != 0 || is_mine(job, entry) || !overlaps(*entry.record, when))
        return false;
    const auto* mine = own(job);
    return mine == nullptr || (mine->record->flags & (SPUR_RESERVATION_MAINT | SPUR_RESERVATION_OVERLAP)) == 0;
}

const Reserved::Entry* Reserved::own(const spur_job_view& job) const {
    for (const auto& entry : entries_)
        if (is_mine(job, entry)) return &entry;
    return nullptr;
}

// Its jobs may begin before it and run on after it, inside or outside.
bool Reserved::is_flexible(const spur_job_view& job) const {
    const auto* mine = own(job);
    return mine != nullptr && (mine->record->flags & SPUR_RESERVATION_FLEX) != 0;
}

bool Reserved::is_open(const spur_job_view& job, Stretch when) const {
    if (job.reservation == SPUR_NONE || is_flexible(job)) return true;
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
        return is_mine(job, entry) && entry.record->start <= when.start && when.start < entry.record->end;
    });
}

std::int64_t Reserved::closes(const spur_job_view& job, std::int64_t start) const {
    if (job.reservation == SPUR_NONE || is_flexible(job)) return SPUR_TIME_UNLIMITED;
    for (const auto& entry : entries_)
        if (is_mine(job, entry) && entry.record->start <= start && start < entry.record->end) return entry.record->end;
    return start;
}

std::optional<std::int64_t> Reserved::opens(const spur_job_view& job, std::int64_t from) const {
    if (job.reservation == SPUR_NONE || is_flexible(job)) return from;
    std::optional<std::int64_t> first;
    for (const auto& entry : entries_)
        if (is_mine(job, entry) && entry.record->end > from) {
            const auto opens = std::max(from, entry.record->start);
            first = std::min(first.value_or(opens), opens);
        }
    return first;
}

spur_bits Reserved::candidates(const spur_job_view& job, Stretch when) {
    const auto width = (node_count_ + 63) / 64;
    bool restricted = false;
    const auto restrict_to = [&](const spur_bits& nodes, bool inside) {
        if (!restricted) {
            words_.assign(width, ~std::uint64_t{0});
            if (node_count_ % 64 != 0) words_.back() >>= 64 - node_count_ % 64;
            restricted = true;
        }
        for (std::uint32_t w = 0; w < width; ++w) {
            const auto there = nodes.words != nullptr && w < (nodes.count + 63) / 64 ? nodes.words[w] : 0;
            words_[w] &= inside ? there : ~there;
        }
    };
    for (const auto& entry : entries_) {
        const auto& record = *entry.record;
        if (is_mine(job, entry)) {
            if (record.start <= when.start && when.start < record.end && (record.flags & SPUR_RESERVATION_FLEX) == 0 &&
                has_any(record.nodes))
                restrict_to(record.nodes, true);
        } else if (entry.kept.empty() && has_any(record.nodes) && is_in_the_way(job, entry, when)) {
            restrict_to(record.nodes, false);
        }
    }
    return {restricted ? words_.data() : nullptr, restricted ? node_count_ : 0, 0};
}

std::uint32_t Reserved::kept_for_others(const spur_job_view& job, Stretch when, std::uint32_t license) const {
    std::uint32_t sum = 0;
    for (const auto& entry : entries_)
        if (is_in_the_way(job, entry, when))
            for (const auto& kept : plugin::Records<spur_license_request>{entry.record->licenses})
                if (kept.license == license) sum += kept.count;
    return sum;
}

bool Reserved::is_maintenance(const spur_job_view& job, Stretch when) const {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
        return is_in_the_way(job, entry, when) && (entry.record->flags & SPUR_RESERVATION_MAINT) != 0;
    });
}

}  // namespace spur::backfill
