// What this process holds: memory, mappings, descriptors, threads.
#pragma once

#include "counters.hpp"

namespace spur::check {

struct Footprint {
    Heap heap;
    long mappings = 0;
    long descriptors = 0;
    long threads = 0;

    static Footprint now();
    Footprint later() const;  // now, or when threads that were joined are not listed any more
    // Failed, naming what is lost per round, if noticeably more is held now than in *this.
    void expect_no_more_after(int rounds) const;
};

}  // namespace spur::check
