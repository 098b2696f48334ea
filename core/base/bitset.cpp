// Bitset: words in place for the first 128 members, a vector beyond.
#include "core/base/bitset.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur {

namespace {
constexpr Bitset::Word bit(std::uint32_t member) { return Bitset::Word{1} << (member % Bitset::word_bits); }
}  // namespace

Bitset Bitset::range(std::uint32_t first, std::uint32_t count) {
    Bitset set;
    for (std::uint64_t member = first; member < std::uint64_t{first} + count;) {
        const auto word_index = member / word_bits;
        const auto end = std::min<std::uint64_t>((word_index + 1) * word_bits, std::uint64_t{first} + count);
        const auto length = end - member;
        const Word mask = length == word_bits ? ~Word{0} : ((Word{1} << length) - 1) << (member % word_bits);
        set.at(word_index) |= mask;
        member = end;
    }
    return set;
}

Bitset::Word& Bitset::at(std::size_t index) {
    if (index < low_.size()) return low_[index];
    if (index - low_.size() >= high_.size()) high_.resize(index - low_.size() + 1);
    return high_[index - low_.size()];
}

void Bitset::trim() {
    while (!high_.empty() && high_.back() == 0) high_.pop_back();
}

void Bitset::add(std::uint32_t member) { at(member / word_bits) |= bit(member); }

void Bitset::remove(std::uint32_t member) {
    const auto index = member / word_bits;
    if (index >= word_count()) return;
    at(index) &= ~bit(member);
    trim();
}

void Bitset::clear() {
    low_ = {};
    high_.clear();
}

std::uint32_t Bitset::count() const {
    int count = std::popcount(low_[0]) + std::popcount(low_[1]);
    for (const auto word : high_) count += std::popcount(word);
    return static_cast<std::uint32_t>(count);
}

std::optional<std::uint32_t> Bitset::next(std::uint32_t from) const {
    for (std::size_t index = from / word_bits; index < word_count(); ++index) {
        Word bits = word(index);
        if (index == from / word_bits) bits &= ~Word{0} << (from % word_bits);
        if (bits)
            return static_cast<std::uint32_t>(index * word_bits + static_cast<std::size_t>(std::countr_zero(bits)));
    }
    return std::nullopt;
}

std::optional<std::uint32_t> Bitset::last() const {
    for (std::size_t index = word_count(); index-- > 0;)
        if (const Word bits = word(index))
            return static_cast<std::uint32_t>(index * word_bits + 63 -
                                              static_cast<std::size_t>(std::countl_zero(bits)));
    return std::nullopt;
}

bool Bitset::intersects(const Bitset& other) const {
    const auto words = std::min(word_count(), other.word_count());
    for (std::size_t i = 0; i < words; ++i)
        if (word(i) & other.word(i)) return true;
    return false;
}

bool Bitset::contains(const Bitset& other) const {
    for (std::size_t i = 0; i < other.word_count(); ++i)
        if (other.word(i) & ~word(i)) return false;
    return true;
}

Bitset& Bitset::operator|=(const Bitset& other) {
    for (std::size_t i = other.word_count(); i-- > 0;)
        if (const Word bits = other.word(i)) at(i) |= bits;
    return *this;
}

Bitset& Bitset::operator&=(const Bitset& other) {
    for (std::size_t i = 0; i < word_count(); ++i) at(i) &= other.word(i);
    trim();
    return *this;
}

Bitset& Bitset::operator-=(const Bitset& other) {
    for (std::size_t i = 0; i < word_count(); ++i) at(i) &= ~other.word(i);
    trim();
    return *this;
}

void Bitset::set_word(std::size_t index, Word bits) {
    if (bits == 0 && index >= word_count()) return;
    at(index) = bits;
    trim();
}

std::string Bitset::to_ranges() const {
    std::string text;
    for (auto first = next(0); first;) {
        auto end = *first;
        while (end != UINT32_MAX && has(end + 1)) ++end;
        fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ",", *first);
        if (end != *first) fmt::format_to(std::back_inserter(text), "-{}", end);
        first = end == UINT32_MAX ? std::nullopt : next(end + 1);
    }
    return text;
}

}  // namespace spur
