// Trying all sets where there are few, growing one where there are many.
#include "devices.hpp"

#include <algorithm>

#include "bits.hpp"

namespace spur::select_gpu {

namespace {

constexpr std::size_t remembered_sets = 16384;
constexpr std::uint64_t most_tried = 20'000;  // sets looked at one by one; beyond, the set is grown greedily

std::uint64_t choices(std::uint32_t from, std::uint32_t count) {
    std::uint64_t result = 1;
    for (std::uint32_t i = 0; i < std::min(count, from - count) && result <= most_tried; ++i)
        result = result * (from - i) / (i + 1);
    return result;
}

// A set and what speaks for it.
struct Rated {
    std::uint64_t set{}, inside{}, left{};
    bool is_better(const Rated& other) const {
        if (inside != other.inside) return inside > other.inside;
        if (left != other.left) return left > other.left;
        return set < other.set;
    }
};

Rated try_all(const Wiring& wiring, std::uint64_t free, std::uint32_t count) {
    std::uint32_t members[64];
    std::uint32_t size = 0;
    for_each_bit(free, 0, [&](std::uint32_t device) { members[size++] = device; });
    Rated best;
    bool any = false;
    // Subsets of positions with `count` bits, in increasing order (Gosper's step).
    const std::uint64_t end = size == 64 ? 0 : std::uint64_t{1} << size;
    for (std::uint64_t places = (std::uint64_t{1} << count) - 1; places < end;) {
        Rated now;
        for_each_bit(places, 0, [&](std::uint32_t place) { now.set |= bit(members[place]); });
        now.inside = wiring.worth(now.set);
        if (!any || now.inside >= best.inside) {
            now.left = wiring.worth(free & ~now.set);
            if (!any || now.is_better(best)) best = now;
            any = true;
        }
        const auto low = places & (~places + 1);
        const auto carry = places + low;
        places = (((carry ^ places) >> 2) / low) | carry;
    }
    return best;
}

// From each device in turn, always adding the one that is linked best to what is there.
Rated grow(const Wiring& wiring, std::uint64_t free, std::uint32_t count) {
    Rated best;
    bool any = false;
    for_each_bit(free, 0, [&](std::uint32_t seed) {
        Rated now{.set = bit(seed), .inside = 0, .left = 0};
        while (select_gpu::count(now.set) < count) {
            std::uint32_t next = 64;
            std::uint64_t gain = 0;
            for_each_bit(free & ~now.set, 0, [&](std::uint32_t device) {
                const auto worth = wiring.worth(now.set, device);
                if (next == 64 || worth > gain) next = device, gain = worth;
            });
            now.set |= bit(next);
            now.inside += gain;
        }
        now.left = wiring.worth(free & ~now.set);
        if (!any || now.is_better(best)) best = now;
        any = true;
    });
    return best;
}

}  // namespace

Wiring::Wiring(std::uint32_t id, std::uint32_t devices, std::vector<std::uint64_t> pairs)
    : id_{id},
      devices_{devices},
      plain_{std::ranges::all_of(pairs, [](auto worth) { return worth == 0; })},
      pairs_{std::move(pairs)} {}

std::uint64_t Wiring::worth(std::uint64_t set, std::uint32_t with) const {
    std::uint64_t sum = 0;
    for_each_bit(set, 0, [&](std::uint32_t other) { sum += pairs_[with * devices_ + other]; });
    return sum;
}

std::uint64_t Wiring::worth(std::uint64_t set) const {
    if (plain_) return 0;
    std::uint64_t sum = 0;
    for (; set != 0; set &= set - 1) sum += worth(set & (set - 1), lowest(set));
    return sum;
}

DeviceChooser::DeviceChooser() : remembered_(remembered_sets) {}

const Wiring& DeviceChooser::intern(std::uint32_t devices, const std::vector<std::uint64_t>& pairs) {
    for (const auto& known : wirings_)
        if (known->is_same(devices, pairs)) return *known;
    wirings_.push_back(std::make_unique<Wiring>(static_cast<std::uint32_t>(wirings_.size()), devices, pairs));
    return *wirings_.back();
}

DeviceSet DeviceChooser::first(const Wiring& wiring, std::uint64_t free, std::uint32_t count) {
    std::uint64_t set = 0;
    auto rest = free;
    for (std::uint32_t i = 0; i < count; ++i, rest &= rest - 1) set |= rest & (~rest + 1);
    const auto inside = wiring.worth(set);
    return {set, inside, wiring.worth(free) - inside - wiring.worth(free & ~set)};
}

DeviceSet DeviceChooser::best(const Wiring& wiring, std::uint64_t free, std::uint32_t count) {
    const auto size = select_gpu::count(free);
    if (wiring.is_plain() || count == 0 || count >= size) return first(wiring, free, count);
    auto hash = (free * 0x9e3779b97f4a7c15ULL) ^ (std::uint64_t{wiring.id()} << 32 | count) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 29;
    auto& kept = remembered_[hash % remembered_sets];
    if (kept.wiring == wiring.id() && kept.free == free && kept.count == count) return kept.answer;
    const auto found = choices(size, count) <= most_tried ? try_all(wiring, free, count) : grow(wiring, free, count);
    kept = {free, wiring.id(), count, {found.set, found.inside, wiring.worth(free) - found.inside - found.left}};
    return kept.answer;
}

}  // namespace spur::select_gpu
