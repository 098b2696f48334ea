// Pages that are copied when written to, and the index of free nodes.
#include "slots.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace spur::select_gpu {

// ---- sets of nodes by what is free
// -----------------------------------------------------------------------------------

void FreeIndex::move(std::uint32_t first, std::uint32_t node, std::uint8_t from, std::uint8_t to) {
    for (auto k = std::min(from, to); k < std::max(from, to); ++k) {
        words_[std::size_t{first + k} * width_ + node / 64] ^= bit(node);
        counts_[first + k] += to > from ? 1U : ~0U;
    }
}

void FreeIndex::put(std::uint32_t node, std::int64_t cores, std::uint32_t gpus, std::int64_t memory_mib, bool idle) {
    const auto level = [](std::int64_t amount, std::uint32_t levels) {
        const auto width = amount <= 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(amount));
        return static_cast<std::uint8_t>(std::min<std::uint32_t>(static_cast<std::uint32_t>(width), levels));
    };
    const Levels now{level(cores, core_levels), static_cast<std::uint8_t>(std::min(gpus, gpu_levels)),
                     level(memory_mib / 512, memory_levels), idle};
    const auto was = std::exchange(levels_[node], now);
    move(0, node, was.cores, now.cores);
    move(core_levels, node, was.gpus, now.gpus);
    move(core_levels + gpu_levels, node, was.memory, now.memory);
    move(set_count - 1, node, was.idle, now.idle);
}

const std::uint64_t* FreeIndex::cores_at_least(std::uint32_t cores) const {
    if (cores == 0) return nullptr;
    return core_level(std::min<std::uint32_t>(static_cast<std::uint32_t>(std::bit_width(cores)) - 1, core_levels - 1));
}

const std::uint64_t* FreeIndex::gpus_at_least(std::uint64_t gpus) const {
    if (gpus == 0) return nullptr;
    return gpu_level(static_cast<std::uint32_t>(std::min<std::uint64_t>(gpus, gpu_levels)) - 1);
}

const std::uint64_t* FreeIndex::memory_at_least(std::uint64_t mib) const {
    if (mib < 512) return nullptr;
    const auto level = static_cast<std::uint32_t>(std::bit_width(mib / 512)) - 1;
    return core_level(core_levels + gpu_levels + std::min(level, memory_levels - 1));
}

// ---- slots
// -----------------------------------------------------------------------------------------------------------

void Slots::begin(const Picture& picture) {
    picture_ = &picture;
    const auto pages = picture.page_count();
    page_base_.resize(pages);
    std::size_t words = 0;
    for (std::uint32_t p = 0; p < pages; ++p) {
        page_base_[p] = words;
        words += std::size_t{picture.page_words(p)} * total;
    }
    if (words > capacity_) {
        memory_ = std::make_unique_for_overwrite<std::uint64_t[]>(words);
        capacity_ = words;
    }
    block_of_.assign(std::size_t{pages} * total, 0);
    users_.assign(std::size_t{pages} * total, 0);
    for (std::uint32_t p = 0; p < pages; ++p) users_[std::size_t{p} * total] = ~std::uint64_t{0} >> (64 - total);
    indexes_.resize(total);
    for (auto& index : indexes_)
        if (index.width() != picture.width()) index.reset(picture.width());
    indexes_[empty].reset(picture.width());
    fill_empty();
    copy(empty, 0);

    const auto& view = picture.view();
    for (std::uint32_t i = 0; i < view.running_order.count; ++i) {
        const auto& job = *SPUR_AT(spur_job_view, view.running, *SPUR_AT(std::uint32_t, view.running_order, i));
        take(0, spur_shares(job.held), job.flags);
    }
    for (std::uint32_t i = 0; i < picture.node_count(); ++i) add_unlisted(i);
}

// Block 0 of each page: nothing runs.
void Slots::fill_empty() {
    for (std::uint32_t i = 0; i < picture_->node_count(); ++i) {
        const auto& node = picture_->node(i);
        const StateView state{block(i / page_nodes, 0) + node.offset, node};
        state.head() = {};
        state.head().free_cores = static_cast<std::int32_t>(node.offered);
        for (std::uint32_t w = 0; w < node.core_words; ++w) state.free_cores()[w] = word(node.view->cores_offered, w);
        std::fill_n(&state.owners(0), node.core_words * (picture_->shares_cores() ? 2 : 1), Tally{});
        for (std::uint32_t w = 0; w < node.core_words; ++w)  // cores that are not offered are never free
            state.owners(w).add(~state.free_cores()[w], state.head().depth);
        for (std::uint32_t g = 0; g < node.gres_count; ++g) {
            const auto& gres = picture_->gres(node, g);
            auto& kept = state.gres(gres);
            kept = {};
            for (std::uint32_t d = 0; d < gres.devices; ++d) {
                state.units(gres)[d] = 0;
                if (picture_->device(gres, d).units > 0) kept.free |= bit(d);
            }
        }
        reindex(empty, i, state);
    }
}

// What the node's record says is in use and no running job accounts for.
void Slots::add_unlisted(std::uint32_t i) {
    const auto& node = picture_->node(i);
    const auto& record = *node.view;
    const auto seen = state(0, i);
    bool more = static_cast<std::uint32_t>(seen.head().jobs) != record.running_jobs ||
                seen.head().memory_used_mib != static_cast<std::int64_t>(record.memory_used_mib) ||
                ((record.flags & SPUR_NODE_EXCLUSIVE) != 0 && seen.head().whole == 0) ||
                (record.owner_uid != SPUR_NONE && seen.head().locked == 0);
    for (std::uint32_t w = 0; w < node.core_words; ++w)
        more = more || (word(record.cores_used, w) & seen.free_cores()[w]) != 0;
    for (std::uint32_t g = 0; g < node.gres_count; ++g) {
        const auto& view = *SPUR_AT(spur_gres_view, record.gres, g);
        more = more || static_cast<std::uint64_t>(seen.gres(picture_->gres(node, g)).used) != view.used;
    }
    if (!more) {
        if (seen.head().strangers != 0) writable(0, i).head().strangers = 0;
        return;
    }
    const auto state = writable(0, i);
    auto& head = state.head();
    head.strangers = 0;
    head.jobs = std::max(head.jobs, static_cast<std::int32_t>(record.running_jobs));
    head.memory_used_mib = std::max(head.memory_used_mib, static_cast<std::int64_t>(record.memory_used_mib));
    if ((record.flags & SPUR_NODE_EXCLUSIVE) != 0) head.whole = std::max(head.whole, 1);
    if (record.owner_uid != SPUR_NONE) head.locked = std::max(head.locked, 1);
    for (std::uint32_t w = 0; w < node.core_words; ++w) {
        const auto used = word(record.cores_used, w) & state.free_cores()[w];
        state.owners(w).add(used, head.depth);
        state.free_cores()[w] &= ~used;
        head.free_cores -= static_cast<std::int32_t>(count(used));
    }
    for (std::uint32_t g = 0; g < node.gres_count; ++g) {
        const auto& gres = picture_->gres(node, g);
        const auto& view = *SPUR_AT(spur_gres_view, record.gres, g);
        auto& kept = state.gres(gres);
        kept.used = std::max(kept.used, static_cast<std::int64_t>(view.used));
        for (std::uint32_t d = 0; d < gres.devices; ++d) {
            auto& units = state.units(gres)[d];
            const auto used = SPUR_AT(spur_device_view, view.devices, d)->units_used;
            units = std::max(units, static_cast<std::uint32_t>(used));
            if (units >= picture_->device(gres, d).units) kept.free &= ~bit(d);
        }
    }
    reindex(0, i, state);
}

StateView Slots::state(std::uint32_t slot, std::uint32_t node) const {
    const auto page = node / page_nodes;
    const auto& fixed = picture_->node(node);
    return {block(page, block_of_[std::size_t{page} * total + slot]) + fixed.offset, fixed};
}

void Slots::copy(std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    for (std::uint32_t p = 0; p < picture_->page_count(); ++p) {
        auto* const blocks = block_of_.data() + std::size_t{p} * total;
        auto* const users = users_.data() + std::size_t{p} * total;
        if (blocks[from] == blocks[to]) continue;
        users[blocks[to]] &= ~bit(to);
        blocks[to] = blocks[from];
        users[blocks[to]] |= bit(to);
    }
    indexes_[to] = indexes_[from];
}

// A page that others use too is copied first. There are as many blocks as slots, so one is always free.
StateView Slots::writable(std::uint32_t slot, std::uint32_t node) {
    const auto page = node / page_nodes;
    auto& held = block_of_[std::size_t{page} * total + slot];
    auto* const users = users_.data() + std::size_t{page} * total;
    if (users[held] != bit(slot)) {
        std::uint8_t fresh = 0;
        while (users[fresh] != 0) ++fresh;
        std::copy_n(block(page, held), picture_->page_words(page), block(page, fresh));
        users[held] &= ~bit(slot);
        users[fresh] = bit(slot);
        held = fresh;
    }
    return state(slot, node);
}

void Slots::reindex(std::uint32_t slot, std::uint32_t i, const StateView& state) {
    const auto& node = picture_->node(i);
    const auto& head = state.head();
    const auto gpus = node.gpu < 0 ? 0 : count(free_devices(state, node, static_cast<std::uint32_t>(node.gpu)));
    const bool taken = head.whole > 0;
    const bool idle = head.jobs <= 0 && head.free_cores == static_cast<std::int32_t>(node.offered);
    indexes_[slot].put(i, taken ? 0 : head.free_cores, taken ? 0 : gpus,
                       taken ? 0 : static_cast<std::int64_t>(node.memory_mib) - head.memory_used_mib, idle);
}

std::uint64_t Slots::free_devices(const StateView& state, const Node& node, std::uint32_t which) const {
    const auto& gres = picture_->gres(node, which);
    auto free = state.gres(gres).free;
    if (gres.parts >= 0) {  // a gpu with a shard in use is not given whole
        const auto& parts = picture_->gres(node, static_cast<std::uint32_t>(gres.parts));
        for (std::uint32_t d = 0; d < parts.devices; ++d)
            if (const auto parent = picture_->device(parts, d).parent;
                state.units(parts)[d] > 0 && parent < most_devices)
                free &= ~bit(parent);
    }
    if (gres.parent >= 0) {  // and shards are not given of a gpu that is
        const auto& whole = picture_->gres(node, static_cast<std::uint32_t>(gres.parent));
        for (std::uint32_t d = 0; d < gres.devices; ++d)
            if (const auto parent = picture_->device(gres, d).parent;
                parent < whole.devices && state.units(whole)[parent] > 0)
                free &= ~bit(d);
    }
    return free;
}

// ---- taking and giving
// -----------------------------------------------------------------------------------------------

void Slots::book(std::uint32_t slot, spur_span shares, std::uint32_t job_flags, std::int32_t sign) {
    const bool shared = (job_flags & SPUR_JOB_OVERSUBSCRIBE) != 0 && picture_->shares_cores();
    for (std::uint32_t i = 0; i < shares.count; ++i) {
        const auto& share = *SPUR_AT(spur_node_share, shares, i);
        if (share.node >= picture_->node_count()) continue;
        const auto& node = picture_->node(share.node);
        const auto state = writable(slot, share.node);
        auto& head = state.head();
        head.memory_used_mib += sign * static_cast<std::int64_t>(share.memory_mib);
        if ((job_flags & SPUR_JOB_SUSPENDED) == 0) {  // those that are keep memory and devices, and are no company
            head.jobs += sign;
            head.strangers += sign;
            if ((share.flags & SPUR_SHARE_WHOLE_NODE) != 0) head.whole += sign;
            if ((job_flags & SPUR_JOB_EXCLUSIVE_USER) != 0) head.locked += sign;
            book_cores(state, node, share.cores, shared, sign);
        }
        for (std::uint32_t g = 0; g < share.gres.count; ++g)
            book_gres(state, node, *SPUR_AT(spur_gres_share, share.gres, g), sign);
        reindex(slot, share.node, state);
    }
}

void Slots::book_cores(const StateView& state, const Node& node, const spur_bits& cores, bool shared,
                       std::int32_t sign) {
    for (std::uint32_t w = 0; w < node.core_words; ++w) {
        const auto set = word(cores, w);
        if (set == 0) continue;
        auto& tally = shared ? state.sharers(w) : state.owners(w);
        auto& depth = state.head().depth;
        sign > 0 ? tally.add(set, depth) : tally.remove(set, depth);
        auto held = tally.held(depth);
        if (picture_->shares_cores()) held |= (shared ? state.owners(w) : state.sharers(w)).held(depth);
        auto& free = state.free_cores()[w];
        const auto before = std::exchange(free, (free & ~set) | (set & ~held));
        if (free != before)
            state.head().free_cores +=
                static_cast<std::int32_t>(count(free)) - static_cast<std::int32_t>(count(before));
    }
}

void Slots::book_gres(const StateView& state, const Node& node, const spur_gres_share& share, std::int32_t sign) {
    const auto found = picture_->find_gres(node, share.name);
    if (found < 0) return;
    const auto& gres = picture_->gres(node, static_cast<std::uint32_t>(found));
    auto& kept = state.gres(gres);
    kept.used += sign * static_cast<std::int64_t>(share.count);
    // One device may hold many units (shards, a typed count); of several devices each holds one. Who holds some of a
    // count need not name the device: there is one for each type.
    auto named = word(share.devices, 0);
    if (named == 0 && gres.devices > 0 && gres.parent < 0) {
        const auto all = picture_->devices_of(gres, share.type);
        named = all & (~all + 1);
    }
    const auto units = count(named) == 1 ? static_cast<std::int64_t>(share.count) : 1;
    for_each_bit(named, 0, [&](std::uint32_t device) {
        if (device >= gres.devices) return;
        auto& held = state.units(gres)[device];
        held = static_cast<std::uint32_t>(held + sign * units);
        const auto whole = picture_->device(gres, device).units;
        kept.free = static_cast<std::int32_t>(held) < static_cast<std::int32_t>(whole) ? kept.free | bit(device)
                                                                                       : kept.free & ~bit(device);
    });
}

}  // namespace spur::select_gpu
