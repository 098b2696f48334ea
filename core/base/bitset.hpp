// A set of small numbers: cores of a node, devices, array tasks. The first 128 need no allocation.
// Invariant: the last word of `high_` is not zero, so equal sets are equal bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace spur {

class Bitset {
public:
    using Word = std::uint64_t;
    static constexpr std::size_t word_bits = 64;

    Bitset() = default;
    Bitset(std::initializer_list<std::uint32_t> members) {
        for (const auto member : members) add(member);
    }
    // {first, first+1, ..., first+count-1}
    static Bitset range(std::uint32_t first, std::uint32_t count);

    bool has(std::uint32_t member) const { return (word(member / word_bits) >> (member % word_bits)) & 1U; }
    void add(std::uint32_t member);
    void remove(std::uint32_t member);
    void clear();

    bool empty() const { return low_[0] == 0 && low_[1] == 0 && high_.empty(); }
    std::uint32_t count() const;
    std::optional<std::uint32_t> first() const { return next(0); }
    std::optional<std::uint32_t> next(std::uint32_t from) const;  // the smallest member >= from
    std::optional<std::uint32_t> last() const;

    bool intersects(const Bitset& other) const;
    bool contains(const Bitset& other) const;
    Bitset& operator|=(const Bitset& other);
    Bitset& operator&=(const Bitset& other);
    Bitset& operator-=(const Bitset& other);
    friend Bitset operator|(Bitset a, const Bitset& b) { return a |= b; }
    friend Bitset operator&(Bitset a, const Bitset& b) { return a &= b; }
    friend Bitset operator-(Bitset a, const Bitset& b) { return a -= b; }
    bool operator==(const Bitset&) const = default;

    // Calls f(member) in increasing order.
    template <class F>
    void for_each(F&& f) const {
        for (std::size_t w = 0; w < word_count(); ++w)
            for (Word bits = word(w); bits != 0; bits &= bits - 1)
                f(static_cast<std::uint32_t>(w * word_bits + static_cast<std::size_t>(std::countr_zero(bits))));
    }

    // Words for storing and for the plugin ABI; word(i) is zero past the end.
    std::size_t word_count() const { return low_.size() + high_.size(); }
    Word word(std::size_t index) const {
        if (index < low_.size()) return low_[index];
        return index - low_.size() < high_.size() ? high_[index - low_.size()] : 0;
    }
    void set_word(std::size_t index, Word bits);

    // "0-3,8"; empty for the empty set.
    std::string to_ranges() const;

private:
    Word& at(std::size_t index);
    void trim();
    std::array<Word, 2> low_{};
    std::vector<Word> high_;
};

}  // namespace spur
