// What is free, in numbered slots that are cheap to copy.
//
// A node's state is a run of words; 32 nodes make a page. Slots share pages until one of them writes: a copy moves
// marks, not states. Beside the pages each slot keeps sets of nodes by how much they have free, so that a search looks
// only at nodes that may do.
#pragma once

#include <spur/plugin/select.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bits.hpp"
#include "picture.hpp"

namespace spur::select_gpu {

// How many hold each of 64 cores. The words are the bits of the numbers, lowest first: to count all cores of a set up
// or down costs a few operations on words. `depth` is how many of the words have ever been used: most often the first
// one or two. The numbers wrap at 65,536.
struct Tally {
    static constexpr std::uint32_t planes = 16;

    std::array<std::uint64_t, planes> bits;

    void add(std::uint64_t set, std::uint32_t& depth) {
        for (std::uint32_t k = 0; set != 0 && k < planes; ++k) {
            const auto carry = bits[k] & set;
            bits[k] ^= set;
            set = carry;
            depth = std::max(depth, k + 1);
        }
    }
    void remove(std::uint64_t set, std::uint32_t& depth) {
        for (std::uint32_t k = 0; set != 0 && k < planes; ++k) {
            const auto borrow = ~bits[k] & set;
            bits[k] ^= set;
            set = borrow;
            depth = std::max(depth, k + 1);
        }
    }
    std::uint64_t held(std::uint32_t depth) const {  // by anybody
        std::uint64_t any = 0;
        for (std::uint32_t k = 0; k < depth; ++k) any |= bits[k];
        return any;
    }
    std::uint32_t holders(std::uint32_t core) const {
        std::uint32_t number = 0;
        for (std::uint32_t k = 0; k < planes; ++k) number |= static_cast<std::uint32_t>(bits[k] >> core % 64 & 1) << k;
        return number;
    }
};

// The state of one node, as the first words of its run; cores and resources follow.
struct NodeState {
    std::int64_t memory_used_mib;
    std::int32_t free_cores;
    std::int32_t jobs;
    std::int32_t whole;      // holders of the whole node
    std::int32_t locked;     // holders that share it with their own user's jobs only
    std::int32_t strangers;  // taken since the cycle began: whose they are is not known
    std::uint32_t depth;     // of its tallies

    static constexpr std::uint32_t header_words = 4;
    static std::uint32_t words_before_gres(const Node& node, bool shares_cores) {
        return header_words + node.core_words * (1 + Tally::planes * (shares_cores ? 2 : 1));
    }
    static std::uint32_t words_of_gres(const Gres& gres) { return 2 + (gres.devices + 1) / 2; }
};
static_assert(sizeof(NodeState) == NodeState::header_words * sizeof(std::uint64_t));

// The part of a node's state that belongs to one generic resource.
struct GresState {
    std::int64_t used;
    std::uint64_t free;  // devices with units left
};

// A node's state with its parts in reach.
class StateView {
public:
    StateView(std::uint64_t* words, const Node& node) : words_{words}, node_{node} {}
    NodeState& head() const { return *reinterpret_cast<NodeState*>(words_); }
    std::uint64_t* free_cores() const { return words_ + NodeState::header_words; }
    // Of each word of cores; sharers only where some partition shares cores.
    Tally& owners(std::uint32_t w) const { return tallies()[w]; }
    Tally& sharers(std::uint32_t w) const { return tallies()[node_.core_words + w]; }
    GresState& gres(const Gres& gres) const { return *reinterpret_cast<GresState*>(words_ + gres.offset); }
    std::uint32_t* units(const Gres& gres) const { return reinterpret_cast<std::uint32_t*>(words_ + gres.offset + 2); }

private:
    Tally* tallies() const { return reinterpret_cast<Tally*>(words_ + NodeState::header_words + node_.core_words); }
    std::uint64_t* words_;
    const Node& node_;
};

// Sets of nodes by how much is free.
class FreeIndex {
public:
    static constexpr std::uint32_t core_levels = 9;     // at least 1, 2, 4 ... 256 cores
    static constexpr std::uint32_t gpu_levels = 8;      // at least 1, 2 ... 8 devices
    static constexpr std::uint32_t memory_levels = 12;  // at least 512 MiB, 1 GiB ... 1 TiB
    static constexpr std::uint32_t set_count = core_levels + gpu_levels + memory_levels + 1;

    void reset(std::uint32_t width) {
        width_ = width;
        words_.assign(std::size_t{set_count} * width, 0);
        counts_.assign(set_count, 0);
        levels_.assign(std::size_t{64} * width, {});
    }
    std::uint32_t width() const { return width_; }
    void put(std::uint32_t node, std::int64_t cores, std::uint32_t gpus, std::int64_t memory_mib, bool idle);

    // The set every node with at least this much is in; nullptr: every node qualifies.
    const std::uint64_t* cores_at_least(std::uint32_t cores) const;
    const std::uint64_t* gpus_at_least(std::uint64_t gpus) const;
    const std::uint64_t* memory_at_least(std::uint64_t mib) const;
    const std::uint64_t* idle() const { return words_.data() + std::size_t{set_count - 1} * width_; }
    const std::uint64_t* core_level(std::uint32_t level) const { return words_.data() + std::size_t{level} * width_; }
    const std::uint64_t* gpu_level(std::uint32_t level) const { return core_level(core_levels + level); }
    std::uint32_t size_of(const std::uint64_t* set) const {
        return counts_[static_cast<std::size_t>(set - words_.data()) / width_];
    }

private:
    // How many sets of each kind a node is in: the lowest ones.
    struct Levels {
        std::uint8_t cores, gpus, memory, idle;
    };
    void move(std::uint32_t first, std::uint32_t node, std::uint8_t from, std::uint8_t to);

    std::uint32_t width_{};
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> counts_;
    std::vector<Levels> levels_;  // by node
};

class Slots {
public:
    static constexpr std::uint32_t total = 64;
    static constexpr std::uint32_t empty = total - 1;  // nothing runs there; not for planners
    static constexpr std::uint32_t offered = total - 1;

    // Slot 0 is the view's present; the others are copies of nothing in particular.
    void begin(const Picture& picture);
    void copy(std::uint32_t from, std::uint32_t to);
    void take(std::uint32_t slot, spur_span shares, std::uint32_t job_flags) { book(slot, shares, job_flags, +1); }
    void give(std::uint32_t slot, spur_span shares, std::uint32_t job_flags) { book(slot, shares, job_flags, -1); }

    StateView state(std::uint32_t slot, std::uint32_t node) const;
    const FreeIndex& index(std::uint32_t slot) const { return indexes_[slot]; }
    // Devices of a resource that may be given: parts and wholes exclude each other.
    std::uint64_t free_devices(const StateView& state, const Node& node, std::uint32_t gres) const;

private:
    void book(std::uint32_t slot, spur_span shares, std::uint32_t job_flags, std::int32_t sign);
    void book_cores(const StateView& state, const Node& node, const spur_bits& cores, bool shared, std::int32_t sign);
    void book_gres(const StateView& state, const Node& node, const spur_gres_share& share, std::int32_t sign);
    StateView writable(std::uint32_t slot, std::uint32_t node);
    void reindex(std::uint32_t slot, std::uint32_t node, const StateView& state);
    void fill_empty();
    void add_unlisted(std::uint32_t node);
    std::uint64_t* block(std::uint32_t page, std::uint32_t number) const {
        return memory_.get() + page_base_[page] + std::size_t{number} * picture_->page_words(page);
    }

    const Picture* picture_{};
    std::unique_ptr<std::uint64_t[]> memory_;  // `total` blocks for each page; the kernel gives what is touched
    std::size_t capacity_{};
    std::vector<std::size_t> page_base_;
    std::vector<std::uint8_t> block_of_;  // [page][slot]
    std::vector<std::uint64_t> users_;    // [page][block]: slots that use it
    std::vector<FreeIndex> indexes_;
};

}  // namespace spur::select_gpu
