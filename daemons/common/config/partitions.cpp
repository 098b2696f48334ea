// [[partitions]]: the names are those of slurm.conf in snake_case. An entry named DEFAULT gives defaults to those that
// follow.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/suggest.hpp"
#include "daemons/common/config/sections.hpp"

namespace spur::config {
namespace {

using K = Key<Partition>;
using In = const Reading&;
using To = Partition&;

constexpr std::string_view default_entry = "DEFAULT";
constexpr std::array<std::string_view, 4> states{"UP", "DOWN", "DRAIN", "INACTIVE"};
constexpr auto own_preempt_modes = std::span{preempt_modes}.subspan(1);  // CLUSTER is for QOSes

void read_text(const Reading& in, Text& out) {
    std::string text;
    in.text(text);
    out = text;
}

// "ALL" stands for everyone, which is what an empty list means.
void read_names(const Reading& in, std::vector<Text>& out) {
    std::vector<std::string> words;
    in.words(words);
    if (words.size() == 1 && equal_nocase(words[0], "ALL")) words.clear();
    out.assign(words.begin(), words.end());
}

void read_mib(const Reading& in, std::optional<std::uint64_t>& out) {
    if (is_unlimited(in.value())) return out.reset();
    std::uint64_t mib = 0;
    in.mib(mib);
    out = mib;
}

void read_nodes_of(const Reading& in, Text& out) {
    std::vector<std::string> parts;
    if (const auto* const text = in.value().find<std::string>())
        parts = {*text};
    else
        in.words(parts);
    const auto joined = fmt::format("{}", fmt::join(parts, ","));
    if (equal_nocase(joined, "ALL")) {
        out = "ALL";
        return;
    }
    if (const auto list = HostList::parse(joined); !list)
        return in.refuse("is {}: {}", spur::quoted(joined), list.error().text);
    out = joined;
}

// "NO", "YES", "YES:4", "FORCE:8", "EXCLUSIVE".
void read_oversubscribe(const Reading& in, Partition& to) {
    std::string text;
    in.text(text);
    if (text.empty()) return;
    const auto colon = text.find(':');
    const auto word = std::string_view{text}.substr(0, colon);
    constexpr std::array<std::string_view, 4> words{"NO", "YES", "FORCE", "EXCLUSIVE"};
    const auto* const found = std::ranges::find_if(words, [&](auto known) { return equal_nocase(known, word); });
    const auto jobs = colon == std::string::npos ? std::optional<std::uint64_t>{4}
                                                 : find_unsigned(std::string_view{text}.substr(colon + 1));
    const bool takes_count = found != words.end() && (*found == "YES" || *found == "FORCE");
    if (found == words.end() || !jobs || *jobs == 0 || *jobs > 64'000 || (colon != std::string::npos && !takes_count))
        return in.refuse("must be NO, YES, YES:jobs, FORCE, FORCE:jobs or EXCLUSIVE, not {}", spur::quoted(text));
    to.oversubscribe = static_cast<OverSubscribe>(found - words.begin());
    to.oversubscribe_jobs = static_cast<std::uint16_t>(*jobs);
}

std::optional<double> parse_weight(std::string_view text, bool is_memory) {
    double weight = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    if (error != std::errc{} || !std::isfinite(weight) || weight < 0) return std::nullopt;
    if (!is_memory) return unit.empty() ? std::optional{weight} : std::nullopt;
    // Slurm's base unit is the MiB; ours the GiB.
    if (unit.empty() || equal_nocase(unit, "M")) return weight * 1024;
    if (equal_nocase(unit, "K")) return weight * 1024 * 1024;
    if (equal_nocase(unit, "G")) return weight;
    if (equal_nocase(unit, "T")) return weight / 1024;
    return std::nullopt;
}

// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0", or the same as a table.
void read_billing_weights(const Reading& in, std::vector<BillingWeight>& out) {
    std::vector<BillingWeight> weights;
    const auto add = [&](std::string_view tres, std::string_view text) {
        const auto weight = parse_weight(trim(text), equal_nocase(trim(tres), "mem"));
        if (!weight || trim(tres).empty())
            return in.refuse("must be like \"CPU=1.0,Mem=0.25G,GRES/gpu=2.0\", and {}={} is not", tres, text), false;
        weights.push_back({Text{trim(tres)}, *weight});
        return true;
    };
    if (const auto* const table = in.value().find<TomlTable>()) {
        for (const auto& [tres, line, value] : *table) {
            const auto* const text = value.find<std::string>();
            if (!add(tres, text != nullptr ? *text : value.describe())) return;
        }
    } else {
        std::vector<std::string> words;
        in.words(words);
        for (const auto& word : words) {
            const auto equals = word.find('=');
            if (!add(std::string_view{word}.substr(0, equals),
                     equals == std::string::npos ? "" : std::string_view{word}.substr(equals + 1)))
                return;
        }
    }
    out = std::move(weights);
}

constexpr std::array keys{
    K{
        "name", "text", "", "PartitionName; required", [](In in, To to) { read_text(in, to.name); }  // namespace
    }  // namespace spur::config
    ,
    K{"nodes", "hostlist", "", "Nodes: \"gpu[001-064]\", or ALL",
      [](In in, To to) { read_nodes_of(in, to.node_text); }},
    K{"default", "yes or no", "false", "Default: jobs that name no partition go here",
      [](In in, To to) { in.yes_no(to.is_default); }},
    K{"state", "choice", "UP", "State: UP, DOWN, DRAIN or INACTIVE",
      [](In in, To to) {
          if (const auto choice = in.choice(states)) to.state = static_cast<PartitionState>(*choice);
      }},
    K{"max_time", "minutes", "UNLIMITED", "MaxTime: 90, \"72:00:00\", \"UNLIMITED\"",
      [](In in, To to) { in.limit_minutes(to.max_time_min); }},
    K{"default_time", "minutes", "max_time", "DefaultTime, for jobs that give no limit",
      [](In in, To to) { in.limit_minutes(to.default_time_min); }},
    K{"min_nodes", "count", "0", "MinNodes", [](In in, To to) { in.count(to.min_nodes); }},
    K{"max_nodes", "count", "UNLIMITED", "MaxNodes",
      [](In in, To to) { in.count_or_unlimited(to.max_nodes, unlimited); }},
    K{"max_cpus_per_node", "count", "UNLIMITED", "MaxCPUsPerNode",
      [](In in, To to) { in.count_or_unlimited(to.max_cpus_per_node, unlimited); }},
    K{"priority_tier", "count", "1", "PriorityTier: higher ones are planned first and may preempt",
      [](In in, To to) { in.count(to.priority_tier, 0, 65'533); }},
    K{"priority_job_factor", "count", "1", "PriorityJobFactor, for the priority plugin",
      [](In in, To to) { in.count(to.priority_job_factor, 0, 65'533); }},
    K{"hidden", "yes or no", "false", "Hidden from listings", [](In in, To to) { in.yes_no(to.hidden); }},
    K{"root_only", "yes or no", "false", "RootOnly: only root may submit",
      [](In in, To to) { in.yes_no(to.root_only); }},
    K{"req_resv", "yes or no", "false", "ReqResv: only with a reservation",
      [](In in, To to) { in.yes_no(to.require_reservation); }},
    K{"exclusive_user", "yes or no", "false", "ExclusiveUser: nodes are not shared between users",
      [](In in, To to) { in.yes_no(to.exclusive_user); }},
    K{"disable_root_jobs", "yes or no", "false", "DisableRootJobs",
      [](In in, To to) { in.yes_no(to.disable_root_jobs); }},
    K{"lln", "yes or no", "false", "LLN: least loaded nodes first", [](In in, To to) { in.yes_no(to.lln); }},
    K{"oversubscribe", "text", "NO", "OverSubscribe: NO, YES:4, FORCE:4 or EXCLUSIVE",
      [](In in, To to) { read_oversubscribe(in, to); }},
    K{"preempt_mode", "choice", "the cluster's", "PreemptMode: OFF, CANCEL, REQUEUE, SUSPEND or GANG",
      [](In in, To to) {
          if (const auto choice = in.choice(own_preempt_modes)) to.preempt_mode = static_cast<PreemptMode>(*choice + 1);
      }},
    K{"grace_time", "duration", "0", "GraceTime: from the warning to the end of a preempted job",
      [](In in, To to) { in.seconds(to.grace_time_s); }},
    K{"over_time_limit", "minutes", "0", "OverTimeLimit",
      [](In in, To to) { in.limit_minutes(to.over_time_limit_min); }},
    K{"allow_groups", "list of texts", "ALL", "AllowGroups", [](In in, To to) { read_names(in, to.allow_groups); }},
    K{"allow_accounts", "list of texts", "ALL", "AllowAccounts",
      [](In in, To to) { read_names(in, to.allow_accounts); }},
    K{"deny_accounts", "list of texts", "[]", "DenyAccounts", [](In in, To to) { read_names(in, to.deny_accounts); }},
    K{"allow_qos", "list of texts", "ALL", "AllowQos", [](In in, To to) { read_names(in, to.allow_qos); }},
    K{"deny_qos", "list of texts", "[]", "DenyQos", [](In in, To to) { read_names(in, to.deny_qos); }},
    K{"alloc_nodes", "list of texts", "ALL", "AllocNodes: where submits may come from",
      [](In in, To to) { read_names(in, to.allow_alloc_nodes); }},
    K{"qos", "text", "", "QOS: limits of this QOS apply to the partition", [](In in, To to) { read_text(in, to.qos); }},
    K{"def_mem_per_cpu", "MiB", "the cluster's", "DefMemPerCPU",
      [](In in, To to) { read_mib(in, to.default_mem_per_cpu_mib); }},
    K{"def_mem_per_node", "MiB", "the cluster's", "DefMemPerNode",
      [](In in, To to) { read_mib(in, to.default_mem_per_node_mib); }},
    K{"def_mem_per_gpu", "MiB", "none", "DefMemPerGPU", [](In in, To to) { read_mib(in, to.default_mem_per_gpu_mib); }},
    K{"max_mem_per_cpu", "MiB", "the cluster's", "MaxMemPerCPU",
      [](In in, To to) { read_mib(in, to.max_mem_per_cpu_mib); }},
    K{"max_mem_per_node", "MiB", "the cluster's", "MaxMemPerNode",
      [](In in, To to) { read_mib(in, to.max_mem_per_node_mib); }},
    K{"def_cpu_per_gpu", "count", "none", "DefCpuPerGPU",
      [](In in, To to) {
          if (const auto cpus = in.whole(0, 65'533)) to.default_cpus_per_gpu = static_cast<std::uint32_t>(*cpus);
      }},
    K{"tres_billing_weights", "text or table", "", "TRESBillingWeights: \"CPU=1.0,Mem=0.25G,GRES/gpu=2.0\"",
      [](In in, To to) { read_billing_weights(in, to.billing_weights); }},
    K{"alternate", "text", "", "Alternate: where jobs go while this one is drained or inactive",
      [](In in, To to) { read_text(in, to.alternate); }},
};

void check_nodes(const Partition& partition, std::uint32_t line, const Drafts& drafts, Problems& problems) {
    if (partition.node_text.empty() || partition.node_text == "ALL") return;
    const auto names = expand_hosts(partition.node_text.view());
    if (!names) return;
    std::vector<std::string> missing;
    for (const auto& name : *names)
        if (!drafts.node_lines.contains(name)) missing.push_back(name);
    if (!missing.empty())
        problems.add(line, "partition {}: no [[nodes]] describes {}", quoted(partition.name.view()),
                     compress_hosts(missing));
}

}  // namespace

void read_partitions(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems) {
    const auto* const list = entry.value.find<TomlList>();
    if (list == nullptr)
        return problems.add(entry.line, "partitions must be a list of tables: write [[partitions]] before each");
    Partition defaults;
    for (const auto& item : *list) {
        const auto* const table = item.find<TomlTable>();
        if (table == nullptr) {
            problems.add(item.line, "partitions must be a list of tables: write [[partitions]] before each");
            continue;
        }
        auto partition = defaults;
        partition.name = Text{};
        const auto named = std::ranges::find_if(*table, [](const auto& key) { return key.key == "name"; });
        const auto* const shown = named == table->end() ? nullptr : named->value.find<std::string>();
        read_entries(*table, "partitions",
                     shown == nullptr ? "[[partitions]] " : fmt::format("partition {}: ", spur::quoted(*shown)),
                     std::span<const K>{keys}, partition, problems);
        if (partition.name == default_entry) {
            defaults = std::move(partition);
        } else if (partition.name.empty()) {
            if (named == table->end() || shown != nullptr)
                problems.add(item.line, "[[partitions]] needs a name: add name = \"batch\"");
        } else {
            config.cluster.partitions.push_back(std::move(partition));
            drafts.partition_lines.push_back(item.line);
        }
    }
}

// What can only be judged with the whole file at hand.
void check_partitions(const Config& config, const Drafts& drafts, Problems& problems) {
    const auto& partitions = config.cluster.partitions;
    const Partition* chosen = nullptr;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        const auto& partition = partitions[i];
        const auto line = drafts.partition_lines[i];
        const auto name = quoted(partition.name.view());
        if (partition.name.view().find_first_of(", \t/") != std::string_view::npos ||
            equal_nocase(partition.name.view(), "ALL"))
            problems.add(line, "partition {}: that cannot be a name; use letters, digits, - and _", name);
        for (std::size_t j = 0; j < i; ++j)
            if (partitions[j].name == partition.name)
                problems.add(line, "partition {} is described twice, here and in line {}; remove one", name,
                             drafts.partition_lines[j]);
        if (partition.is_default && chosen != nullptr)
            problems.add(line, "partition {}: {} is the default already; only one can be", name,
                         quoted(chosen->name.view()));
        if (partition.is_default) chosen = &partition;
        if (partition.default_time_min > partition.max_time_min)
            problems.add(line, "partition {}: default_time is longer than max_time", name);
        if (partition.min_nodes > partition.max_nodes)
            problems.add(line, "partition {}: min_nodes is more than max_nodes", name);
        if (!partition.allow_accounts.empty() && !partition.deny_accounts.empty())
            problems.add(line, "partition {}: give allow_accounts or deny_accounts, not both", name);
        if (!partition.allow_qos.empty() && !partition.deny_qos.empty())
            problems.add(line, "partition {}: give allow_qos or deny_qos, not both", name);
        const auto exists =
            std::ranges::any_of(partitions, [&](const auto& other) { return other.name == partition.alternate; });
        if (!partition.alternate.empty() && !exists)
            problems.add(line, "partition {}: its alternate {} does not exist", name,
                         quoted(partition.alternate.view()));
        check_nodes(partition, line, drafts, problems);
    }
}

void list_partition_keys(std::vector<ConfigKey>& out) { list_keys("partitions", std::span<const K>{keys}, out); }

}  // namespace spur::config
