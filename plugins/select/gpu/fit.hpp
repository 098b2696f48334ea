// One node and one job: how much of the job fits there, and which cores and devices it would get.
#pragma once

#include <array>
#include <cstdint>

#include "need.hpp"
#include "slots.hpp"

namespace spur::select_gpu {

// How much of a job one node can hold.
struct Room {
    std::uint32_t tasks{};   // 0: the node is of no use
    std::uint64_t pooled{};  // units of the resource asked for the whole job
};

// What a node gives a job with so many tasks there.
struct Amounts {
    std::uint32_t tasks{}, cores{}, cpus{};
    std::uint64_t memory_mib{};
    std::array<std::uint64_t, most_kinds> gres{};
};

// Devices chosen on one node, by kind of the need.
struct Devices {
    std::array<std::uint64_t, most_kinds> sets{};
    std::uint64_t short_of_best{};  // how much worse they are linked than the same number on an idle node
    std::uint64_t torn{};           // links between them and what stays free
};

class Fitter {
public:
    Fitter(const Picture& picture, const Slots& slots, DeviceChooser& chooser)
        : picture_{picture}, slots_{slots}, chooser_{chooser} {}
    // By number alone, lowest first, wherever they are: what other choices are compared with.
    void use_first_fit(bool on) { first_fit_ = on; }

    // May the job be there at all, whatever it needs?
    bool is_welcome(const Need& need, std::uint32_t slot, std::uint32_t node) const;
    // Would so much of the job fit? Cheaper than asking for all the room there is.
    bool holds(const Need& need, std::uint32_t slot, std::uint32_t node, std::uint32_t tasks,
               std::uint64_t pooled) const;
    Room room(const Need& need, std::uint32_t slot, std::uint32_t node) const;
    // With `pooled` units of the pooled kind.
    Amounts amounts(const Need& need, std::uint32_t node, std::uint32_t tasks, std::uint64_t pooled) const;
    Devices devices(const Need& need, std::uint32_t slot, std::uint32_t node, const Amounts& amounts) const;
    // Into `words`, which has room for the node's cores.
    void cores(const Need& need, std::uint32_t slot, std::uint32_t node, const Amounts& amounts, const Devices& devices,
               std::uint64_t* words) const;

private:
    struct Supply;
    Supply supply(const Need& need, std::uint32_t slot, std::uint32_t node) const;
    bool works(const Need& need, const Node& node, const Supply& supply, const Amounts& amounts) const;
    std::uint64_t available(const Need& need, const StateView& state, const Node& node, std::uint32_t core_word,
                            bool unshared) const;
    std::uint64_t pick_devices(const Node& node, const Gres& gres, const GresNeed& kind, std::uint32_t sockets,
                               std::uint64_t free, std::uint32_t count, Devices& out) const;

    const Picture& picture_;
    const Slots& slots_;
    DeviceChooser& chooser_;
    bool first_fit_{};
};

}  // namespace spur::select_gpu
