// Partitions: how their states and ways to preempt are written.
#include "core/model/partition.hpp"

#include "core/text/lexical.hpp"

namespace spur {

namespace {

constexpr std::array<std::string_view, 4> states{"UP", "DOWN", "DRAIN", "INACTIVE"};

template <class Enum, std::size_t Size>
std::string_view name_of(const std::array<std::string_view, Size>& names, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < Size ? names[index] : "?";
}
template <class Enum, std::size_t Size>
std::optional<Enum> find_named(const std::array<std::string_view, Size>& names, std::string_view text) {
    for (std::size_t i = 0; i < Size; ++i)
        if (equal_nocase(text, names[i])) return static_cast<Enum>(i);
    return std::nullopt;
}

}  // namespace

std::string_view to_string(PartitionState state) { return name_of(states, state); }
std::optional<PartitionState> find_partition_state(std::string_view text) {
    return find_named<PartitionState>(states, text);
}
std::string_view to_string(PreemptMode mode) { return name_of(preempt_modes, mode); }
std::optional<PreemptMode> find_preempt_mode(std::string_view text) {
    return find_named<PreemptMode>(preempt_modes, text);
}

}  // namespace spur
