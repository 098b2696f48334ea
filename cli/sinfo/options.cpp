// sinfo's options.
#include "cli/sinfo/options.hpp"

#include "cli/common/node_text.hpp"
#include "core/text/lexical.hpp"

#include <algorithm>

namespace spur::cli::sinfo {
namespace {

using Set = Result<void>;

// What a word of --states means of a node.
struct StateWord {
    std::string_view word;
    bool (*holds)(const NodeStateBits&);
};
#define FLAG(bit) [](const NodeStateBits& node) { return (node.flags & node_flag::bit) != 0; }
#define STATE(name) [](const NodeStateBits& node) { return node.state == NodeState::name; }
bool is_allocated(const NodeStateBits& node) { return node.is_busy(); }
bool is_drained(const NodeStateBits& node) { return (node.flags & node_flag::drain) != 0 && !node.is_busy(); }
bool is_draining(const NodeStateBits& node) { return (node.flags & node_flag::drain) != 0 && node.is_busy(); }
bool is_failing(const NodeStateBits& node) { return (node.flags & node_flag::fail) != 0 && node.is_busy(); }
bool is_rebooting(const NodeStateBits& node) {
    return (node.flags & (node_flag::reboot_requested | node_flag::reboot_issued)) != 0;
}
bool never(const NodeStateBits&) { return false; }

constexpr StateWord words[] = {
    {"alloc", is_allocated},
    {"allocated", is_allocated},
    {"cloud", FLAG(cloud)},
    {"comp", FLAG(completing)},
    {"completing", FLAG(completing)},
    {"down", STATE(down)},
    {"drain", FLAG(drain)},
    {"drained", is_drained},
    {"draining", is_draining},
    {"drng", is_draining},
    {"error", STATE(error)},
    {"fail", FLAG(fail)},
    {"failing", is_failing},
    {"failg", is_failing},
    {"future", STATE(future)},
    {"futr", STATE(future)},
    {"idle", STATE(idle)},
    {"inval", FLAG(invalid_reg)},
    {"maint", FLAG(maint)},
    {"mix", STATE(mixed)},
    {"mixed", STATE(mixed)},
    {"no_respond", FLAG(no_respond)},
    {"npc", never},
    {"perfctrs", never},
    {"planned", FLAG(planned)},
    {"plnd", FLAG(planned)},
    {"pow_dn", FLAG(powering_down)},
    {"pow_up", FLAG(powering_up)},
    {"power_down", FLAG(power_down)},
    {"power_up", FLAG(power_up)},
    {"powered_down", FLAG(powered_down)},
    {"powering_down", FLAG(powering_down)},
    {"powering_up", FLAG(powering_up)},
    {"boot", is_rebooting},
    {"reboot", is_rebooting},
    {"reboot_issued", FLAG(reboot_issued)},
    {"reboot_requested", FLAG(reboot_requested)},
    {"resv", FLAG(reserved)},
    {"reserved", FLAG(reserved)},
    {"unk", STATE(unknown)},
    {"unknown", STATE(unknown)},
};
#undef FLAG
#undef STATE

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
    const auto bits = node_state(node);
    return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const auto& all) {
        return std::all_of(all.begin(), all.end(), [&](const auto& word) { return find_word(word)->holds(bits); });
    });
}

std::span<const OptionRow<Options>> option_table() { return table; }

}  // namespace spur::cli::sinfo
