// The keys of jobs, nodes and partitions that can be updated, and how their values are read.
#include "daemons/spurctld/service/updates.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

namespace spur::ctld {

namespace {

using Value = const std::string&;
constexpr std::size_t longest_value = 64U << 10;  // the longest of core/machine/request_limits.hpp that can be changed

std::vector<Text> split(std::string_view text) {
    std::vector<Text> items;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (comma != 0) items.emplace_back(text.substr(0, comma));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return items;
}

Result<std::uint64_t> number(std::string_view key, std::string_view text) {
    std::uint64_t value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size())
        return fail(ErrorCode::invalid, "{}={} is not a number", key, text);
    return value;
}

Result<std::uint32_t> number32(std::string_view key, std::string_view text) {
    if (text == "UNLIMITED" || text == "INFINITE" || text == "-1") return unlimited;
    SPUR_TRY(const auto value, number(key, text));
    if (value > UINT32_MAX) return fail(ErrorCode::invalid, "{}={} is too large", key, text);
    return static_cast<std::uint32_t>(value);
}

Result<bool> yes_or_no(std::string_view key, std::string_view text) {
    for (const auto* word : {"yes", "YES", "Yes", "1", "true", "TRUE", "True"})
        if (text == word) return true;
    for (const auto* word : {"no", "NO", "No", "0", "false", "FALSE", "False"})
        if (text == word) return false;
    return fail(ErrorCode::invalid, "{}={} is neither yes nor no", key, text);
}

// "+10", "-5", "1:00:00": relative to what it is now where a sign says so.
Result<std::uint32_t> time_limit(std::string_view key, std::string_view text, std::uint32_t present) {
    const char sign = text.empty() ? '\0' : text.front();
    SPUR_TRY(const auto minutes, parse_limit_min(sign == '+' || sign == '-' ? text.substr(1) : text));
    if (sign != '+' && sign != '-') return minutes;
    if (present == unlimited) return fail(ErrorCode::invalid, "{}: there is no limit to change by {}", key, text);
    if (sign == '+') return present + minutes;
    if (minutes > present) return fail(ErrorCode::invalid, "{}: the limit is only {} minutes", key, present);
    return present - minutes;
}

template <class Target>
using Setter = std::function<Result<void>(Target&, Value)>;
template <class Target>
using Table = std::map<std::string, Setter<Target>, std::less<>>;

template <class Target>
Result<void> apply_all(const Table<Target>& table, const Settings& settings, Target& target, std::string_view what) {
    for (const auto& [key, value] : settings) {
        if (value.size() > longest_value)
            return fail(ErrorCode::invalid, "{} is {} bytes long, at most {} are taken", key, value.size(),
                        longest_value);
        const auto setter = table.find(key);
        if (setter == table.end())
            return fail(ErrorCode::invalid, "{} cannot be changed: a {} has no such setting in this release", key,
                        what);
        SPUR_CHECK(setter->second(target, value));
    }
    return {};
}

#define SPUR_SET_TEXT(key, field)                        \
    {                                                    \
        key, [](auto& target, Value v) -> Result<void> { \
            target.field = Text{v};                      \
            return {};                                   \
        }                                                \
    }
#define SPUR_SET_COUNT(key, field)                       \
    {                                                    \
        key, [](auto& target, Value v) -> Result<void> { \
            SPUR_TRY(target.field, number32(key, v));    \
            return {};                                   \
        }                                                \
    }
#define SPUR_SET_BOOL(key, field)                        \
    {                                                    \
        key, [](auto& target, Value v) -> Result<void> { \
            SPUR_TRY(target.field, yes_or_no(key, v));   \
            return {};                                   \
        }                                                \
    }
#define SPUR_SET_MINUTES(key, field)                     \
    {                                                    \
        key, [](auto& target, Value v) -> Result<void> { \
            SPUR_TRY(target.field, parse_limit_min(v));  \
            return {};                                   \
        }                                                \
    }
#define SPUR_SET_LIST(key, field)                                       \
    {                                                                   \
        key, [](auto& target, Value v) -> Result<void> {                \
            target.field = v == "ALL" ? std::vector<Text>{} : split(v); \
            return {};                                                  \
        }                                                               \
    }
#define SPUR_SET_MIB(key, field)                         \
    {                                                    \
        key, [](auto& target, Value v) -> Result<void> { \
            SPUR_TRY(target.field, parse_mib(v));        \
            return {};                                   \
        }                                                \
    }

Result<void> set_node_count(JobChanges& changes, Value text) {
    SPUR_TRY(const auto count, NodeCount::parse(text));
    changes.min_nodes = count.min;
    changes.max_nodes = count.max;
    return {};
}

// "1@5": at most one switch, wait five minutes for that.
Result<void> set_switches(JobChanges& changes, Value text) {
    const auto at = text.find('@');
    SPUR_TRY(changes.switches, number32("Switches", text.substr(0, at)));
    if (at == std::string::npos) return {};
    SPUR_TRY(const auto minutes, parse_limit_min(text.substr(at + 1)));
    changes.switches_wait_s = minutes == unlimited ? unlimited : minutes * 60;
    return {};
}

const Table<JobChanges>& plain_job_settings() {
    static const Table<JobChanges> table{
        SPUR_SET_TEXT("jobname", name),
        SPUR_SET_TEXT("name", name),
        SPUR_SET_TEXT("account", account),
        SPUR_SET_TEXT("qos", qos),
        SPUR_SET_TEXT("reservationname", reservation),
        SPUR_SET_TEXT("reservation", reservation),
        SPUR_SET_TEXT("features", features),
        SPUR_SET_TEXT("reqnodelist", node_list),
        SPUR_SET_TEXT("excnodelist", exclude_nodes),
        SPUR_SET_TEXT("licenses", licenses),
        SPUR_SET_TEXT("comment", comment),
        SPUR_SET_TEXT("admincomment", admin_comment),
        SPUR_SET_TEXT("dependency", dependency),
        SPUR_SET_TEXT("gres", gres_per_node),
        SPUR_SET_TEXT("tresspernode", gres_per_node),
        SPUR_SET_TEXT("stdout", std_out),
        SPUR_SET_TEXT("stderr", std_err),
        SPUR_SET_TEXT("stdin", std_in),
        SPUR_SET_TEXT("workdir", work_dir),
        SPUR_SET_TEXT("wckey", wckey),
        SPUR_SET_TEXT("mailuser", mail_user),
        SPUR_SET_TEXT("extra", extra),
        SPUR_SET_TEXT("systemcomment", system_comment),
        SPUR_SET_TEXT("prefer", prefer),
        SPUR_SET_TEXT("burstbuffer", burst_buffer),
        SPUR_SET_LIST("partition", partitions),
        SPUR_SET_COUNT("numtasks", tasks),
        SPUR_SET_COUNT("cpuspertask", cpus_per_task),
        SPUR_SET_COUNT("taskspernode", tasks_per_node),
        SPUR_SET_COUNT("mincpusnode", min_cpus_per_node),
        SPUR_SET_COUNT("arraytaskthrottle", array_limit),
        SPUR_SET_COUNT("corespec", core_spec),
        SPUR_SET_COUNT("reqsockets", sockets_per_node),
        SPUR_SET_COUNT("reqcores", cores_per_socket),
        SPUR_SET_COUNT("reqthreads", threads_per_core),
        SPUR_SET_COUNT("mailtype", mail_type),
        {"switches", set_switches},
        {"delayboot",
         [](JobChanges& changes, Value v) -> Result<void> {
             SPUR_TRY(const auto minutes, parse_limit_min(v));
             changes.delay_boot_s = minutes == unlimited ? unlimited : minutes * 60;
             return {};
         }},
        {"resetaccruetime",
         [](JobChanges& changes, Value) -> Result<void> {
             changes.reset_accrue_time = true;
             return {};
         }},
        SPUR_SET_MIB("minmemorynode", mem_per_node_mib),
        SPUR_SET_MIB("minmemorycpu", mem_per_cpu_mib),
        SPUR_SET_MIB("mintmpdisknode", min_tmp_mib),
        SPUR_SET_BOOL("requeue", requeue),
        SPUR_SET_BOOL("contiguous", contiguous),
        SPUR_SET_BOOL("shared", oversubscribe),
        SPUR_SET_BOOL("oversubscribe", oversubscribe),
        SPUR_SET_BOOL("killoninvaliddependent", kill_on_invalid_dependency),
        {"numnodes", set_node_count},
        {"reqnodes", set_node_count},
        {"minnodes", set_node_count},
        {"priority",
         [](JobChanges& changes, Value v) -> Result<void> {
             SPUR_TRY(changes.priority, number32("Priority", v));
             return {};
         }},
        {"nice",
         [](JobChanges& changes, Value v) -> Result<void> {
             std::int32_t nice{};
             const auto [rest, error] = std::from_chars(v.data(), v.data() + v.size(), nice);
             if (error != std::errc{} || rest != v.data() + v.size())
                 return fail(ErrorCode::invalid, "Nice={} is not a number", v);
             changes.nice = nice;
             return {};
         }},
    };
    return table;
}

Result<std::vector<NodeId>> node_ids(std::string_view names, const planning::ReadModel& model) {
    std::vector<NodeId> ids;
    if (names == "ALL" || names == "all") {
        for (const auto& [name, id] : *model.node_ids) ids.push_back(id);
        std::ranges::sort(ids);
        return ids;
    }
    SPUR_TRY(const auto hosts, expand_hosts(names));
    if (hosts.empty()) return fail(refusal::invalid_node);
    for (const auto& host : hosts) {
        const auto* node = model.find_node(host);
        if (node == nullptr) return fail(refusal::invalid_node.as(ErrorCode::not_found, " ({})", host));
        ids.push_back(node->id);
    }
    return ids;
}

Result<NodeAction> node_action(std::string_view state) {
    static const std::map<std::string, NodeAction, std::less<>> actions{
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
    std::string upper{state};
    for (auto& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    const auto found = actions.find(upper);
    if (found == actions.end()) return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " ({})", state));
    return found->second;
}

}  // namespace

Result<JobChanges> job_changes(const Settings& settings, const Job& job, const planning::ReadModel& model,
                               UnixSeconds now) {
    JobChanges changes;
    Table<JobChanges> table = plain_job_settings();
    table["timelimit"] = [&](JobChanges& c, Value v) -> Result<void> {
        SPUR_TRY(c.time_limit_min, time_limit("TimeLimit", v, job.time_limit_min));
        return {};
    };
    table["timemin"] = [](JobChanges& c, Value v) -> Result<void> {
        SPUR_TRY(c.time_min_min, parse_limit_min(v));
        return {};
    };
    for (const auto* key : {"starttime", "eligibletime"})
        table[key] = [&](JobChanges& c, Value v) -> Result<void> {
            SPUR_TRY(c.begin, parse_time(v, now));
            return {};
        };
    table["deadline"] = [&](JobChanges& c, Value v) -> Result<void> {
        SPUR_TRY(c.deadline, parse_time(v, now));
        return {};
    };
    table["endtime"] = [&](JobChanges& c, Value v) -> Result<void> {
        SPUR_TRY(c.end_time, parse_time(v, now));
        return {};
    };
    table["nodelist"] = [&](JobChanges& c, Value v) -> Result<void> {
        if (job.is_pending()) {
            c.node_list = Text{v};
            return {};
        }
        SPUR_TRY(c.keep_nodes, node_ids(v, model));
        return {};
    };
    // "numnodes" of a running job keeps the first so many.
    if (!job.is_pending() && job.allocation)
        table["numnodes"] = [&](JobChanges& c, Value v) -> Result<void> {
            SPUR_TRY(const auto count, NodeCount::parse(v));
            const auto& shares = job.allocation->shares;
            if (count.min > shares.size()) return fail(refusal::not_supported);
            std::vector<NodeId> keep;
            for (std::size_t i = 0; i < count.min; ++i) keep.push_back(shares[i].node);
            c.keep_nodes = std::move(keep);
            return {};
        };
    SPUR_CHECK(apply_all(table, settings, changes, "job"));
    return changes;
}

Result<UpdateNode> node_update(std::string_view names, const Settings& settings, const Actor& actor,
                               const planning::ReadModel& model) {
    UpdateNode update;
    update.actor = actor;
    SPUR_TRY(update.nodes, node_ids(names, model));
    static const Table<UpdateNode> table{
        SPUR_SET_TEXT("reason", reason),
        SPUR_SET_TEXT("comment", comment),
        SPUR_SET_TEXT("extra", extra),
        SPUR_SET_TEXT("nodeaddr", addr),
        SPUR_SET_TEXT("nodehostname", hostname),
        SPUR_SET_COUNT("weight", weight),
        SPUR_SET_LIST("availablefeatures", features),
        SPUR_SET_LIST("features", features),
        SPUR_SET_LIST("activefeatures", active_features),
        {"state",
         [](UpdateNode& target, Value v) -> Result<void> {
             SPUR_TRY(target.action, node_action(v));
             return {};
         }},
    };
    SPUR_CHECK(apply_all(table, settings, update, "node"));
    return update;
}

Result<Partition> changed_partition(Partition partition, const Settings& settings) {
    static const Table<Partition> table{
        SPUR_SET_TEXT("nodes", node_text),
        SPUR_SET_BOOL("default", is_default),
        SPUR_SET_BOOL("hidden", hidden),
        SPUR_SET_BOOL("rootonly", root_only),
        SPUR_SET_BOOL("lln", lln),
        SPUR_SET_BOOL("exclusiveuser", exclusive_user),
        SPUR_SET_BOOL("reqresv", require_reservation),
        SPUR_SET_MINUTES("maxtime", max_time_min),
        SPUR_SET_MINUTES("defaulttime", default_time_min),
        SPUR_SET_COUNT("maxnodes", max_nodes),
        SPUR_SET_COUNT("minnodes", min_nodes),
        SPUR_SET_COUNT("maxcpuspernode", max_cpus_per_node),
        SPUR_SET_COUNT("gracetime", grace_time_s),
        SPUR_SET_LIST("allowaccounts", allow_accounts),
        SPUR_SET_LIST("denyaccounts", deny_accounts),
        SPUR_SET_LIST("allowqos", allow_qos),
        SPUR_SET_LIST("denyqos", deny_qos),
        SPUR_SET_LIST("allowgroups", allow_groups),
        SPUR_SET_TEXT("qos", qos),
        SPUR_SET_TEXT("alternate", alternate),
        SPUR_SET_MIB("defmempercpu", default_mem_per_cpu_mib),
        SPUR_SET_MIB("defmempernode", default_mem_per_node_mib),
        SPUR_SET_MIB("maxmempercpu", max_mem_per_cpu_mib),
        SPUR_SET_MIB("maxmempernode", max_mem_per_node_mib),
        {"preemptmode",
         [](Partition& p, Value v) -> Result<void> {
             static const std::map<std::string, PreemptMode, std::less<>> modes{{"OFF", PreemptMode::off},
                                                                                {"CANCEL", PreemptMode::cancel},
                                                                                {"REQUEUE", PreemptMode::requeue},
                                                                                {"SUSPEND", PreemptMode::suspend},
                                                                                {"GANG", PreemptMode::gang}};
             std::string upper{v};
             for (auto& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
             const auto mode = modes.find(upper);
             if (mode == modes.end())
                 return fail(ErrorCode::invalid, "PreemptMode={} is not OFF, CANCEL, REQUEUE, SUSPEND or GANG", v);
             p.preempt_mode = mode->second;
             return {};
         }},
        {"prioritytier",
         [](Partition& p, Value v) -> Result<void> {
             SPUR_TRY(const auto tier, number32("PriorityTier", v));
             p.priority_tier = static_cast<std::uint16_t>(std::min(tier, 65533U));
             return {};
         }},
        {"priorityjobfactor",
         [](Partition& p, Value v) -> Result<void> {
             SPUR_TRY(const auto factor, number32("PriorityJobFactor", v));
             p.priority_job_factor = static_cast<std::uint16_t>(std::min(factor, 65533U));
             return {};
         }},
        {"state",
         [](Partition& p, Value v) -> Result<void> {
             const auto state = find_partition_state(v);
             if (!state) return fail(ErrorCode::invalid, "State={} is not UP, DOWN, DRAIN or INACTIVE", v);
             p.state = *state;
             return {};
         }},
        {"oversubscribe",
         [](Partition& p, Value v) -> Result<void> {
             const auto colon = v.find(':');
             const auto word = v.substr(0, colon);
             if (word == "NO")
                 p.oversubscribe = OverSubscribe::no;
             else if (word == "EXCLUSIVE")
                 p.oversubscribe = OverSubscribe::exclusive;
             else if (word == "YES")
                 p.oversubscribe = OverSubscribe::yes;
             else if (word == "FORCE")
                 p.oversubscribe = OverSubscribe::force;
             else
                 return fail(ErrorCode::invalid, "OverSubscribe={} is not NO, YES, FORCE or EXCLUSIVE", v);
             if (colon != std::string::npos) {
                 SPUR_TRY(const auto jobs, number32("OverSubscribe", v.substr(colon + 1)));
                 p.oversubscribe_jobs = static_cast<std::uint16_t>(std::min(jobs, 65535U));
             }
             return {};
         }},
    };
    SPUR_CHECK(apply_all(table, settings, partition, "partition"));
    return partition;
}

}  // namespace spur::ctld
