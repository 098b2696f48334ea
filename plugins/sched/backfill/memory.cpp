// The growing buffer and the arena.
#include "memory.hpp"

#include <algorithm>

namespace spur::backfill {

PlacementBuffer::PlacementBuffer() : shares_(64), gres_(64), words_(256) { bind(); }

void PlacementBuffer::bind() {
    placement_ = {};
    placement_.size = sizeof(placement_);
    placement_.shares = shares_.data();
    placement_.share_capacity = static_cast<std::uint32_t>(shares_.size());
    placement_.gres = gres_.data();
    placement_.gres_capacity = static_cast<std::uint32_t>(gres_.size());
    placement_.words = words_.data();
    placement_.word_capacity = static_cast<std::uint32_t>(words_.size());
}

void PlacementBuffer::grow() {
    shares_.resize(std::max<std::size_t>(shares_.size(), placement_.share_wanted));
    gres_.resize(std::max<std::size_t>(gres_.size(), placement_.gres_wanted));
    words_.resize(std::max<std::size_t>(words_.size(), placement_.word_wanted));
    bind();
}

void Arena::clear() { chunk_ = used_ = 0; }

void* Arena::allocate(std::size_t bytes) {
    constexpr std::size_t usual = 8192;
    const auto words = (bytes + 7) / 8;
    while (chunk_ < chunks_.size() && used_ + words > chunks_[chunk_].count) {
        ++chunk_;
        used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
        const auto count = std::max(usual, words);
        chunks_.push_back({std::make_unique_for_overwrite<std::uint64_t[]>(count), count});
    }
    auto* const place = chunks_[chunk_].words.get() + used_;
    used_ += words;
    return place;
}

spur_bits Arena::keep(const spur_bits& bits) {
    if (bits.words == nullptr || bits.count == 0) return {nullptr, 0, 0};
    const auto count = (bits.count + 63) / 64;
    auto* const words = static_cast<std::uint64_t*>(allocate(count * sizeof(std::uint64_t)));
    std::copy_n(bits.words, count, words);
    return {words, bits.count, 0};
}

const spur_placement* Arena::keep(const spur_placement& placement) {
    const auto count = placement.share_count;
    auto* const copies = static_cast<spur_node_share*>(allocate(count * sizeof(spur_node_share)));
    for (std::uint32_t i = 0; i < count; ++i) {
        auto& copy = copies[i] = placement.shares[i];
        copy.cores = keep(copy.cores);
        const auto gres = copy.gres;
        auto* const pieces = static_cast<spur_gres_share*>(allocate(gres.count * sizeof(spur_gres_share)));
        for (std::uint32_t g = 0; g < gres.count; ++g) {
            pieces[g] = *SPUR_AT(spur_gres_share, gres, g);
            pieces[g].devices = keep(pieces[g].devices);
        }
        copy.gres = {pieces, gres.count, static_cast<std::uint32_t>(sizeof(spur_gres_share))};
    }
    auto* const kept = static_cast<spur_placement*>(allocate(sizeof(spur_placement)));
    *kept = spur_placed(copies, count);
    return kept;
}

}  // namespace spur::backfill
