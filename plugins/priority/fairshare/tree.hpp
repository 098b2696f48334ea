// Fair-share over the account tree: what each line of it deserves, what it has used, and what follows for its jobs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spur::fairshare {

inline constexpr std::uint32_t no_parent = UINT32_MAX;

// One association, parents before children; the first is the root.
struct Line {
    std::uint32_t parent{no_parent};
    std::uint32_t shares{1};
    bool shares_parent{false};  // Fairshare=parent: its parent's stand for its own
    bool is_user{false};
    double usage{};  // decayed, its children's included
};

// What `sshare` prints of it. `level` is infinite where nothing has been used.
struct Share {
    double normalised_shares{}, normalised_usage{}, effective_usage{}, level{}, factor{};
};

// Fair Tree: at each level the siblings are ranked by shares over usage, and a better account's users come before all
// users of a worse one, whoever they are. Users are spread evenly over (0, 1] in that order; equals share a place.
std::vector<Share> fair_tree(std::span<const Line> lines);

// The classic formula, 2 ^ (-usage / shares / dampening), with usage mixed with that of the accounts above.
std::vector<Share> classic(std::span<const Line> lines, double dampening);

}  // namespace spur::fairshare
