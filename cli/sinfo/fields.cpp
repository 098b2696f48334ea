// sinfo's columns: the rows of partitions and nodes, how nodes share a line, and the columns about a line as a whole.
#include "cli/sinfo/rows.hpp"
#include "core/text/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sinfo {
namespace {

using records::NodeField;
using records::NodeFieldId;
using records::Value;

// ---- one value of several nodes

struct Range {
    Value least, most;        // absent: of no node at all
    bool is_unknown = false;  // of some node
};
Range range_of(const NodeField& field, const Group& group) {
    Range range;
    for (const auto* node : group.nodes) {
        const auto value = field.get({*node, group.in});
        if (value.is_absent()) {
            range.is_unknown = true;
            continue;
        }
        if (range.least.is_absent() || value < range.least) range.least = value;
        if (value > range.most) range.most = value;
    }
    return range;
}

std::string list_of(const NodeField& field, const Group& group) {
    std::vector<std::string> list;
    for (const auto* node : group.nodes) list.emplace_back(field.get({*node, group.in}).text());
    return compress_hosts(list);
}

template <class F>
std::string written(const F& field, const Value& value, const Group& group, bool* is_null) {
    if (is_null) *is_null = value.is_absent() && field.absent.listing == records::null;
    if (field.type == records::Type::minutes && value.number() == unlimited) return "infinite";
    std::string scratch;
    return std::string(
        records::write(value, field.type, records::Look::listing, field.absent.listing, group.in, scratch));
}

std::string node_text(const GroupField& column, const Group& group, bool* is_null) {
    const auto& field = *column.node;
    if (field.id == NodeFieldId::name || field.id == NodeFieldId::hostname) return list_of(field, group);
    if (column.match == Match::alike || column.match == Match::total)
        return written(field, group.nodes.empty() ? Value{} : field.get({*group.nodes.front(), group.in}), group,
                       is_null);
    if (group.nodes.empty()) return written(field, 0, group, is_null);
    const auto range = range_of(field, group);
    auto text = written(field, range.least, group, is_null);
    const auto most = range.is_unknown ? Value{} : range.most;
    if (most == range.least) return text;
    return column.match == Match::least ? text + "+" : text + "-" + written(field, most, group, is_null);
}

// ---- about the line as a whole

struct ByState {
    std::uint64_t allocated = 0, idle = 0, other = 0;
    std::string text() const { return fmt::format("{}/{}/{}/{}", allocated, idle, other, allocated + idle + other); }
};
ByState nodes_by_state(const Group& group) {
    ByState count;
    for (const auto* node : group.nodes) {
        const auto bits = records::node_state(*node);
        const bool allocated = bits.is_busy() || bits.has(node_flag::completing);
        ++(allocated ? count.allocated : bits.is_out() ? count.other : count.idle);
    }
    return count;
}
Value cpus_by_state(const Group& group) {
    ByState count;
    for (const auto* node : group.nodes) {
        const auto used = std::min(node->alloc_cpus(), node->cpus());
        count.allocated += used;
        (records::node_state(*node).is_out() ? count.other : count.idle) += node->cpus() - used;
    }
    return count.text();
}

Value sockets_cores_threads(const Group& group) {
    const auto least = [&](NodeFieldId id) {
        const auto& field = records::node_field(id);
        return node_text({field.listing, Match::least, nullptr, &field}, group, nullptr);
    };
    return fmt::format("{}:{}:{}", least(NodeFieldId::sockets), least(NodeFieldId::cores), least(NodeFieldId::threads));
}

constexpr GroupField own_fields[] = {
    {.listing = {'z', "socketcorethread", "S:C:T"}, .match = Match::least, .own = sockets_cores_threads},
    {.listing = {'A', "nodeai", "NODES(A/I)"},
     .match = Match::total,
     .own = [](const Group& group) -> Value {
         const auto count = nodes_by_state(group);
         return fmt::format("{}/{}", count.allocated, count.idle);
     }},
    {.listing = {'C', "cpusstate", "CPUS(A/I/O/T)"}, .match = Match::total, .own = cpus_by_state},
    {.listing = {'D', "nodes", "NODES"},
     .match = Match::total,
     .own = [](const Group& group) -> Value { return group.nodes.size(); }},
    {.listing = {'F', "nodeaiot", "NODES(A/I/O/T)"},
     .match = Match::total,
     .own = [](const Group& group) -> Value { return nodes_by_state(group).text(); }},
};

Match match_of(NodeFieldId id) {
    switch (id) {
        case NodeFieldId::name:
        case NodeFieldId::cluster:
            return Match::total;
        case NodeFieldId::cores:
        case NodeFieldId::cpus:
        case NodeFieldId::real_memory:
        case NodeFieldId::sockets:
        case NodeFieldId::temporary_disk:
        case NodeFieldId::threads:
        case NodeFieldId::weight:
            return Match::least;
        case NodeFieldId::cpu_load:
        case NodeFieldId::free_memory:
            return Match::range;
        default:
            return Match::alike;
    }
}

std::vector<GroupField> make_fields() {
    std::vector<GroupField> fields(std::begin(own_fields), std::end(own_fields));
    for (const auto& field : records::partition_fields())
        if (field.listing.name) fields.push_back({field.listing, Match::alike, &field});
    for (const auto& field : records::node_fields())
        if (field.listing.name) fields.push_back({field.listing, match_of(field.id), nullptr, &field});
    return fields;
}

}  // namespace

std::span<const GroupField> group_fields() {
    static const auto fields = make_fields();
    return fields;
}

std::string group_text(const GroupField& field, const Group& group, bool* is_null) {
    if (field.partition)
        return written(*field.partition, field.partition->get({group.partition, group.in}), group, is_null);
    if (field.node) return node_text(field, group, is_null);
    const auto value = field.own(group);
    return value.is_number() ? fmt::format("{}", value.number()) : std::string(value.text());
}

// States by their numbers, limits by how long they are; of nodes that differ, by the least.
Value GroupField::sort_key(const Group& group) const {
    const auto key_of = [](const auto& field, const auto& view) {
        return field.sort ? field.sort(view) : field.get(view);
    };
    if (partition) return key_of(*partition, records::PartitionView{group.partition, group.in});
    if (own) return own(group);
    if (group.nodes.empty()) return {};
    if (match == Match::least || match == Match::range) return range_of(*node, group).least;
    return key_of(*node, records::NodeView{*group.nodes.front(), group.in});
}

}  // namespace spur::cli::sinfo
