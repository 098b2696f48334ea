// Random numbers that are the same everywhere for the same seed (splitmix64).
#pragma once

#include <cstdint>
#include <vector>

namespace spur::check {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        auto z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint32_t bound) { return bound == 0 ? 0 : static_cast<std::uint32_t>(next() % bound); }
    std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
    bool one_in(std::uint32_t chances) { return below(chances) == 0; }
    double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[below(static_cast<std::uint32_t>(from.size()))];
    }

private:
    std::uint64_t state_;
};

}  // namespace spur::check
