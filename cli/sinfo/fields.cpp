// sinfo's columns: letter, long name, header, what it shows and how it divides nodes into lines.
#include "cli/common/job_text.hpp"
#include "cli/common/node_text.hpp"
#include "cli/common/users.hpp"
#include "cli/sinfo/rows.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sinfo {
namespace {

std::string number(std::uint64_t value) { return fmt::format("{}", value); }
constexpr std::uint32_t infinite = 0xffffffffU;

struct Range {
    std::uint64_t least = 0, most = 0;
};
template <class Get>
Range range_of(const Group& group, Get get) {
    Range range;
    bool first = true;
    for (const auto* node : group.nodes) {
        const std::uint64_t value = get(*node);
        range.least = first ? value : std::min(range.least, value);
        range.most = first ? value : std::max(range.most, value);
        first = false;
    }
    return range;
}

// "8", or "8+" where some nodes have more.
template <class Get>
std::string least(const Group& group, Get get) {
    const auto range = range_of(group, get);
    return number(range.least) + (range.most > range.least ? "+" : "");
}
#define LEAST(getter) \
    [](const Group& group) -> Value { return least(group, [](const v1::Node& node) { return node.getter(); }); }

std::string sockets_cores_threads(const Group& group) {
    return fmt::format("{}:{}:{}", least(group, [](const v1::Node& node) { return node.sockets(); }),
                       least(group, [](const v1::Node& node) { return node.cores_per_socket(); }),
                       least(group, [](const v1::Node& node) { return node.threads_per_core(); }));
}

struct ByState {
    std::uint64_t allocated = 0, idle = 0, other = 0;
    std::uint64_t total() const { return allocated + idle + other; }
    std::string all() const { return fmt::format("{}/{}/{}/{}", allocated, idle, other, total()); }
};
ByState nodes_by_state(const Group& group) {
    ByState count;
    for (const auto* node : group.nodes) {
        const auto bits = node_state(*node);
        if (bits.is_busy() || (bits.flags & node_flag::completing) != 0)
            ++count.allocated;
        else if (bits.is_out())
            ++count.other;
        else
            ++count.idle;
    }
    return count;
}
ByState cpus_by_state(const Group& group) {
    ByState count;
    for (const auto* node : group.nodes) {
        const auto used = std::min(node->alloc_cpus(), node->cpus());
        count.allocated += used;
        (node_state(*node).is_out() ? count.other : count.idle) += node->cpus() - used;
    }
    return count;
}

template <class Get>
Value first_node(const Group& group, Get get, const char* absent = "n/a") {
    return group.nodes.empty() ? Value{absent} : Value{get(*group.nodes.front())};
}

std::string names(const Group& group) {
    std::vector<std::string> list;
    for (const auto* node : group.nodes) list.push_back(node->name());
    return compress_hosts(list);
}
template <class Get>
std::string distinct(const Group& group, Get get) {
    std::vector<std::string> list;
    for (const auto* node : group.nodes) list.push_back(get(*node));
    return compress_hosts(list);
}

std::string load_range(const Group& group) {
    if (group.nodes.empty()) return "0.00";
    double low = group.nodes.front()->load(), high = low;
    for (const auto* node : group.nodes) {
        low = std::min(low, node->load());
        high = std::max(high, node->load());
    }
    return load_text(low) == load_text(high) ? load_text(low) : load_text(low) + "-" + load_text(high);
}
std::string free_memory(const Group& group) {
    const auto range = range_of(group, [](const v1::Node& node) { return node.free_memory_mib(); });
    return range.least == range.most ? number(range.least) : fmt::format("{}-{}", range.least, range.most);
}

std::string availability(const Group& group) {
    const auto state = lower(group.partition->state());
    return state == "inactive" ? "inact" : state;
}
std::string time_limit(std::uint32_t minutes, const char* absent) {
    if (minutes == infinite) return "infinite";
    return minutes == 0 ? absent : print_limit(minutes);
}
std::string job_size(const Group& group) {
    const auto low = std::max(1U, group.partition->min_nodes());
    const auto high = group.partition->max_nodes();
    if (high == infinite) return fmt::format("{}-infinite", low);
    return low == high ? number(low) : fmt::format("{}-{}", low, high);
}
std::string partition_name(const Group& group) {
    return group.partition->name() + (group.partition->is_default() ? "*" : "");
}
std::string groups(const Group& group) {
    return group.partition->allow_groups().empty() ? "all" : group.partition->allow_groups();
}
std::string preempt_mode(const Group& group) {
    return group.partition->preempt_mode().empty() ? "OFF" : group.partition->preempt_mode();
}
std::string max_cpus(const Group& group) {
    const auto most = group.partition->max_cpus_per_node();
    return most == 0 || most == infinite ? "UNLIMITED" : number(most);
}

std::string unenforced(const v1::Node& node) {
    const auto text = unenforced_text(node);
    return text.empty() ? "none" : text;
}
std::string reason(const v1::Node& node) { return node.reason().empty() ? "none" : node.reason(); }
std::string reason_time(const Group& group) {
    if (group.nodes.empty() || group.nodes.front()->reason_time() == 0 || group.nodes.front()->reason().empty())
        return "Unknown";
    return time_text(group.nodes.front()->reason_time(), group.listing->now, "Unknown");
}
std::string reason_user(const v1::Node& node) {
    return node.reason().empty() || node.reason_user().empty() ? "Unknown" : node.reason_user();
}
std::string reason_user_and_uid(const v1::Node& node) {
    const auto name = reason_user(node);
    const auto uid = name == "Unknown" ? std::nullopt : find_user(name);
    return uid ? fmt::format("{}({})", name, *uid) : name;
}

constexpr auto cut = Cut::always;
constexpr auto total = Match::total;
constexpr auto alike = Match::alike;
constexpr auto exact = Match::alike_if_exact;

#define SHOW(...) []([[maybe_unused]] const Group& group) -> Value { return __VA_ARGS__; }
#define PARTITION (*group.partition)
#define EACH(...) first_node(group, [](const v1::Node& node) -> Value { return __VA_ARGS__; })
#define EACH_OR(absent, ...) \
    first_node(              \
        group, [](const v1::Node& node) -> Value { return __VA_ARGS__; }, absent)

constexpr NodeField table[] = {
    {{'a', "available", "AVAIL", cut, SHOW(availability(group))}, alike},
    {{'b', "features_act", "ACTIVE_FEATURES", cut, SHOW(EACH(or_null(joined(node.active_features()))))}, alike},
    {{'c', "cpus", "CPUS", cut, LEAST(cpus)}, exact},
    {{'d', "disk", "TMP_DISK", cut, LEAST(tmp_mib)}, exact},
    {{'e', "freemem", "FREE_MEM", cut, SHOW(free_memory(group))}, exact},
    {{'f', "features", "AVAIL_FEATURES", cut, SHOW(EACH(or_null(joined(node.features()))))}, alike},
    {{'g', "groups", "GROUPS", cut, SHOW(groups(group))}, alike},
    {{'h', "oversubscribe", "OVERSUBSCRIBE", cut, SHOW(PARTITION.oversubscribe())}, alike},
    {{'l', "time", "TIMELIMIT", cut, SHOW(time_limit(PARTITION.max_time_min(), "infinite"))}, alike},
    {{'m', "memory", "MEMORY", cut, LEAST(memory_mib)}, exact},
    {{'n', "nodehost", "HOSTNAMES", cut, SHOW(distinct(group, [](const v1::Node& node) { return node.hostname(); }))},
     alike},
    {{'o', "nodeaddr", "NODE_ADDR", cut, SHOW(EACH(node.addr()))}, alike},
    {{'p', "prioritytier", "PRIO_TIER", cut, SHOW(number(PARTITION.priority_tier()))}, alike},
    {{'r', "root", "ROOT", cut, SHOW(PARTITION.root_only() ? "yes" : "no")}, alike},
    {{'s', "size", "JOB_SIZE", cut, SHOW(job_size(group))}, alike},
    {{'t', "statecompact", "STATE", cut, SHOW(EACH(compact_state(node)))}, alike},
    {{'u', "user", "USER", cut, SHOW(EACH_OR("Unknown", reason_user(node)))}, alike},
    {{'v', "version", "VERSION", cut, SHOW(EACH(or_null(node.version())))}, alike},
    {{'w', "weight", "WEIGHT", cut, LEAST(weight)}, exact},
    {{'z', "socketcorethread", "S:C:T", cut, SHOW(sockets_cores_threads(group))}, exact},
    {{'A', "nodeai", "NODES(A/I)", cut,
      SHOW(fmt::format("{}/{}", nodes_by_state(group).allocated, nodes_by_state(group).idle))},
     total},
    {{'B', "maxcpuspernode", "MAX_CPUS_PER_NODE", cut, SHOW(max_cpus(group))}, alike},
    {{'C', "cpusstate", "CPUS(A/I/O/T)", cut, SHOW(cpus_by_state(group).all())}, total},
    {{'D', "nodes", "NODES", cut, SHOW(number(group.nodes.size()))}, total},
    {{'E', "reason", "REASON", cut, SHOW(EACH_OR("none", reason(node)))}, alike},
    {{'F', "nodeaiot", "NODES(A/I/O/T)", cut, SHOW(nodes_by_state(group).all())}, total},
    {{'G', "gres", "GRES", cut, SHOW(EACH_OR("(null)", or_null(gres_text(node))))}, alike},
    {{'H', "timestamp", "TIMESTAMP", cut, SHOW(reason_time(group))}, alike},
    {{'I', "priorityjobfactor", "PRIO_JOB_FACTOR", cut, SHOW(number(PARTITION.priority_job_factor()))}, alike},
    {{'L', "defaulttime", "DEFAULTTIME", cut, SHOW(time_limit(PARTITION.default_time_min(), "n/a"))}, alike},
    {{'M', "preemptmode", "PREEMPT_MODE", cut, SHOW(preempt_mode(group))}, alike},
    {{'N', "nodelist", "NODELIST", cut, SHOW(names(group))}, total},
    {{'O', "cpusload", "CPU_LOAD", cut, SHOW(load_range(group))}, exact},
    {{'P', "partition", "PARTITION", Cut::keep_star, SHOW(partition_name(group))}, alike},
    {{'R', "partitionname", "PARTITION", cut, SHOW(PARTITION.name())}, alike},
    {{'S', "allocnodes", "ALLOCNODES", cut, SHOW("all")}, alike},
    {{'T', "statelong", "STATE", cut, SHOW(EACH(long_state(node)))}, alike},
    {{'U', "userlong", "USER", cut, SHOW(EACH_OR("Unknown", reason_user_and_uid(node)))}, alike},
    {{'V', "cluster", "CLUSTER", cut, SHOW("N/A")}, total},
    {{'X', "sockets", "SOCKETS", cut, LEAST(sockets)}, exact},
    {{'Y', "cores", "CORES", cut, LEAST(cores_per_socket)}, exact},
    {{'Z', "threads", "THREADS", cut, LEAST(threads_per_core)}, exact},
    {{0, "allocmem", "ALLOCMEM", cut, SHOW(EACH_OR("0", number(node.alloc_memory_mib())))}, alike},
    {{0, "comment", "COMMENT", cut, SHOW(EACH_OR("(null)", or_null(node.comment())))}, alike},
    {{0, "extra", "EXTRA", cut, SHOW(EACH_OR("(null)", or_null(node.extra())))}, alike},
    {{0, "unenforced", "UNENFORCED", cut, SHOW(EACH_OR("none", unenforced(node)))}, alike},
    {{0, "gresused", "GRES_USED", cut, SHOW(EACH_OR("(null)", or_null(gres_used_text(node))))}, alike},
    {{0, "port", "PORT", cut, SHOW(EACH_OR("0", number(node.port())))}, alike},
    {{0, "priority", "PRIO_TIER", cut, SHOW(number(PARTITION.priority_tier()))}, alike},
    {{0, "statecomplete", "STATECOMPLETE", cut, SHOW(EACH(full_state(node)))}, alike},
};

#undef LEAST
#undef SHOW
#undef PARTITION
#undef EACH
#undef EACH_OR

}  // namespace

std::span<const NodeField> node_fields() { return table; }

std::vector<Field<Group>> plain_fields() {
    std::vector<Field<Group>> fields;
    fields.reserve(std::size(table));
    for (const auto& entry : table) fields.push_back(entry.field);
    return fields;
}

}  // namespace spur::cli::sinfo
