// The nearest word by the number of insertions, deletions, changes and swaps of neighbours.
#include "core/text/suggest.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr std::size_t longest_word = 64;  // longer ones are no typing mistakes

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[b.size()];
}

}  // namespace

std::optional<std::string_view> find_nearest(std::string_view word, std::span<const std::string_view> candidates,
                                             std::size_t most_mistakes) {
    if (word.empty() || word.size() > longest_word) return std::nullopt;
    const std::string wanted = lower(word);
    std::size_t best = (most_mistakes != 0 ? most_mistakes : std::max<std::size_t>(1, wanted.size() / 3)) + 1;
    std::optional<std::string_view> nearest;
    for (const auto candidate : candidates) {
        if (candidate.size() > longest_word) continue;
        if (const auto away = distance(wanted, lower(candidate)); away < best) {
            best = away;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
    const auto nearest = find_nearest(word, candidates);
    return nearest ? "; did you mean \"" + std::string{*nearest} + "\"?" : std::string{};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    return suggestion(word, std::span<const std::string_view>{views});
}

}  // namespace spur
