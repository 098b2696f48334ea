// sinfo's options.
#include "cli/sinfo/options.hpp"

#include "core/text/lexical.hpp"
#include "daemons/common/records/node.hpp"

#include <algorithm>

namespace spur::cli::sinfo {
namespace {

using Set = Result<void>;

// What a word of --states means of a node.
struct StateWord {
    std::string_view word;
    bool (*holds)(const NodeStateBits&);
};
template <std::uint32_t flags>
bool flag(const NodeStateBits& node) {
    return node.has(flags);
}
template <NodeState state>
bool is(const NodeStateBits& node) {
    return node.state == state;
}
bool is_allocated(const NodeStateBits& node) { return node.is_busy(); }
bool is_drained(const NodeStateBits& node) { return node.has(node_flag::drain) && !node.is_busy(); }
bool is_draining(const NodeStateBits& node) { return node.has(node_flag::drain) && node.is_busy(); }
bool is_failing(const NodeStateBits& node) { return node.has(node_flag::fail) && node.is_busy(); }
bool never(const NodeStateBits&) { return false; }

constexpr StateWord words[] = {
    {"alloc", is_allocated},
    {"allocated", is_allocated},
    {"cloud", flag<node_flag::cloud>},
    {"comp", flag<node_flag::completing>},
    {"completing", flag<node_flag::completing>},
    {"down", is<NodeState::down>},
    {"drain", flag<node_flag::drain>},
    {"drained", is_drained},
    {"draining", is_draining},
    {"drng", is_draining},
    {"error", is<NodeState::error>},
    {"fail", flag<node_flag::fail>},
    {"failing", is_failing},
    {"failg", is_failing},
    {"future", is<NodeState::future>},
    {"futr", is<NodeState::future>},
    {"idle", is<NodeState::idle>},
    {"inval", flag<node_flag::invalid_reg>},
    {"maint", flag<node_flag::maint>},
    {"mix", is<NodeState::mixed>},
    {"mixed", is<NodeState::mixed>},
    {"no_respond", flag<node_flag::no_respond>},
    {"npc", never},
    {"perfctrs", never},
    {"planned", flag<node_flag::planned>},
    {"plnd", flag<node_flag::planned>},
    {"pow_dn", flag<node_flag::powering_down>},
    {"pow_up", flag<node_flag::powering_up>},
    {"power_down", flag<node_flag::power_down>},
    {"power_up", flag<node_flag::power_up>},
    {"powered_down", flag<node_flag::powered_down>},
    {"powering_down", flag<node_flag::powering_down>},
    {"powering_up", flag<node_flag::powering_up>},
    {"boot", flag<node_flag::reboot_requested | node_flag::reboot_issued>},
    {"reboot", flag<node_flag::reboot_requested | node_flag::reboot_issued>},
    {"reboot_issued", flag<node_flag::reboot_issued>},
    {"reboot_requested", flag<node_flag::reboot_requested>},
    {"resv", flag<node_flag::reserved>},
    {"reserved", flag<node_flag::reserved>},
    {"unk", is<NodeState::unknown>},
    {"unknown", is<NodeState::unknown>},
};

const StateWord* find_word(std::string_view text) {
    const auto* found = std::find_if(std::begin(words), std::end(words),
                                     [&](const StateWord& word) { return equal_nocase(word.word, text); });
    return found == std::end(words) ? nullptr : found;
}

Set set_nodes(Options& options, const char* value) {
    auto set = HostSet::parse(value);
    if (!set) return fail(ErrorCode::invalid, "bad node list \"{}\": {}", value, set.error().text);
    options.nodes = std::move(*set);
    return {};
}

Set set_partitions(Options& options, const char* value) {
    options.partitions.clear();
    for (const auto name : split(value, ','))
        if (!name.empty()) options.partitions.emplace_back(name);
    options.all_partitions = true;
    return {};
}

Set set_states(Options& options, const char* value) {
    SPUR_TRY(options.states, StateFilter::parse(value));
    return {};
}

Set set_iterate(Options& options, const char* value) {
    const auto seconds = find_unsigned(value);
    if (!seconds || *seconds == 0 || *seconds > 1'000'000)
        return fail(ErrorCode::invalid, "Error: invalid entry for --iterate={}", value);
    options.iterate_s = static_cast<unsigned>(*seconds);
    return {};
}

Set nothing(Options&, const char*) { return {}; }

template <auto Member, bool Value = true>
Set set_flag(Options& options, const char*) {
    options.*Member = Value;
    return {};
}
template <auto Member>
Set set_text(Options& options, const char* value) {
    options.*Member = value;
    return {};
}

using Row = OptionRow<Options>;
constexpr auto none = Argument::none;
constexpr auto required = Argument::required;

constexpr Row table[] = {
    {"all", 'a', none, nullptr, "hidden partitions too", set_flag<&Options::all_partitions>, "SINFO_ALL"},
    {"cluster", 0, required, "names", nullptr, set_text<&Options::clusters>},
    {"clusters", 'M', required, "names", nullptr, set_text<&Options::clusters>, "SLURM_CLUSTERS"},
    {"dead", 'd', none, nullptr, "only nodes that do not respond", set_flag<&Options::dead>},
    {"exact", 'e', none, nullptr, "nodes on one line only if they are exactly alike", set_flag<&Options::exact>},
    {"federation", 0, none, nullptr, nullptr, nothing, "SINFO_FEDERATION"},
    {"format", 'o', required, "format", "columns by letters: \"%9P %.5a %.10l %N\"", set_text<&Options::format>,
     "SINFO_FORMAT"},
    {"Format", 'O', required, "format", "columns by names: \"Partition,Nodes,StateLong\"",
     set_text<&Options::long_format>},
    {"hide", 0, none, nullptr, "no hidden partitions (the default)", set_flag<&Options::all_partitions, false>},
    {"iterate", 'i', required, "seconds", "list again and again", set_iterate},
    {"json", 0, none, nullptr, "all nodes as JSON", set_flag<&Options::json>},
    {"list-reasons", 'R', none, nullptr, "why nodes are down, drained or failing", set_flag<&Options::reasons>},
    {"local", 0, none, nullptr, nullptr, nothing, "SINFO_LOCAL"},
    {"long", 'l', none, nullptr, "more columns", set_flag<&Options::long_listing>},
    {"Node", 'N', none, nullptr, "one line for each node and partition", set_flag<&Options::by_node>},
    {"noconvert", 0, none, nullptr, "2048M stays 2048M", set_flag<&Options::convert_units, false>},
    {"nodes", 'n', required, "hostlist", "only these nodes", set_nodes},
    {"noheader", 'h', none, nullptr, "no header", set_flag<&Options::header, false>},
    {"partition", 'p', required, "partition(s)", "only these partitions", set_partitions, "SINFO_PARTITION"},
    {"reservation", 'T', none, nullptr, "reservations instead of nodes", set_flag<&Options::reservations>},
    {"responding", 'r', none, nullptr, "only nodes that respond", set_flag<&Options::responding>},
    {"sort", 'S', required, "fields", "order by letters: \"#P,-t\"", set_text<&Options::sort>, "SINFO_SORT"},
    {"states", 't', required, "state(s)", "only nodes in these states", set_states},
    {"summarize", 's', none, nullptr, "one line for each partition", set_flag<&Options::summarize>},
    {"verbose", 'v', none, nullptr, nullptr, nothing},
};

}  // namespace

Result<StateFilter> StateFilter::parse(std::string_view text) {
    StateFilter filter;
    for (const auto alternative : split(text, ',')) {
        std::vector<std::string> all;
        for (const auto word : split(alternative, '&')) {
            if (word.empty()) continue;
            if (find_word(word) == nullptr) {
                std::string valid;
                for (const auto& known : words) valid += (valid.empty() ? "" : ",") + std::string(known.word);
                return fail(ErrorCode::invalid, "Bad state string: \"{}\"\nvalid states: {}", word, valid);
            }
            all.push_back(lower(word));
        }
        if (!all.empty()) filter.alternatives_.push_back(std::move(all));
    }
    return filter;
}

bool StateFilter::accepts(const v1::Node& node) const {
    const auto bits = records::node_state(node);
    return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const auto& all) {
        return std::all_of(all.begin(), all.end(), [&](const auto& word) { return find_word(word)->holds(bits); });
    });
}

std::span<const OptionRow<Options>> option_table() { return table; }

}  // namespace spur::cli::sinfo
