// Nodes: what of them jobs may have, and how their states are written (observed from libslurm 22.05, flag by flag).
#include "core/model/node.hpp"

#include <array>
#include <utility>

#include "core/text/lexical.hpp"

namespace spur {

namespace {

struct Word {
    std::string_view full, compact;
};

Word base_word(NodeState state) {
    switch (state) {
        case NodeState::unknown:
            return {"UNKNOWN", "UNK"};
        case NodeState::down:
            return {"DOWN", "DOWN"};
        case NodeState::idle:
            return {"IDLE", "IDLE"};
        case NodeState::allocated:
            return {"ALLOCATED", "ALLOC"};
        case NodeState::mixed:
            return {"MIXED", "MIX"};
        case NodeState::future:
            return {"FUTURE", "FUTR"};
        case NodeState::error:
            break;
    }
    return {"?", "?"};
}

// The one character that says the most about a node, after its state.
std::string_view suffix(std::uint32_t flags) {
    constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> marks{{{node_flag::maint, "$"},
                                                                               {node_flag::reboot_issued, "^"},
                                                                               {node_flag::reboot_requested, "@"},
                                                                               {node_flag::powering_up, "#"},
                                                                               {node_flag::powering_down, "%"},
                                                                               {node_flag::powered_down, "~"},
                                                                               {node_flag::power_down, "!"},
                                                                               {node_flag::no_respond, "*"}}};
    for (const auto& [flag, mark] : marks)
        if (flags & flag) return mark;
    return {};
}

struct Shown {
    Word word;
    std::string_view mark;
};

Shown show_unhurt(NodeState state, std::uint32_t flags) {
    const auto mark = suffix(flags);
    const bool busy = state == NodeState::allocated;
    if (flags & node_flag::completing) {
        if (busy) return {base_word(state), mark.empty() ? "+" : mark};
        if (state != NodeState::down && state != NodeState::unknown) return {{"COMPLETING", "COMP"}, mark};
    }
    if (state == NodeState::idle && mark.empty()) {
        if (flags & node_flag::reserved) return {{"RESERVED", "RESV"}, {}};
        if (flags & node_flag::planned) return {{"PLANNED", "PLND"}, {}};
    }
    if (state == NodeState::mixed && mark.empty() && (flags & node_flag::planned)) return {base_word(state), "-"};
    return {base_word(state), mark};
}

Shown show(NodeState state, std::uint32_t flags) {
    if (flags & node_flag::invalid_reg) return {{"INVAL", "INVAL"}, {}};
    const bool busy = state == NodeState::allocated || state == NodeState::mixed;
    const std::string_view silent = flags & node_flag::no_respond ? "*" : "";
    if ((flags & node_flag::maint) && !(flags & node_flag::drain) && !busy && state != NodeState::down)
        return {{"MAINT", "MAINT"}, silent};
    if ((flags & (node_flag::reboot_requested | node_flag::reboot_issued)) && !busy)
        return {{"REBOOT", "BOOT"}, flags & node_flag::reboot_issued ? "^" : silent};
    if (flags & node_flag::drain) {
        if (busy || (flags & node_flag::completing)) return {{"DRAINING", "DRNG"}, suffix(flags)};
        return {{"DRAINED", "DRAIN"}, suffix(flags)};
    }
    if (flags & node_flag::fail) {
        if (state == NodeState::allocated || (flags & node_flag::completing)) return {{"FAILING", "FAILG"}, silent};
        return {{"FAIL", "FAIL"}, silent};
    }
    return show_unhurt(state, flags);
}

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 16> full_names{
    {{node_flag::cloud, "CLOUD"},
     {node_flag::completing, "COMPLETING"},
     {node_flag::drain, "DRAIN"},
     {node_flag::invalid_reg, "INVALID_REG"},
     {node_flag::fail, "FAIL"},
     {node_flag::maint, "MAINTENANCE"},
     {node_flag::power_down, "POWER_DOWN"},
     {node_flag::power_up, "POWER_UP"},
     {node_flag::powered_down, "POWERED_DOWN"},
     {node_flag::reboot_requested, "REBOOT_REQUESTED"},
     {node_flag::reboot_issued, "REBOOT_ISSUED"},
     {node_flag::reserved, "RESERVED"},
     {node_flag::no_respond, "NOT_RESPONDING"},
     {node_flag::planned, "PLANNED"},
     {node_flag::powering_up, "POWERING_UP"},
     {node_flag::powering_down, "POWERING_DOWN"}}};

}  // namespace

std::string display_unenforced(std::uint32_t enforced) {
    constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> limits{
        {{node_limit::memory, "memory"},
         {node_limit::cores, "cores"},
         {node_limit::devices, "devices"},
         {node_limit::processes, "processes"},
         {node_limit::containment, "containment"}}};
    std::string text;
    if (!(enforced & node_limit::known)) return text;
    for (const auto& [bit, name] : limits)
        if (!(enforced & bit)) text.append(text.empty() ? "" : ",").append(name);
    return text;
}

std::string_view to_string(NodeState state) { return base_word(state).full; }

std::string display_state(NodeState state, std::uint32_t flags) {
    const auto shown = show(state, flags);
    return std::string{shown.word.full}.append(shown.mark);
}

std::string display_compact_state(NodeState state, std::uint32_t flags) {
    const auto shown = show(state, flags);
    return std::string{shown.word.compact}.append(shown.mark);
}

std::string display_full_state(NodeState state, std::uint32_t flags) {
    std::string text{base_word(state).full};
    for (const auto& [flag, name] : full_names)
        if (flags & flag) text.append("+").append(name);
    return text;
}

NodeStateBits parse_full_state(std::string_view text) {
    NodeStateBits bits;
    const auto words = split(text, '+');
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(NodeState::future); ++i)
        if (to_string(static_cast<NodeState>(i)) == words.front()) bits.state = static_cast<NodeState>(i);
    for (const auto& [flag, name] : full_names)
        if (std::ranges::find(words, name) != words.end()) bits.flags |= flag;
    return bits;
}

Bitset Node::usable_cores() const {
    const auto cores = topology.cores();
    return Bitset::range(0, cores - std::min(cores, core_spec));  // the system keeps the last ones
}

std::uint32_t Node::cpus_per_core() const {
    const auto cores = topology.cores();
    return cores == 0 || cpus < cores ? 1 : cpus / cores;
}

std::uint32_t Node::usable_cpus() const {
    const auto kept = core_spec * cpus_per_core();
    return cpus - std::min(cpus, kept);
}

bool Node::is_available() const {
    constexpr auto closed = node_flag::drain | node_flag::fail | node_flag::no_respond | node_flag::powering_down |
                            node_flag::powered_down | node_flag::power_down | node_flag::invalid_reg |
                            node_flag::reboot_issued;
    return configured && state == NodeState::idle && !(flags & closed);
}

NodeState Node::shown_state() const {
    if (state != NodeState::idle || job_count == completing_jobs) return state;
    const bool full = exclusive || use.busy_cores().count() >= usable_cores().count();
    return full ? NodeState::allocated : NodeState::mixed;
}

std::uint32_t Node::shown_flags() const { return completing_jobs ? flags | node_flag::completing : flags; }

}  // namespace spur
