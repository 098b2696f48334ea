// Looks at libraft's open segments before libraft does.
//
// A segment that was being written when the machine stopped may end in half a write. libraft cuts such a tail off, and
// rightly: it was never acknowledged. But it also cuts where a byte in the middle went bad, with acknowledged entries
// behind it. So we look first: a damaged record that is followed by one which says it was committed means damage, and
// the controller must not start.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fault.hpp"

namespace spur::raftlog {

struct TornTail {
    std::string file;
    std::uint64_t offset = 0;
};

// Tails that libraft will cut off (for the log), or a fault naming the damaged file and the remedy.
Outcome<std::vector<TornTail>> check_segments(const std::string& directory);

// Does the directory hold any log or snapshot?
Outcome<bool> has_log(const std::string& directory);

// A crash while a group was being founded may leave the first term behind and no log: nothing was ever promised, and it
// may begin again. Leaves alone what a member has written that took part in elections.
void discard_unfinished_founding(const std::string& directory);

// "snapshot-1-1024-1234", the newest; empty if there is none.
std::string newest_snapshot(const std::string& directory);

}  // namespace spur::raftlog
