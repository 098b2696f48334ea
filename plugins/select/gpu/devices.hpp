// Which devices of a node go together: sets chosen by how well their members are linked.
//
// Pairs are worth their link weight, and a little for hanging off the same NUMA node. The best set of k devices is
// worth most inside; among equals, the one that leaves the most worth in what stays free; then the lowest numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace spur::select_gpu {

// How the devices of one generic resource of a node hang together. Nodes that are wired alike share one.
class Wiring {
public:
    Wiring(std::uint32_t id, std::uint32_t devices, std::vector<std::uint64_t> pairs);

    std::uint32_t id() const { return id_; }
    std::uint32_t devices() const { return devices_; }
    bool is_same(std::uint32_t devices, const std::vector<std::uint64_t>& pairs) const {
        return devices == devices_ && pairs == pairs_;
    }
    bool is_plain() const { return plain_; }  // no pair is worth anything: any set is as good as another
    std::uint64_t pair(std::uint32_t a, std::uint32_t b) const { return pairs_[a * devices_ + b]; }
    std::uint64_t worth(std::uint64_t set) const;                      // of all pairs inside
    std::uint64_t worth(std::uint64_t set, std::uint32_t with) const;  // of the pairs of one device with a set

private:
    std::uint32_t id_, devices_;
    bool plain_;
    std::vector<std::uint64_t> pairs_;
};

struct DeviceSet {
    std::uint64_t set{};
    std::uint64_t worth{};  // inside the set
    std::uint64_t cost{};   // pairs between the set and what stays free: torn apart by this choice
};

// Finds sets, and remembers what it found: the answer depends on its arguments alone.
class DeviceChooser {
public:
    static constexpr std::uint64_t link_unit = 4096;  // one unit of link weight; a shared NUMA node is worth 1

    DeviceChooser();
    // The wiring with these pairs, made if need be. [may allocate]
    const Wiring& intern(std::uint32_t devices, const std::vector<std::uint64_t>& pairs);
    // `count` of `free`; precondition: there are that many.
    DeviceSet best(const Wiring& wiring, std::uint64_t free, std::uint32_t count);
    static DeviceSet first(const Wiring& wiring, std::uint64_t free, std::uint32_t count);

private:
    struct Remembered {
        std::uint64_t free{};
        std::uint32_t wiring{UINT32_MAX}, count{};
        DeviceSet answer;
    };
    std::vector<std::unique_ptr<Wiring>> wirings_;
    std::vector<Remembered> remembered_;
};

}  // namespace spur::select_gpu
