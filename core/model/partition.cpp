// Partitions: how their states are written.
#include "core/model/partition.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace spur {

namespace {
constexpr std::array<std::string_view, 4> names{"UP", "DOWN", "DRAIN", "INACTIVE"};
}

std::string_view to_string(PartitionState state) {
    const auto index = static_cast<std::size_t>(state);
    return index < names.size() ? names[index] : "?";
}

std::optional<PartitionState> find_partition_state(std::string_view text) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (std::ranges::equal(text, names[i], [](unsigned char a, char b) { return std::toupper(a) == b; }))
            return static_cast<PartitionState>(i);
    return std::nullopt;
}

}  // namespace spur
