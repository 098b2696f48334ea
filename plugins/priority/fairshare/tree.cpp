// The fair tree and the classic formula.
#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spur::fairshare {

namespace {

using Children = std::vector<std::vector<std::uint32_t>>;

double usage_of(const Line& line) { return std::isfinite(line.usage) ? std::max(line.usage, 0.0) : 0.0; }

Children children_of(std::span<const Line> lines) {
    Children children(lines.size());
    for (std::uint32_t i = 1; i < lines.size(); ++i)
        if (lines[i].parent < i) children[lines[i].parent].push_back(i);
    return children;
}

// Shares and usage of each line as fractions of its own level, which is how Slurm's sshare shows them. Accounts with
// Fairshare=parent are no level of their own: what is below them stands beside them.
class Levels {
public:
    explicit Levels(std::span<const Line> lines) : lines_{lines}, children_{children_of(lines)}, out_(lines.size()) {
        if (lines.empty()) return;
        out_[0].effective_usage = 1;
        fill(0);
        const double total = usage_of(lines[0]);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out_[i].normalised_usage = total > 0 ? std::min(usage_of(lines[i]) / total, 1.0) : 0;
    }
    std::vector<Share>& shares() { return out_; }

    // Those that compete for `parent`'s share: its children, with what is below the transparent ones among them.
    std::vector<std::uint32_t> rivals(std::uint32_t parent) const {
        std::vector<std::uint32_t> found;
        for (const auto child : children_[parent])
            if (lines_[child].shares_parent && !lines_[child].is_user)
                for (const auto below : rivals(child)) found.push_back(below);
            else
                found.push_back(child);
        return found;
    }

private:
    void fill(std::uint32_t parent) {
        const auto level = rivals(parent);
        double shares = 0;
        for (const auto i : level) shares += lines_[i].shares_parent ? 0 : lines_[i].shares;
        const double used = usage_of(lines_[parent]);
        for (const auto i : level) {
            auto& out = out_[i];
            out.effective_usage = used > 0 ? std::min(usage_of(lines_[i]) / used, 1.0) : 0;
            if (lines_[i].shares_parent)
                out.normalised_shares = out_[parent].normalised_shares;
            else
                out.normalised_shares = shares > 0 ? lines_[i].shares / shares : 0;
            // Who has no shares of their own to use up comes first, as in Slurm.
            if (lines_[i].shares_parent || (out.normalised_shares > 0 && out.effective_usage <= 0))
                out.level = std::numeric_limits<double>::infinity();
            else
                out.level = out.normalised_shares > 0 ? out.normalised_shares / out.effective_usage : 0;
            if (!lines_[i].is_user) fill(i);
        }
        for (const auto child : children_[parent])  // the transparent ones show their parent's
            if (lines_[child].shares_parent && !lines_[child].is_user) {
                out_[child].normalised_shares = out_[parent].normalised_shares;
                out_[child].effective_usage = used > 0 ? std::min(usage_of(lines_[child]) / used, 1.0) : 0;
                out_[child].level = out_[parent].level;
            }
    }

    std::span<const Line> lines_;
    Children children_;
    std::vector<Share> out_;
};

// Hands out places from the best to the worst, level by level.
class Ranking {
public:
    Ranking(std::span<const Line> lines, Levels& levels) : lines_{lines}, levels_{levels} {
        for (const auto& line : lines) users_ += line.is_user ? 1 : 0;
        left_ = users_;
        if (users_ > 0) rank(levels.rivals(0));
    }

private:
    double level(std::uint32_t i) const { return levels_.shares()[i].level; }

    void rank(std::vector<std::uint32_t> level_lines) {
        std::ranges::sort(level_lines, [&](std::uint32_t a, std::uint32_t b) {
            return level(a) != level(b) ? level(a) > level(b) : a < b;
        });
        for (std::size_t first = 0; first < level_lines.size();) {
            auto end = first + 1;
            while (end < level_lines.size() && level(level_lines[end]) == level(level_lines[first])) ++end;
            place({level_lines.begin() + static_cast<std::ptrdiff_t>(first),
                   level_lines.begin() + static_cast<std::ptrdiff_t>(end)});
            first = end;
        }
    }

    // Equals: their users share one place, and their accounts' members are ranked as if they were one account's. Where
    // users and accounts are equal, the best of the accounts' members share that place too.
    void place(const std::vector<std::uint32_t>& equals) {
        std::vector<std::uint32_t> below;
        for (const auto i : equals)
            if (lines_[i].is_user) {
                levels_.shares()[i].factor = static_cast<double>(left_) / static_cast<double>(users_);
                ++placed_;
            } else {
                const auto members = levels_.rivals(i);
                below.insert(below.end(), members.begin(), members.end());
            }
        if (!below.empty()) return rank(std::move(below));
        left_ -= std::exchange(placed_, 0);
    }

    std::span<const Line> lines_;
    Levels& levels_;
    std::size_t users_{}, left_{};
    std::size_t placed_{};  // at the present place
};

}  // namespace

std::vector<Share> fair_tree(std::span<const Line> lines) {
    Levels levels{lines};
    const Ranking ranking{lines, levels};
    return std::move(levels.shares());
}

std::vector<Share> classic(std::span<const Line> lines, double dampening) {
    std::vector<Share> out(lines.size());
    if (lines.empty()) return out;
    std::vector<double> level_shares(lines.size());
    for (std::size_t i = 1; i < lines.size(); ++i)
        if (lines[i].parent < i && !lines[i].shares_parent) level_shares[lines[i].parent] += lines[i].shares;
    const double total = usage_of(lines[0]);
    out[0] = {.normalised_shares = 1, .normalised_usage = total > 0 ? 1.0 : 0, .effective_usage = total > 0 ? 1.0 : 0};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto& share = out[i];
        if (i > 0 && lines[i].parent < i) {
            const auto& parent = out[lines[i].parent];
            share.normalised_usage = total > 0 ? std::min(usage_of(lines[i]) / total, 1.0) : 0;
            if (lines[i].shares_parent) {
                share.normalised_shares = parent.normalised_shares;
                share.effective_usage = parent.effective_usage;
            } else {
                const double all = level_shares[lines[i].parent];
                const double fraction = all > 0 ? lines[i].shares / all : 0;
                share.normalised_shares = parent.normalised_shares * fraction;
                share.effective_usage =
                    lines[i].parent == 0
                        ? share.normalised_usage
                        : share.normalised_usage + (parent.effective_usage - share.normalised_usage) * fraction;
            }
        }
        share.effective_usage = std::clamp(share.effective_usage, 0.0, 1.0);
        share.factor = share.normalised_shares > 0
                           ? std::exp2(-share.effective_usage / share.normalised_shares / std::max(dampening, 1.0))
                           : 0;
        share.level = share.effective_usage > 0 ? share.normalised_shares / share.effective_usage
                                                : std::numeric_limits<double>::infinity();
    }
    return out;
}

}  // namespace spur::fairshare
