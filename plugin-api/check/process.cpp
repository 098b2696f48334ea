// Counted under /proc/self and by the allocation counters.
#include "process.hpp"

#include "case.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace spur::check {
namespace {

long entries_in(const char* directory) {
    return std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator());
}
long lines_in(const char* file) {
    std::ifstream in(file);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

}  // namespace

Footprint Footprint::now() {
    return {check::heap(), lines_in("/proc/self/maps"), entries_in("/proc/self/fd"), entries_in("/proc/self/task")};
}

Footprint Footprint::later() const {
    auto after = now();
    for (int i = 0; i < 100 && after.threads > threads; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        after = now();
    }
    return after;
}

void Footprint::expect_no_more_after(int rounds) const {
    const auto after = later();  // lazily made caches may add a little once
    const double per_round = 1.0 / rounds;
    const auto slack = rounds / 10;
    require(after.threads <= threads, "leaks threads: {} more after {} rounds", after.threads - threads, rounds);
    require(after.descriptors <= descriptors + 2, "leaks file descriptors: {} more after {} rounds",
            after.descriptors - descriptors, rounds);
    const auto blocks = after.heap.blocks - heap.blocks, bytes = after.heap.bytes - heap.bytes;
    require(blocks < slack && bytes < 65536, "leaks memory: {:.1f} allocations and {:.0f} bytes a round",
            static_cast<double>(blocks) * per_round, static_cast<double>(bytes) * per_round);
    require(after.mappings < mappings + slack, "leaks mappings: {} more after {} rounds", after.mappings - mappings,
            rounds);
}

}  // namespace spur::check
