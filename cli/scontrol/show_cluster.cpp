// scontrol show node, partition, reservation, config.
#include "cli/common/job_text.hpp"
#include "cli/common/node_text.hpp"
#include "cli/scontrol/show.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

namespace spur::cli::scontrol {
namespace {

constexpr std::uint32_t infinite = 0xffffffffU;

const char* yes_no(bool value) { return value ? "YES" : "NO"; }
std::string count_or_unlimited(std::uint32_t value) {
    return value == infinite ? "UNLIMITED" : fmt::format("{}", value);
}
std::string limit_or(std::uint32_t minutes, const char* absent) {
    return minutes == 0 ? absent : print_long_limit(minutes);
}

}  // namespace

std::string node_text(const v1::Node& node, const Style& style) {
    const auto moment = [&](std::int64_t time) { return time_text(time, style.now, "None"); };
    Record record;
    if (node.architecture().empty())
        record.line("NodeName={} CoresPerSocket={} ", node.name(), node.cores_per_socket());
    else
        record.line("NodeName={} Arch={} CoresPerSocket={} ", node.name(), node.architecture(),
                    node.cores_per_socket());
    const auto threads = std::max(1U, node.threads_per_core());
    const auto kept = node.core_spec() * threads;
    record.line("CPUAlloc={} CPUEfctv={} CPUTot={} CPULoad={}", node.alloc_cpus(),
                node.cpus() - std::min(node.cpus(), kept), node.cpus(), load_text(node.load()));
    record.line("AvailableFeatures={}", shown(joined(node.features())));
    record.line("ActiveFeatures={}", shown(joined(node.active_features())));
    record.line("Gres={}", shown(gres_text(node)));
    if (style.details > 0) {
        record.line("GresDrain=N/A");
        record.line("GresUsed={}", shown(gres_used_text(node)));
    }
    const auto port = node.port() == 0 ? std::string{} : fmt::format(" Port={}", node.port());
    record.line("NodeAddr={} NodeHostName={}{} Version={}", shown(node.addr()), shown(node.hostname()), port,
                shown(node.version()));
    if (!node.os().empty()) record.line("OS={} ", node.os());
    record.line("RealMemory={} AllocMem={} FreeMem={} Sockets={} Boards={}", node.memory_mib(), node.alloc_memory_mib(),
                node.free_memory_mib() ? fmt::format("{}", node.free_memory_mib()) : "N/A", node.sockets(),
                std::max(1U, node.boards()));
    if (node.core_spec() != 0 || node.mem_spec_mib() != 0)
        record.line("CoreSpecCount={} CPUSpecList=N/A MemSpecLimit={}", node.core_spec(), node.mem_spec_mib());
    record.line("State={} ThreadsPerCore={} TmpDisk={} Weight={} Owner={} MCS_label=N/A", node.state(),
                node.threads_per_core(), node.tmp_mib(), node.weight(), shown(node.owner(), "N/A"));
    if (!node.partitions().empty()) record.line("Partitions={} ", joined(node.partitions()));
    record.line("BootTime={} SlurmdStartTime={}", moment(node.boot_time()), moment(node.start_time()));
    record.line("LastBusyTime={}", time_text(node.last_busy(), style.now, "Unknown"));
    record.line("CfgTRES={}", node.tres_configured());
    record.line("AllocTRES={}", node.tres_allocated());
    record.line("CapWatts=n/a");
    record.line("CurrentWatts=0 AveWatts=0");
    record.line("ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s");
    if (!node.reason().empty())
        record.line("Reason={} [{}@{}]", node.reason(), shown(node.reason_user(), "Unknown"),
                    time_text(node.reason_time(), style.now, "Unknown"));
    if (!node.comment().empty()) record.line("Comment={}", node.comment());
    if (node.clock_skew_s() != 0) record.line("ClockSkew={}s", node.clock_skew_s());
    if (!node.extra().empty()) record.line("Extra={}", node.extra());
    if (const auto lacking = unenforced_text(node); !lacking.empty()) record.line("Unenforced={}", lacking);
    return record.text(style);
}

std::string partition_text(const v1::Partition& partition, const Style& style) {
    Record record;
    const auto memory = [](std::uint64_t per_cpu, std::uint64_t per_node, const char* what) {
        if (per_cpu != 0) return fmt::format("{}MemPerCPU={}", what, per_cpu);
        return fmt::format("{}MemPerNode={}", what, per_node ? fmt::format("{}", per_node) : "UNLIMITED");
    };
    record.line("PartitionName={}", partition.name());
    const auto accounts = partition.deny_accounts().empty()
                              ? "AllowAccounts=" + shown(partition.allow_accounts(), "ALL")
                              : "DenyAccounts=" + partition.deny_accounts();
    const auto qos = partition.deny_qos().empty() ? "AllowQos=" + shown(partition.allow_qos(), "ALL")
                                                  : "DenyQos=" + partition.deny_qos();
    record.line("AllowGroups={} {} {}", shown(partition.allow_groups(), "ALL"), accounts, qos);
    const auto alternate = partition.alternate().empty() ? "" : " Alternate=" + partition.alternate();
    record.line("AllocNodes=ALL{} Default={} QoS={}", alternate, yes_no(partition.is_default()),
                shown(partition.qos(), "N/A"));
    record.line("DefaultTime={} DisableRootJobs=NO ExclusiveUser={} GraceTime={} Hidden={}",
                limit_or(partition.default_time_min(), "NONE"), yes_no(partition.exclusive_user()),
                partition.grace_time_s(), yes_no(partition.hidden()));
    const auto cpus = partition.max_cpus_per_node();
    record.line("MaxNodes={} MaxTime={} MinNodes={} LLN={} MaxCPUsPerNode={}",
                count_or_unlimited(partition.max_nodes()), limit_or(partition.max_time_min(), "UNLIMITED"),
                partition.min_nodes(), yes_no(partition.lln()), cpus ? count_or_unlimited(cpus) : "UNLIMITED");
    record.line("Nodes={}", shown(partition.nodes()));
    record.line("PriorityJobFactor={} PriorityTier={} RootOnly={} ReqResv={} OverSubscribe={}",
                partition.priority_job_factor(), partition.priority_tier(), yes_no(partition.root_only()),
                yes_no(partition.require_reservation()), shown(partition.oversubscribe(), "NO"));
    record.line("OverTimeLimit=NONE PreemptMode={}", shown(partition.preempt_mode(), "OFF"));
    record.line("State={} TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE", partition.state(),
                partition.total_cpus(), partition.total_nodes());
    record.line("JobDefaults=(null)");
    record.line("{} {}", memory(partition.default_mem_per_cpu_mib(), partition.default_mem_per_node_mib(), "Def"),
                memory(partition.max_mem_per_cpu_mib(), partition.max_mem_per_node_mib(), "Max"));
    if (!partition.tres().empty()) record.line("TRES={}", partition.tres());
    if (!partition.billing_weights().empty()) record.line("TRESBillingWeights={}", partition.billing_weights());
    return record.text(style);
}

std::string reservation_text(const v1::Reservation& reservation, const Style& style) {
    Record record;
    record.line("ReservationName={} StartTime={} EndTime={} Duration={}", reservation.name(),
                time_text(reservation.start_time(), style.now, "Unknown"),
                time_text(reservation.end_time(), style.now, "Unknown"),
                print_long_duration(reservation.end_time() - reservation.start_time()));
    record.line("Nodes={} NodeCnt={} CoreCnt={} Features={} PartitionName={} Flags={}", shown(reservation.nodes()),
                reservation.node_count(), reservation.core_count(), shown(reservation.features()),
                shown(reservation.partition()), reservation.flags());
    for (const auto& cores : reservation.core_ids()) record.line("  {}", cores);
    record.line("TRES={}", shown(reservation.tres()));
    record.line("Users={} Groups={} Accounts={} Licenses={} State={} BurstBuffer=(null) Watts=n/a",
                shown(reservation.users()), shown(reservation.groups()), shown(reservation.accounts()),
                shown(reservation.licenses()), reservation.state());
    record.line("MaxStartDelay=(null)");
    return record.text(style);
}

std::string config_text(const v1::GetConfigReply& reply, const Style& style) {
    std::string text = fmt::format("Configuration data as of {}\n", time_text(style.now, style.now, "Unknown"));
    for (const auto& item : reply.items()) text += fmt::format("{:<23} = {}\n", item.key(), shown(item.value()));
    return text + "\n";
}

}  // namespace spur::cli::scontrol
