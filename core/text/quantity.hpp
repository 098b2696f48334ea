// Sizes and counts with suffixes: --mem=4G, -n 16, -N 2-4, 1k, and how squeue prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur {

// "4G", "500", "1024KB": K, M, G, T with or without B, any case; no suffix means MiB. Rounded up to whole MiB.
Result<std::uint64_t> parse_mib(std::string_view text);

std::string print_mib(std::uint64_t mib);  // "500M", "1G", "2.50G", "2000M": the largest unit that is exact to a half
std::string print_mib_unconverted(std::uint64_t mib);  // --noconvert: "2560M"

// "16", "1k" (1024), "2m" (1024 * 1024), above 0. The error is sbatch's, about `option` ("--ntasks").
Result<std::uint32_t> parse_count(std::string_view text, std::string_view option);

// The same without a floor or a sentence: "0", "8", "1K", "2T". Empty where it is no number or too large.
std::optional<std::uint64_t> find_scaled(std::string_view text);

struct NodeCount {
    std::uint32_t min{};
    std::uint32_t max{};  // equal to min unless a range was given
    bool operator==(const NodeCount&) const = default;

    static Result<NodeCount> parse(std::string_view text);  // "2", "2-4", "1k", "-4" (1 to 4)
    std::string str() const;                                // "2", "2-4"
};

}  // namespace spur
