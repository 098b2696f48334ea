// scontrol show node, partition, reservation, license, config: which fields share a line.
#include "cli/common/job_text.hpp"
#include "cli/scontrol/show.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"
#include "daemons/common/records/reservation.hpp"

namespace spur::cli::scontrol {
namespace {

using records::NodeFieldId;
using records::PartitionFieldId;
using records::ReservationFieldId;

namespace of_node {
using enum NodeFieldId;
const Line<NodeFieldId> lines[] = {
    {{name, architecture, cpu_binding, cores}, Only::always, " "},
    {{alloc_cpus, cpus_effective, cpus, cpu_load}},
    {{features}},
    {{active_features}},
    {{gres}},
    {{gres_drained}, Only::details},
    {{gres_used}, Only::details},
    {{address, hostname, port, version}, Only::always, "", " "},
    {{operating_system}, Only::always, " "},
    {{real_memory, alloc_memory, free_memory, sockets, boards}},
    {{core_spec, cpu_spec_list, memory_spec}, Only::always, "", " "},
    {{full_state, threads, temporary_disk, weight, owner, mcs_label}},
    {{partitions}, Only::always, " "},
    {{boot_time, start_time}},
    {{last_busy}},
    {{tres}},
    {{tres_used}},
    {{cap_watts}},
    {{current_watts, average_watts}},
    {{sensors_joules, sensors_watts, sensors_temperature}},
    {{reason_shown}},
    {{comment}},
    {{clock_skew}},
    {{extra}},
};
}  // namespace of_node

namespace of_partition {
using enum PartitionFieldId;
const Line<PartitionFieldId> lines[] = {
    {{name}},
    {{allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos}},
    {{alloc_nodes, alternate, is_default, qos}},
    {{default_time, disable_root_jobs, exclusive_user, grace_time, hidden}},
    {{max_nodes, max_time, min_nodes, lln, max_cpus_per_node}},
    {{nodes}},
    {{priority_job_factor, priority_tier, root_only, require_reservation, oversubscribe}},
    {{over_time_limit, preempt_mode}},
    {{state, total_cpus, total_nodes, select_type_parameters}},
    {{job_defaults}},
    {{default_memory_per_cpu, default_memory_per_node, max_memory_per_cpu, max_memory_per_node}},
};

// Of two that cannot both be asked for, the second is shown where the first is not there.
constexpr std::pair<PartitionFieldId, PartitionFieldId> either[] = {
    {deny_accounts, allow_accounts},
    {deny_qos, allow_qos},
    {default_memory_per_cpu, default_memory_per_node},
    {max_memory_per_cpu, max_memory_per_node},
};
std::string text_of(PartitionFieldId id, const records::PartitionView& view) {
    for (const auto& [first, second] : either)
        if (id == second && !records::partition_field(first).get(view).is_absent()) return {};
    return field_text(records::partition_field(id), view);
}
}  // namespace of_partition

namespace of_reservation {
using enum ReservationFieldId;
const Line<ReservationFieldId> lines[] = {
    {{name, start_time, end_time, duration}},
    {{nodes, node_count, core_count, features, partition, flags}},
    {{}},  // the cores of each node that is reserved in part
    {{tres}},
    {{users, groups, accounts, licenses, state, burst_buffer, watts}},
    {{max_start_delay}},
};
}  // namespace of_reservation

}  // namespace

std::string node_text(const v1::Node& node, const Style& style) {
    const records::Context context{.now = style.now, .cluster = {}};
    const auto text_of = [&](NodeFieldId id) { return field_text(records::node_field(id), {node, context}); };
    Record record;
    for (const auto& line : of_node::lines)
        if (line.only != Only::details || style.details > 0) put_line(record, line, text_of);
    put_rest(record, records::node_fields(), of_node::lines, text_of);
    return record.text(style);
}

std::string partition_text(const v1::Partition& partition, const Style& style) {
    const records::Context context{.now = style.now, .cluster = {}};
    const auto text_of = [&](PartitionFieldId id) { return of_partition::text_of(id, {partition, context}); };
    Record record;
    for (const auto& line : of_partition::lines) put_line(record, line, text_of);
    put_rest(record, records::partition_fields(), of_partition::lines, text_of);
    return record.text(style);
}

std::string reservation_text(const v1::Reservation& reservation, const Style& style) {
    const records::Context context{.now = style.now, .cluster = {}};
    const auto text_of = [&](ReservationFieldId id) {
        return field_text(records::reservation_field(id), {reservation, context});
    };
    Record record;
    for (const auto& line : of_reservation::lines) {
        put_line(record, line, text_of);
        if (line.fields.size() != 0) continue;
        for (const auto& cores : reservation.core_ids()) record.line("  {}", cores);
    }
    put_rest(record, records::reservation_fields(), of_reservation::lines, text_of);
    return record.text(style);
}

std::string license_text(const v1::License& license, const Style& style) {
    const records::Context context{.now = style.now, .cluster = {}};
    std::string text;
    for (const auto& field : records::license_fields())
        text += (text.empty()                                                    ? ""
                 : field.id == records::LicenseFieldId::total && !style.one_line ? "\n    "
                                                                                 : " ") +
                field_text(field, {license, context});
    return text + "\n";
}

std::string config_text(const v1::GetConfigReply& reply, const Style& style) {
    std::string text = fmt::format("Configuration data as of {}\n", time_text(style.now, style.now, "Unknown"));
    for (const auto& item : reply.items()) text += fmt::format("{:<23} = {}\n", item.key(), shown(item.value()));
    return text + "\n";
}

}  // namespace spur::cli::scontrol
