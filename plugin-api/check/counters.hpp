// What the code under test does behind its interface: allocations and looks at a clock, counted by standing in for the
// C library's functions in this executable.
#pragma once

#include <cstdint>

namespace spur::check {

struct Counts {
    std::uint64_t allocations = 0;  // by this thread, ever
    std::uint64_t clock_reads = 0;  // by this thread, ever
};
Counts counts();

struct Heap {
    std::int64_t blocks = 0;  // allocated and not yet freed, by all threads
    std::int64_t bytes = 0;
};
Heap heap();

}  // namespace spur::check
