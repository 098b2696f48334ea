// A node as Slurm's users know it. One row a field; the order is that of --json. Memory and disk are in MiB.
#include "daemons/common/records/node.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/model/array_spec.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/users.hpp"

namespace spur::records {
namespace {

using N = v1::Node;

Value nothing(const NodeView&) { return {}; }

template <auto Get>
Value of_node(const NodeView& view) {
    return (view.node.*Get)();
}
template <auto Get>
Value if_any(const NodeView& view) {  // zero: none
    return nonzero((view.node.*Get)());
}
template <const google::protobuf::RepeatedPtrField<std::string>& (N::*Get)() const>
Value list_of(const NodeView& view) {
    return fmt::format("{}", fmt::join((view.node.*Get)(), ","));
}
template <std::string (*Write)(NodeState, std::uint32_t)>
Value shown_state(const NodeView& view) {
    const auto bits = node_state(view.node);
    return lower(Write(bits.state, bits.flags));
}

// An agent that has reported its vitals had some memory left.
Value load_of(const NodeView& view) { return present(view->free_memory_mib() != 0, std::llround(view->load() * 100)); }

template <bool used>
Value gres_of(const NodeView& view) {
    std::string text;
    for (const auto& gres : view->gres()) {
        text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : ",", gres.name(), gres.type(),
                            gres.type().empty() ? "" : ":", used ? gres.used() : gres.count());
        const auto index = TaskSet::of({gres.used_index().begin(), gres.used_index().end()}).str();
        if (used) text += fmt::format("(IDX:{})", index.empty() ? "N/A" : index);
    }
    return text;
}

Value reason_time_of(const NodeView& view) { return present(!view->reason().empty(), nonzero(view->reason_time())); }
Value reason_user_of(const NodeView& view) { return present(!view->reason().empty(), view->reason_user()); }
Value reason_user_and_uid_of(const NodeView& view) {
    const auto user = reason_user_of(view);
    const auto uid = user.is_absent() ? std::nullopt : find_user(view->reason_user());
    return uid ? Value{fmt::format("{}({})", user.text(), *uid)} : user;
}
Value reason_shown_of(const NodeView& view) {
    if (view->reason().empty()) return {};
    return fmt::format("{} [{}@{}]", view->reason(), view->reason_user().empty() ? "Unknown" : view->reason_user(),
                       time_text(view->reason_time(), view.in.now, "Unknown"));
}

Result<NodeAction> read_action(const Setting& setting) {
    static constexpr std::pair<std::string_view, NodeAction> actions[] = {
        {"DOWN", NodeAction::down},
        {"DRAIN", NodeAction::drain},
        {"DRAINED", NodeAction::drain},
        {"DRAINING", NodeAction::drain},
        {"UNDRAIN", NodeAction::undrain},
        {"RESUME", NodeAction::resume},
        {"IDLE", NodeAction::idle},
        {"FAIL", NodeAction::fail},
        {"FAILING", NodeAction::fail},
        {"FUTURE", NodeAction::future},
        {"POWER_DOWN", NodeAction::power_down},
        {"POWER_UP", NodeAction::power_up},
        {"CANCEL_REBOOT", NodeAction::cancel_reboot},
        {"REBOOT", NodeAction::reboot},
        {"REBOOT_ASAP", NodeAction::reboot_asap},
    };
    const auto* const found =
        std::ranges::find_if(actions, [&](const auto& one) { return equal_nocase(one.first, setting.value); });
    if (found == std::end(actions))
        return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " ({})", setting.value));
    return found->second;
}

Result<void> set_state(UpdateNode& to, const Setting& setting) {
    SPUR_TRY(to.action, read_action(setting));
    return {};
}

Result<void> set_next_state(UpdateNode& to, const Setting& setting) {
    SPUR_TRY(const auto next, read_action(setting));
    if (next != NodeAction::resume && next != NodeAction::down)
        return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " (nextstate is RESUME or DOWN)"));
    to.after_reboot = next == NodeAction::down ? AfterReboot::down : AfterReboot::resume;
    return {};
}

using enum NodeFieldId;
using U = UpdateNode;
constexpr auto no_val = AbsentNumber::no_val;

// clang-format off
constexpr NodeField rows[] = {
    {.id = architecture, .name = "Arch", .json = "architecture", .member = "arch", .absent = {.record = left_out},
     .get = of_node<&N::architecture>},
    {.id = broadcast_address, .json = "burstbuffer_network_address", .member = "bcast_address", .get = nothing},
    {.id = boards, .name = "Boards", .json = "boards", .member = "boards", .type = Type::count,
     .get = [](const NodeView& node) -> Value { return std::max(1U, node->boards()); }},
    {.id = boot_time, .name = "BootTime", .json = "boot_time", .member = "boot_time", .type = Type::time,
     .absent = {.record = "None"}, .get = if_any<&N::boot_time>},
    {.id = clock_skew, .name = "ClockSkew", .absent = {.record = left_out},
     .get = [](const NodeView& node) {
         return present(node->clock_skew_s() != 0, fmt::format("{}s", node->clock_skew_s()));
     }},
    // Known in a federation only.
    {.id = cluster, .listing = {'V', "cluster", "CLUSTER"}, .member = "cluster_name", .absent = {"N/A"},
     .get = nothing},
    {.id = comment, .name = "Comment", .listing = {0, "comment", "COMMENT"}, .json = "comment", .member = "comment",
     .absent = {.record = left_out}, .get = of_node<&N::comment>, .change = {"comment", 3, set_text<&U::comment>}},
    {.id = cores, .name = "CoresPerSocket", .listing = {'Y', "cores", "CORES"}, .json = "cores", .member = "cores",
     .type = Type::count, .get = of_node<&N::cores_per_socket>},
    {.id = core_spec, .name = "CoreSpecCount", .member = "core_spec_cnt", .type = Type::count,
     .absent = {.record = left_out}, .get = if_any<&N::core_spec>},
    {.id = cpu_spec_list, .name = "CPUSpecList", .member = "cpu_spec_list", .absent = {.record = left_out},
     .get = nothing},
    {.id = memory_spec, .name = "MemSpecLimit", .member = "mem_spec_limit", .type = Type::count,
     .absent = {.record = left_out}, .get = if_any<&N::mem_spec_mib>},
    {.id = cpu_binding, .name = "CpuBind", .json = "cpu_binding", .member = "cpu_bind", .type = Type::count,
     .absent = {.record = left_out}, .get = nothing, .change = {"cpubind", 3}},
    {.id = cpu_load, .name = "CPULoad", .listing = {'O', "cpusload", "CPU_LOAD"}, .json = "cpu_load",
     .member = "cpu_load", .type = Type::hundredths, .absent = {"N/A", "N/A"}, .get = load_of},
    {.id = extra, .name = "Extra", .listing = {0, "extra", "EXTRA"}, .json = "extra", .member = "extra",
     .absent = {.record = left_out}, .get = of_node<&N::extra>, .change = {"extra", 3, set_text<&U::extra>}},
    {.id = free_memory, .name = "FreeMem", .listing = {'e', "freemem", "FREE_MEM"}, .json = "free_memory",
     .member = "free_mem", .type = Type::count, .absent = {"N/A", "N/A"}, .get = if_any<&N::free_memory_mib>},
    {.id = cpus, .name = "CPUTot", .listing = {'c', "cpus", "CPUS"}, .json = "cpus", .member = "cpus",
     .type = Type::count, .get = of_node<&N::cpus>},
    {.id = cpus_effective, .name = "CPUEfctv", .member = "cpus_efctv", .type = Type::count,
     .get = [](const NodeView& node) -> Value {
         return node->cpus() - std::min(node->cpus(), node->core_spec() * std::max(1U, node->threads_per_core()));
     }},
    {.id = last_busy, .name = "LastBusyTime", .json = "last_busy", .member = "last_busy", .type = Type::time,
     .absent = {.record = "Unknown"}, .get = if_any<&N::last_busy>},
    {.id = features, .name = "AvailableFeatures", .listing = {'f', "features", "AVAIL_FEATURES"}, .json = "features",
     .member = "features", .get = list_of<&N::features>,
     .change = {"availablefeatures", 3, set_names_or_all<&U::features>, "features", 1}},
    {.id = active_features, .name = "ActiveFeatures", .listing = {'b', "features_act", "ACTIVE_FEATURES"},
     .json = "active_features", .member = "features_act", .get = list_of<&N::active_features>,
     .change = {"activefeatures", 3, set_names_or_all<&U::active_features>}},
    {.id = gres, .name = "Gres", .listing = {'G', "gres", "GRES"}, .json = "gres", .member = "gres",
     .get = gres_of<false>, .change = {"gres", 1}},
    // As Slurm's controller says it.
    {.id = gres_drained, .name = "GresDrain", .json = "gres_drained", .member = "gres_drain",
     .get = [](const NodeView&) -> Value { return "N/A"; }},
    {.id = gres_used, .name = "GresUsed", .listing = {0, "gresused", "GRES_USED"}, .json = "gres_used",
     .member = "gres_used", .get = gres_of<true>},
    {.id = mcs_label, .name = "MCS_label", .json = "mcs_label", .member = "mcs_label", .absent = {.record = "N/A"},
     .get = nothing},
    {.id = name, .name = "NodeName", .listing = {'N', "nodelist", "NODELIST"}, .json = "name", .member = "name",
     .get = of_node<&N::name>},
    {.id = next_state, .json = "next_state_after_reboot", .member = "next_state",
     .get = [](const NodeView&) -> Value { return "invalid"; }, .change = {"nextstate", 5, set_next_state}},
    {.id = address, .name = "NodeAddr", .listing = {'o', "nodeaddr", "NODE_ADDR"}, .json = "address",
     .member = "node_addr", .absent = {""}, .get = of_node<&N::addr>,
     .change = {"nodeaddr", 5, set_text<&U::addr>}},
    {.id = hostname, .name = "NodeHostName", .listing = {'n', "nodehost", "HOSTNAMES"}, .json = "hostname",
     .member = "node_hostname", .absent = {""}, .get = of_node<&N::hostname>,
     .change = {"nodehostname", 5, set_text<&U::hostname>}},
    {.id = state, .json = "state",
     .get = [](const NodeView& node) -> Value { return lower(to_string(node_state(node.node).state)); }},
    {.id = state_flags, .json = "state_flags",
     .get = [](const NodeView& node) -> Value {
         return std::string_view(node->state()).substr(std::min(node->state().find('+'), node->state().size()));
     }},
    {.id = next_state_flags, .json = "next_state_after_reboot_flags", .get = nothing},
    {.id = full_state, .name = "State", .member = "node_state", .get = of_node<&N::state>,
     .change = {"state", 1, set_state}},
    {.id = state_complete, .listing = {0, "statecomplete", "STATECOMPLETE"}, .absent = {"n/a"},
     .get = shown_state<display_full_state>},
    {.id = state_long, .listing = {'T', "statelong", "STATE"}, .absent = {"n/a"}, .get = shown_state<display_state>,
     .sort = [](const NodeView& node) -> Value { return node_state(node.node).number(); }},
    {.id = state_compact, .listing = {'t', "statecompact", "STATE"}, .absent = {"n/a"},
     .get = shown_state<display_compact_state>,
     .sort = [](const NodeView& node) -> Value { return node_state(node.node).number(); }},
    {.id = operating_system, .name = "OS", .json = "operating_system", .member = "os", .absent = {.record = left_out},
     .get = of_node<&N::os>},
    {.id = owner, .name = "Owner", .json = "owner", .member = "owner", .absent = {.record = "N/A", .number = no_val},
     .get = of_node<&N::owner>},
    {.id = partitions, .name = "Partitions", .json = "partitions", .member = "partitions",
     .absent = {.record = left_out}, .get = list_of<&N::partitions>},
    {.id = port, .name = "Port", .listing = {0, "port", "PORT"}, .json = "port", .member = "port",
     .type = Type::count, .absent = {"0", left_out}, .get = if_any<&N::port>},
    {.id = real_memory, .name = "RealMemory", .listing = {'m', "memory", "MEMORY"}, .json = "real_memory",
     .member = "real_memory", .type = Type::count, .get = of_node<&N::memory_mib>},
    {.id = reason, .listing = {'E', "reason", "REASON"}, .json = "reason", .member = "reason", .absent = {"none"},
     .get = of_node<&N::reason>, .change = {"reason", 1, set_text<&U::reason>}},
    {.id = reason_shown, .name = "Reason", .absent = {.record = left_out}, .get = reason_shown_of},
    {.id = reason_changed_at, .listing = {'H', "timestamp", "TIMESTAMP"}, .json = "reason_changed_at",
     .member = "reason_time", .type = Type::time, .absent = {"Unknown"}, .get = reason_time_of},
    {.id = reason_set_by_user, .listing = {'u', "user", "USER"}, .json = "reason_set_by_user", .member = "reason_uid",
     .absent = {"Unknown", null, no_val}, .get = reason_user_of},
    {.id = reason_user_and_uid, .listing = {'U', "userlong", "USER"}, .absent = {"Unknown"},
     .get = reason_user_and_uid_of},
    {.id = start_time, .name = "SlurmdStartTime", .json = "slurmd_start_time", .member = "slurmd_start_time",
     .type = Type::time, .absent = {.record = "None"}, .get = if_any<&N::start_time>},
    {.id = sockets, .name = "Sockets", .listing = {'X', "sockets", "SOCKETS"}, .json = "sockets", .member = "sockets",
     .type = Type::count, .get = of_node<&N::sockets>},
    {.id = threads, .name = "ThreadsPerCore", .listing = {'Z', "threads", "THREADS"}, .json = "threads",
     .member = "threads", .type = Type::count, .get = of_node<&N::threads_per_core>},
    {.id = temporary_disk, .name = "TmpDisk", .listing = {'d', "disk", "TMP_DISK"}, .json = "temporary_disk",
     .member = "tmp_disk", .type = Type::count, .get = of_node<&N::tmp_mib>},
    {.id = unenforced, .name = "Unenforced", .listing = {0, "unenforced", "UNENFORCED"}, .absent = {"none", left_out},
     .get = [](const NodeView& node) -> Value { return display_unenforced(node->enforced()); }},
    {.id = weight, .name = "Weight", .listing = {'w', "weight", "WEIGHT"}, .json = "weight", .member = "weight",
     .type = Type::count, .get = of_node<&N::weight>, .change = {"weight", 1, set_count<&U::weight>}},
    {.id = tres, .name = "CfgTRES", .json = "tres", .member = "tres_fmt_str", .absent = {.record = ""},
     .get = of_node<&N::tres_configured>},
    {.id = version, .name = "Version", .listing = {'v', "version", "VERSION"}, .json = "slurmd_version",
     .member = "version", .absent = {"N/A", left_out}, .get = of_node<&N::version>},
    {.id = alloc_memory, .name = "AllocMem", .listing = {0, "allocmem", "ALLOCMEM"}, .json = "alloc_memory",
     .type = Type::count, .absent = {"0"}, .get = of_node<&N::alloc_memory_mib>},
    {.id = alloc_cpus, .name = "CPUAlloc", .json = "alloc_cpus", .type = Type::count,
     .get = of_node<&N::alloc_cpus>},
    {.id = idle_cpus, .json = "idle_cpus", .type = Type::count,
     .get = [](const NodeView& node) -> Value { return node->cpus() - std::min(node->cpus(), node->alloc_cpus()); }},
    {.id = tres_used, .name = "AllocTRES", .json = "tres_used", .absent = {.record = "", .number = no_val},
     .get = of_node<&N::tres_allocated>},
    {.id = tres_weighted, .json = "tres_weighted", .get = nothing},
    {.id = cap_watts, .name = "CapWatts", .member = "power", .absent = {.record = "n/a"}, .get = nothing},
    {.id = current_watts, .name = "CurrentWatts", .member = "energy", .absent = {.record = "0"}, .get = nothing},
    {.id = average_watts, .name = "AveWatts", .absent = {.record = "0"}, .get = nothing},
    {.id = sensors_joules, .name = "ExtSensorsJoules", .member = "ext_sensors", .absent = {.record = "n/s"},
     .get = nothing},
    {.id = sensors_watts, .name = "ExtSensorsWatts", .absent = {.record = "0"}, .get = nothing},
    {.id = sensors_temperature, .name = "ExtSensorsTemp", .absent = {.record = "n/s"}, .get = nothing},
};
// clang-format on
static_assert(covers_all(rows), "a field without a row would be invisible");

}  // namespace

std::span<const NodeField> node_fields() { return rows; }
const NodeField& node_field(NodeFieldId id) { return rows[static_cast<std::size_t>(id)]; }

std::string unenforced_note(const google::protobuf::RepeatedPtrField<v1::Node>& nodes) {
    std::map<std::string, std::vector<std::string>> lacking;
    for (const auto& node : nodes)
        if (auto limits = display_unenforced(node.enforced()); !limits.empty())
            lacking[std::move(limits)].push_back(node.name());
    std::string note;
    for (const auto& [limits, names] : lacking)
        note += fmt::format("Not enforced on {}: {}. What jobs ask for is counted there, they are not held to it.\n",
                            compress_hosts(names), limits);
    return note;
}

}  // namespace spur::records
