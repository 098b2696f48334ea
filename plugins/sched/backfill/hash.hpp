// Digests of what jobs ask for. With 64 bits, collisions between different requests can be ignored.
#pragma once

#include <spur/plugin/abi.h>

#include <cstdint>

namespace spur::backfill {

class Hash {
public:
    template <class... T>
    Hash& operator()(T... values) {
        (mix(static_cast<std::uint64_t>(values)), ...);
        return *this;
    }
    // By address: the host shares them. Equal ones at two addresses only count as two.
    Hash& set(const spur_bits& bits) { return (*this)(reinterpret_cast<std::uintptr_t>(bits.words), bits.count); }
    Hash& span(const spur_span& span) { return (*this)(reinterpret_cast<std::uintptr_t>(span.data), span.count); }
    std::uint64_t value() const { return value_ ^ (value_ >> 29); }

private:
    void mix(std::uint64_t next) {
        value_ ^= next + 0x9e3779b97f4a7c15ULL + (value_ << 6) + (value_ >> 2);
        value_ *= 0xff51afd7ed558ccdULL;
        value_ ^= value_ >> 32;
    }
    std::uint64_t value_{17};
};

}  // namespace spur::backfill
