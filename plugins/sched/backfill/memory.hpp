// Memory for placements: the buffer a selector writes into, and copies that last until the end of a pass. Both keep
// what they have between passes.
#pragma once

#include <spur/plugin/select.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace spur::backfill {

class PlacementBuffer {
public:
    PlacementBuffer();
    spur_placement* get() { return &placement_; }
    const spur_placement* get() const { return &placement_; }
    void grow();  // to *_wanted

private:
    void bind();
    std::vector<spur_node_share> shares_;
    std::vector<spur_gres_share> gres_;
    std::vector<std::uint64_t> words_;
    spur_placement placement_{};
};

class Arena {
public:
    const spur_placement* keep(const spur_placement& placement);  // a deep copy of what this planner knows
    void clear();

private:
    void* allocate(std::size_t bytes);
    spur_bits keep(const spur_bits& bits);
    struct Chunk {
        std::unique_ptr<std::uint64_t[]> words;
        std::size_t count;
    };
    std::vector<Chunk> chunks_;
    std::size_t chunk_{0}, used_{0};  // where the next allocation goes, in words
};

}  // namespace spur::backfill
