// A partition as Slurm's users know it. One row a field; the order is that of scontrol.
#include "daemons/common/records/partition.hpp"

#include <algorithm>

namespace spur::records {
namespace {

using P = v1::Partition;

Value nothing(const PartitionView&) { return {}; }

template <auto Get>
Value of_partition(const PartitionView& view) {
    return (view.partition.*Get)();
}
template <auto Get>
Value if_any(const PartitionView& view) {  // zero: none
    return nonzero((view.partition.*Get)());
}
template <auto Get>
Value if_limited(const PartitionView& view) {
    const auto limit = (view.partition.*Get)();
    return present(limit != 0 && limit != unlimited, limit);
}

Value available_of(const PartitionView& view) {
    return view->state() == to_string(PartitionState::inactive) ? "inact" : lower(view->state());
}
Value job_size_of(const PartitionView& view) {
    const auto least = std::max(1U, view->min_nodes()), most = view->max_nodes();
    if (most == unlimited) return fmt::format("{}-infinite", least);
    return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

// Factors of priority; Slurm keeps the numbers above for itself.
template <auto Member>
Result<void> set_priority(Partition& to, const Setting& setting) {
    SPUR_TRY(const auto value, read_count(setting));
    to.*Member = static_cast<std::uint16_t>(std::min(value, 65533U));
    return {};
}

Result<void> set_preempt_mode(Partition& to, const Setting& setting) {
    const auto mode = find_preempt_mode(setting.value);
    if (!mode || *mode == PreemptMode::unset)
        return fail(ErrorCode::invalid, "PreemptMode={} is not {}", setting.value,
                    fmt::join(std::span{preempt_modes}.subspan(1), ", "));
    to.preempt_mode = *mode;
    return {};
}

Result<void> set_state(Partition& to, const Setting& setting) {
    const auto state = find_partition_state(setting.value);
    if (!state) return fail(ErrorCode::invalid, "State={} is not UP, DOWN, DRAIN or INACTIVE", setting.value);
    to.state = *state;
    return {};
}

Result<void> set_oversubscribe(Partition& to, const Setting& setting) {
    static constexpr std::string_view words[] = {"NO", "YES", "FORCE", "EXCLUSIVE"};  // as OverSubscribe counts them
    const auto colon = setting.value.find(':');
    const auto* const word = std::ranges::find(words, setting.value.substr(0, colon));
    if (word == std::end(words))
        return fail(ErrorCode::invalid, "OverSubscribe={} is not {}", setting.value, fmt::join(words, ", "));
    to.oversubscribe = static_cast<OverSubscribe>(word - words);
    if (colon == std::string_view::npos) return {};
    SPUR_TRY(const auto jobs, read_count({setting.key, setting.value.substr(colon + 1)}));
    to.oversubscribe_jobs = static_cast<std::uint16_t>(std::min(jobs, 65535U));
    return {};
}

using enum PartitionFieldId;
constexpr auto infinite = AbsentNumber::infinite;
constexpr Absent all{"all", "ALL"};

// clang-format off
constexpr PartitionField rows[] = {
    {.id = name, .name = "PartitionName", .listing = {'R', "partitionname", "PARTITION"}, .json = "name",
     .member = "name", .get = of_partition<&P::name>},
    {.id = name_starred, .listing = {'P', "partition", "PARTITION", Cut::keep_star},
     .get = [](const PartitionView& part) -> Value { return part->name() + (part->is_default() ? "*" : ""); }},
    {.id = allow_groups, .name = "AllowGroups", .listing = {'g', "groups", "GROUPS"}, .json = "allowed_groups",
     .member = "allow_groups", .absent = all, .get = of_partition<&P::allow_groups>,
     .change = {"allowgroups", 5, set_names_or_all<&Partition::allow_groups>}},
    {.id = allow_accounts, .name = "AllowAccounts", .json = "allowed_accounts", .member = "allow_accounts",
     .absent = all, .get = of_partition<&P::allow_accounts>,
     .change = {"allowaccounts", 7, set_names_or_all<&Partition::allow_accounts>}},
    {.id = deny_accounts, .name = "DenyAccounts", .json = "denied_accounts", .member = "deny_accounts",
     .absent = {.record = left_out}, .get = of_partition<&P::deny_accounts>,
     .change = {"denyaccounts", 5, set_names_or_all<&Partition::deny_accounts>}},
    {.id = allow_qos, .name = "AllowQos", .json = "allowed_qos", .member = "allow_qos", .absent = all,
     .get = of_partition<&P::allow_qos>, .change = {"allowqos", 6, set_names_or_all<&Partition::allow_qos>}},
    {.id = deny_qos, .name = "DenyQos", .json = "denied_qos", .member = "deny_qos", .absent = {.record = left_out},
     .get = of_partition<&P::deny_qos>, .change = {"denyqos", 5, set_names_or_all<&Partition::deny_qos>}},
    {.id = alloc_nodes, .name = "AllocNodes", .listing = {'S', "allocnodes", "ALLOCNODES"},
     .json = "allowed_allocation_nodes", .member = "allow_alloc_nodes", .absent = all,
     .get = of_partition<&P::alloc_nodes>, .change = {"allocnodes", 4}},
    {.id = alternate, .name = "Alternate", .json = "alternative", .member = "alternate",
     .absent = {.record = left_out}, .get = of_partition<&P::alternate>,
     .change = {"alternate", 3, set_text<&Partition::alternate>}},
    {.id = is_default, .name = "Default", .type = Type::yes_no, .get = of_partition<&P::is_default>,
     .change = {"default", 7, set_flag<&Partition::is_default>}},
    {.id = qos, .name = "QoS", .json = "qos", .member = "qos_char", .absent = {.record = "N/A"},
     .get = of_partition<&P::qos>, .change = {"qos", 2, set_text<&Partition::qos>}},
    {.id = default_time, .name = "DefaultTime", .listing = {'L', "defaulttime", "DEFAULTTIME"},
     .json = "default_time_limit", .member = "default_time", .type = Type::minutes,
     .absent = {"n/a", "NONE", AbsentNumber::no_val}, .get = if_any<&P::default_time_min>,
     .change = {"defaulttime", 8, set_minutes<&Partition::default_time_min>}},
    {.id = disable_root_jobs, .name = "DisableRootJobs", .type = Type::yes_no,
     .get = of_partition<&P::disable_root_jobs>,
     .change = {"disablerootjobs", 3, set_flag<&Partition::disable_root_jobs>}},
    {.id = exclusive_user, .name = "ExclusiveUser", .type = Type::yes_no, .get = of_partition<&P::exclusive_user>,
     .change = {"exclusiveuser", 3, set_flag<&Partition::exclusive_user>}},
    {.id = grace_time, .name = "GraceTime", .json = "preemption_grace_time", .member = "grace_time",
     .type = Type::count, .get = of_partition<&P::grace_time_s>,
     .change = {"gracetime", 5, set_count<&Partition::grace_time_s>}},
    {.id = hidden, .name = "Hidden", .type = Type::yes_no, .get = of_partition<&P::hidden>,
     .change = {"hidden", 1, set_flag<&Partition::hidden>}},
    {.id = max_nodes, .name = "MaxNodes", .json = "maximum_nodes_per_job", .member = "max_nodes", .type = Type::count,
     .absent = {"infinite", "UNLIMITED", infinite},
     .get = [](const PartitionView& part) { return present(part->max_nodes() != unlimited, part->max_nodes()); },
     .change = {"maxnodes", 4, set_count<&Partition::max_nodes>}},
    {.id = max_time, .name = "MaxTime", .listing = {'l', "time", "TIMELIMIT"}, .json = "max_time_limit",
     .member = "max_time", .type = Type::minutes, .absent = {"infinite", "UNLIMITED", infinite},
     .get = if_limited<&P::max_time_min>, .sort = of_partition<&P::max_time_min>,
     .change = {"maxtime", 4, set_minutes<&Partition::max_time_min>}},
    {.id = min_nodes, .name = "MinNodes", .json = "min nodes per job", .member = "min_nodes", .type = Type::count,
     .get = of_partition<&P::min_nodes>, .change = {"minnodes", 2, set_count<&Partition::min_nodes>}},
    {.id = job_size, .listing = {'s', "size", "JOB_SIZE"}, .get = job_size_of},
    {.id = lln, .name = "LLN", .type = Type::yes_no, .get = of_partition<&P::lln>,
     .change = {"lln", 1, set_flag<&Partition::lln>}},
    {.id = max_cpus_per_node, .name = "MaxCPUsPerNode", .listing = {'B', "maxcpuspernode", "MAX_CPUS_PER_NODE"},
     .json = "maximum_cpus_per_node", .member = "max_cpus_per_node", .type = Type::count,
     .absent = {"UNLIMITED", "UNLIMITED", infinite}, .get = if_limited<&P::max_cpus_per_node>,
     .sort = of_partition<&P::max_cpus_per_node>,
     .change = {"maxcpuspernode", 4, set_count<&Partition::max_cpus_per_node>}},
    {.id = nodes, .name = "Nodes", .json = "nodes", .member = "nodes", .get = of_partition<&P::nodes>,
     .change = {"nodes", 2, set_text<&Partition::node_text>}},
    {.id = priority_job_factor, .name = "PriorityJobFactor", .listing = {'I', "priorityjobfactor", "PRIO_JOB_FACTOR"},
     .json = "priority_job_factor", .member = "priority_job_factor", .type = Type::count,
     .get = of_partition<&P::priority_job_factor>,
     .change = {"priorityjobfactor", 9, set_priority<&Partition::priority_job_factor>}},
    {.id = priority_tier, .name = "PriorityTier",
     .listing = {'p', "prioritytier", "PRIO_TIER", Cut::always, false, "priority"}, .json = "priority_tier",
     .member = "priority_tier", .type = Type::count, .get = of_partition<&P::priority_tier>,
     .change = {"prioritytier", 9, set_priority<&Partition::priority_tier>, "priority", 3}},
    {.id = root_only, .name = "RootOnly", .listing = {'r', "root", "ROOT"}, .type = Type::yes_no,
     .get = of_partition<&P::root_only>, .change = {"rootonly", 2, set_flag<&Partition::root_only>}},
    {.id = require_reservation, .name = "ReqResv", .type = Type::yes_no, .get = of_partition<&P::require_reservation>,
     .change = {"reqresv", 3, set_flag<&Partition::require_reservation>}},
    {.id = oversubscribe, .name = "OverSubscribe", .listing = {'h', "oversubscribe", "OVERSUBSCRIBE"},
     .member = "max_share", .get = of_partition<&P::oversubscribe>,
     .change = {"oversubscribe", 5, set_oversubscribe, "shared", 2}},
    {.id = over_time_limit, .name = "OverTimeLimit", .json = "over_time_limit", .member = "over_time_limit",
     .type = Type::count, .absent = {.record = "NONE", .number = AbsentNumber::no_val},
     .get = [](const PartitionView& part) -> Value {
         return part->over_time_limit_min() == unlimited ? Value{"UNLIMITED"} : nonzero(part->over_time_limit_min());
     },
     .change = {"overtimelimit", 5}},
    {.id = preempt_mode, .name = "PreemptMode", .listing = {'M', "preemptmode", "PREEMPT_MODE"},
     .json = "preemption_mode", .member = "preempt_mode", .get = of_partition<&P::preempt_mode>,
     .change = {"preemptmode", 3, set_preempt_mode}},
    {.id = state, .name = "State", .json = "state", .member = "state_up", .get = of_partition<&P::state>,
     .change = {"state", 2, set_state}},
    {.id = available, .listing = {'a', "available", "AVAIL"}, .get = available_of},
    {.id = total_cpus, .name = "TotalCPUs", .json = "total_cpus", .member = "total_cpus", .type = Type::count,
     .get = of_partition<&P::total_cpus>},
    {.id = total_nodes, .name = "TotalNodes", .json = "total_nodes", .member = "total_nodes", .type = Type::count,
     .get = of_partition<&P::total_nodes>},
    {.id = select_type_parameters, .name = "SelectTypeParameters", .member = "cr_type", .absent = {.record = "NONE"},
     .get = nothing},
    {.id = job_defaults, .name = "JobDefaults", .member = "job_defaults_str", .get = of_partition<&P::job_defaults>},
    {.id = default_memory_per_cpu, .name = "DefMemPerCPU", .json = "default_memory_per_cpu", .type = Type::count,
     .absent = {.record = left_out, .number = infinite}, .get = if_any<&P::default_mem_per_cpu_mib>,
     .change = {"defmempercpu", 10, set_mib<&Partition::default_mem_per_cpu_mib>}},
    {.id = default_memory_per_node, .name = "DefMemPerNode", .json = "default_memory_per_node",
     .member = "def_mem_per_cpu", .type = Type::count, .absent = {.record = "UNLIMITED", .number = infinite},
     .get = if_any<&P::default_mem_per_node_mib>,
     .change = {"defmempernode", 10, set_mib<&Partition::default_mem_per_node_mib>}},
    {.id = max_memory_per_cpu, .name = "MaxMemPerCPU", .json = "maximum_memory_per_cpu", .type = Type::count,
     .absent = {.record = left_out, .number = infinite}, .get = if_any<&P::max_mem_per_cpu_mib>,
     .change = {"maxmempercpu", 10, set_mib<&Partition::max_mem_per_cpu_mib>}},
    {.id = max_memory_per_node, .name = "MaxMemPerNode", .json = "maximum_memory_per_node",
     .member = "max_mem_per_cpu", .type = Type::count, .absent = {.record = "UNLIMITED", .number = infinite},
     .get = if_any<&P::max_mem_per_node_mib>,
     .change = {"maxmempernode", 10, set_mib<&Partition::max_mem_per_node_mib>}},
    {.id = tres, .name = "TRES", .json = "tres", .member = "tres_fmt_str", .absent = {.record = left_out},
     .get = of_partition<&P::tres>},
    {.id = billing_weights, .name = "TRESBillingWeights", .json = "billing_weights", .member = "billing_weights_str",
     .absent = {.record = left_out}, .get = of_partition<&P::billing_weights>},
};
// clang-format on
static_assert(covers_all(rows), "a field without a row would be invisible");

}  // namespace

std::span<const PartitionField> partition_fields() { return rows; }
const PartitionField& partition_field(PartitionFieldId id) { return rows[static_cast<std::size_t>(id)]; }

}  // namespace spur::records
