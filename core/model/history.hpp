// Which history of the cluster a state belongs to and how far it has come, so that an agent which knew the state before
// can tell that it was replaced: by one that was founded anew, or by an older copy of itself.
//
// Versions alone do not tell: an older copy grows past any number. So whoever begins to lead marks that with a number
// drawn at random. A copy that was put back has a leader of its own, and its marks differ from then on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/text.hpp"

namespace spur {

struct Era {                  // from one leader's beginning to the next
    std::uint64_t number{};   // 1, 2, 3...
    std::uint64_t mark{};     // drawn at random
    std::uint64_t version{};  // of the state when it began
    bool operator==(const Era&) const = default;
};

struct History {
    Text id;                      // drawn at random when the state was founded; empty: it has not been led yet
    std::vector<Era> eras;        // the latest of them
    std::vector<Text> step_keys;  // public keys that credentials of steps are checked with, the newest last
    bool operator==(const History&) const = default;
};

// The last that an agent knows of the state.
struct SeenHistory {
    Text id;
    std::uint64_t era{}, mark{}, version{};
    std::uint32_t job{};  // the highest id of a job it has been sent
    bool operator==(const SeenHistory&) const = default;
};

enum class Standing : std::uint8_t {
    same,    // what the agent has seen is part of this history, or it has seen nothing
    behind,  // this state does not reach as far as the agent has seen: an older copy was put back
    other,   // the agent comes from another history
};
Standing compare(const History& history, std::uint64_t version, const SeenHistory& seen);

}  // namespace spur
