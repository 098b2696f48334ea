// "did you mean ...?": the nearest of the words that would have been right.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur {

// The candidate that is at most `most_mistakes` typing mistakes away from `word`, 0: a third of its length; nothing
// when none is.
std::optional<std::string_view> find_nearest(std::string_view word, std::span<const std::string_view> candidates,
                                             std::size_t most_mistakes = 0);

// "; did you mean \"window\"?", or nothing: the end of a sentence about a word nobody knows.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace spur
