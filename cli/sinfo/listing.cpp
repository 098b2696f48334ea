// sinfo's output as text.
#include "cli/sinfo/listing.hpp"

#include "cli/common/output.hpp"
#include "cli/sinfo/rows.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/reservation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace spur::cli::sinfo {
namespace {

constexpr std::size_t least_name_width = 9;

std::string default_format(const Options& options, std::size_t partition_width, std::size_t node_width) {
    if (options.summarize) return fmt::format("%{}P %.5a %.10l %.16F %N", partition_width);
    if (options.reasons) return options.long_listing ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
    if (options.by_node)
        return options.long_listing
                   ? fmt::format("%{}N %.6D %.{}P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E", node_width, partition_width)
                   : fmt::format("%{}N %.6D %.{}P %6t", node_width, partition_width);
    return options.long_listing ? fmt::format("%{}P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N", partition_width)
                                : fmt::format("%{}P %.5a %.10l %.6D %.6t %N", partition_width);
}

using Format = FormatOf<GroupField>;

Format chosen_format(const Options& options, const Snapshot& snapshot, std::vector<std::string>& complaints) {
    const auto fields = group_fields();
    Complaints unknown;
    if (options.long_format && !equal_nocase(*options.long_format, "all")) {
        auto format = names_format(fields, *options.long_format, unknown);
        for (const auto& what : unknown)
            complaints.push_back("sinfo: error: Invalid job format specification: " + what);
        return format;
    }
    std::size_t partition_width = least_name_width, node_width = least_name_width;
    for (const auto& partition : snapshot.partitions.partitions())
        partition_width = std::max(partition_width, partition.name().size() + (partition.is_default() ? 1 : 0));
    for (const auto& node : snapshot.nodes.nodes()) node_width = std::max(node_width, node.name().size());
    const auto text = options.long_format ? "%all"
                      : options.format    ? *options.format
                                          : default_format(options, partition_width, node_width);
    auto format = letters_format(fields, text, all_letters, unknown);
    for (const auto& what : unknown) complaints.push_back("Invalid node format specification: " + what);
    return format;
}

bool wants(const Options& options, const v1::Partition& partition) {
    if (!options.partitions.empty())
        return std::find(options.partitions.begin(), options.partitions.end(), partition.name()) !=
               options.partitions.end();
    return !partition.hidden() || options.all_partitions;
}

bool wants(const Options& options, const v1::Node& node) {
    const auto bits = records::node_state(node);
    const bool silent = bits.has(node_flag::no_respond);
    if (options.nodes && !options.nodes->contains(node.name()) && !options.nodes->contains(node.hostname()))
        return false;
    if ((options.dead && !silent) || (options.responding && silent)) return false;
    if (options.reasons && (node.reason().empty() || (!options.states && !bits.is_out()))) return false;
    return !options.states || options.states->accepts(node);
}

// Which columns keep nodes apart, as the whole format asks for.
std::vector<const GroupField*> dividing_columns(const Options& options, const Format& format) {
    std::vector<const GroupField*> columns;
    for (const auto& [field, layout] : format.columns)
        if (field && (field->match == Match::alike || (field->match != Match::total && options.exact)))
            columns.push_back(field);
    return columns;
}

class Grouping {
public:
    Grouping(const Options& options, const Format& format, const records::Context& in)
        : options_(options), dividing_(dividing_columns(options, format)), in_(in) {}

    void add(const v1::Partition& partition, std::size_t index, const v1::Node* node) {
        Group alone{partition, index, {}, in_};
        if (node) alone.nodes.push_back(node);
        std::string key = node ? "" : "\x01";
        for (const auto* field : dividing_) key += group_text(*field, alone) + '\x1f';
        if (options_.by_node && node) key += partition.name() + '\x1f' + node->name();
        const auto [at, is_new] = by_key_.emplace(std::move(key), groups_.size());
        if (is_new) {
            groups_.push_back(std::move(alone));
        } else if (auto& nodes = groups_[at->second].nodes;
                   node && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
            nodes.push_back(node);
        }
    }
    std::vector<Group> take() { return std::move(groups_); }

private:
    const Options& options_;
    std::vector<const GroupField*> dividing_;
    const records::Context& in_;
    std::vector<Group> groups_;
    std::unordered_map<std::string, std::size_t> by_key_;
};

std::vector<Group> group_nodes(const Options& options, const Snapshot& snapshot, Grouping grouping) {
    std::unordered_map<std::string, std::vector<const v1::Node*>> members;
    for (const auto& node : snapshot.nodes.nodes())
        if (wants(options, node))
            for (const auto& partition : node.partitions()) members[partition].push_back(&node);
    for (int i = 0; i < snapshot.partitions.partitions_size(); ++i) {
        const auto& partition = snapshot.partitions.partitions(i);
        if (!wants(options, partition)) continue;
        const auto index = static_cast<std::size_t>(i);
        const auto& nodes = members[partition.name()];
        for (const auto* node : nodes) grouping.add(partition, index, node);
        if (nodes.empty() && !options.by_node && !options.reasons) grouping.add(partition, index, nullptr);
    }
    return grouping.take();
}

struct SortKey {
    char letter;
    bool descending;
    bool as_configured;  // "#P"
};

std::vector<SortKey> parse_sort(std::string_view text) {
    std::vector<SortKey> keys;
    bool descending = false, as_configured = false;
    for (const char c : text) {
        if (c == ',' || c == '+') continue;
        if (c == '-' || c == '#') {
            (c == '-' ? descending : as_configured) = true;
            continue;
        }
        keys.push_back({c, descending, as_configured});
        descending = as_configured = false;
    }
    return keys;
}

// In natural order: n9 before n10.
std::weak_ordering compare_names(const std::string& a, const std::string& b) {
    const auto stem_end = [](const std::string& name) { return name.find_last_not_of("0123456789") + 1; };
    const auto end_a = stem_end(a), end_b = stem_end(b);
    if (const auto order = a.compare(0, end_a, b, 0, end_b) <=> 0; order != 0) return order;
    const auto number_a = find_unsigned(std::string_view(a).substr(end_a));
    const auto number_b = find_unsigned(std::string_view(b).substr(end_b));
    if (number_a && number_b && *number_a != *number_b) return *number_a <=> *number_b;
    return a.compare(b) <=> 0;
}

std::weak_ordering compare(const SortKey& key, const Group& a, const Group& b) {
    if (key.letter == 'P' && key.as_configured) return a.partition_index <=> b.partition_index;
    if (key.letter == 'N') {
        const auto first = [](const Group& group) { return group.nodes.empty() ? "" : group.nodes.front()->name(); };
        return compare_names(first(a), first(b));
    }
    const auto* field = find_letter(group_fields(), key.letter);
    return field ? field->sort_key(a) <=> field->sort_key(b) : std::weak_ordering::equivalent;
}

void sort_groups(const Options& options, std::vector<const Group*>& groups) {
    const auto keys = parse_sort(options.sort ? *options.sort : options.by_node ? "N" : "#P,-t");
    std::stable_sort(groups.begin(), groups.end(), [&](const Group* a, const Group* b) {
        for (const auto& key : keys) {
            const auto order = compare(key, *a, *b);
            if (order != 0) return key.descending ? order > 0 : order < 0;
        }
        return false;
    });
}

}  // namespace

Printed print_listing(const Options& options, const Snapshot& snapshot) {
    Printed printed;
    const records::Context context{.now = snapshot.now, .cluster = {}, .convert_units = options.convert_units};
    const auto format = chosen_format(options, snapshot, printed.complaints);
    const auto groups = group_nodes(options, snapshot, Grouping{options, format, context});
    std::vector<const Group*> lines;
    for (const auto& group : groups) lines.push_back(&group);
    sort_groups(options, lines);
    if (options.header && (options.long_listing || options.iterate_s != 0)) printed.text += date_line(snapshot.now);
    if (options.header && options.clusters) printed.text += fmt::format("CLUSTER: {}\n", *options.clusters);
    if (options.header) format.header(printed.text);
    for (const auto* group : lines) format.row(printed.text, *group);
    return printed;
}

std::string print_reservations(const Options& options, const v1::ListReservationsReply& reply, std::int64_t now) {
    if (reply.reservations().empty()) return "No reservations in the system\n";
    using enum records::ReservationFieldId;
    const records::Context context{.now = now, .cluster = {}};
    std::size_t width = least_name_width;
    for (const auto& reservation : reply.reservations()) width = std::max(width, reservation.name().size());
    const auto field = [](records::ReservationFieldId id) { return &records::reservation_field(id); };
    const FormatOf<records::ReservationField> format{"",
                                                     {{field(name), {width, false, "  "}},
                                                      {field(state), {8, true, "  "}},
                                                      {field(start_time), {19, true, "  "}},
                                                      {field(end_time), {19, true, "  "}},
                                                      {field(duration), {11, true, "  "}},
                                                      {field(nodes), {}}}};
    std::string text;
    if (options.header) format.header(text);
    for (const auto& reservation : reply.reservations())
        format.row(text, records::ReservationView{reservation, context});
    return text;
}

}  // namespace spur::cli::sinfo
