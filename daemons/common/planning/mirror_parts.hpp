// What the parts of the mirror share: from the core's sets, lists and texts to the ABI's.
#pragma once

#include <spur/plugin/view.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bitset.hpp"
#include "daemons/common/planning/mirror.hpp"

namespace spur::planning {

inline void set_bit(Words& words, std::uint32_t bit) {
    if (words.size() <= bit / 64) words.resize(bit / 64 + 1);
    words[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

inline Words words_of(const Bitset& set, std::uint32_t count) {
    Words words((count + 63) / 64);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = set.word(i);
    return words;
}

inline spur_bits bits(const Words& words, std::uint32_t count) {
    return {words.empty() ? nullptr : words.data(), words.empty() ? 0 : count, 0};
}

template <class T>
spur_span span_of(const std::vector<T>& items) {
    return {items.data(), static_cast<std::uint32_t>(items.size()), static_cast<std::uint32_t>(sizeof(T))};
}

inline spur_str str(std::string_view text) { return {text.data(), static_cast<std::uint32_t>(text.size()), 0}; }

inline std::uint32_t seconds(std::uint32_t minutes) {
    return minutes == unlimited || minutes > unlimited / 60 - 1 ? SPUR_UNLIMITED : minutes * 60;
}

inline std::uint32_t preempt_mode(PreemptMode mode) {
    switch (mode) {
        case PreemptMode::cancel:
            return SPUR_PREEMPT_CANCEL;
        case PreemptMode::requeue:
            return SPUR_PREEMPT_REQUEUE;
        case PreemptMode::suspend:
        case PreemptMode::gang:
            return SPUR_PREEMPT_SUSPEND;
        default:
            return SPUR_PREEMPT_OFF;
    }
}

}  // namespace spur::planning
