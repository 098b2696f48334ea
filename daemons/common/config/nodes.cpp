// [[nodes]]: one entry stands for all its names. An entry named DEFAULT gives defaults to those that follow, as in
// slurm.conf.
#include <algorithm>
#include <array>

#include "core/model/gres.hpp"
#include "core/model/gres_kind.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/config/sections.hpp"

namespace spur::config {
namespace {

struct Draft {
    NodeConfig node;
    std::optional<std::uint32_t> cpus, sockets, sockets_per_board, boards, cores_per_socket, threads_per_core;
    std::string names;
};
using K = Key<Draft>;
using In = const Reading&;
using To = Draft&;

constexpr std::string_view default_entry = "DEFAULT";

void read_count(const Reading& in, std::optional<std::uint32_t>& out) {
    std::uint32_t number = 0;
    if (in.whole(1, 65'533)) {
        in.count(number, 1, 65'533);
        out = number;
    }
}

void read_text(const Reading& in, Text& out) {
    std::string text;
    in.text(text);
    out = text;
}

void read_texts(const Reading& in, std::vector<Text>& out) {
    std::vector<std::string> words;
    in.words(words);
    out.assign(words.begin(), words.end());
}

// Devices of one name are numbered through all its types.
void read_gres(const Reading& in, std::vector<GresPool>& out) {
    std::vector<std::string> words;
    in.words(words);
    std::vector<GresPool> pools;
    for (const auto& word : words) {
        const auto parsed = parse_gres(word);
        if (!parsed) return in.refuse("is {}: {}", spur::quoted(word), parsed.error().text);
        for (const auto& gres : *parsed) {
            constexpr std::uint64_t most_devices = 1'024;
            GresPool pool{Text{gres.name}, Text{gres.type}, gres.count, 0, is_device_gres(gres.name)};
            for (const auto& other : pools) {
                if (other.name == pool.name && other.type == pool.type)
                    return in.refuse("names {} twice", spur::quoted(word));
                if (other.name == pool.name) pool.first_index += static_cast<std::uint32_t>(other.count);
            }
            if (pool.has_devices && pool.first_index + pool.count > most_devices)
                return in.refuse("gives a node more than {} GPUs", most_devices);
            pools.push_back(std::move(pool));
        }
    }
    out = std::move(pools);
}

void read_state(const Reading& in, NodeConfig& node) {
    struct State {
        std::string_view name;
        NodeState state;
        std::uint32_t flags;
    };
    static constexpr std::array<State, 8> states{{{"UNKNOWN", NodeState::unknown, 0},
                                                  {"UP", NodeState::unknown, 0},
                                                  {"IDLE", NodeState::idle, 0},
                                                  {"DOWN", NodeState::down, 0},
                                                  {"DRAIN", NodeState::unknown, node_flag::drain},
                                                  {"FAIL", NodeState::unknown, node_flag::fail},
                                                  {"FUTURE", NodeState::future, 0},
                                                  {"CLOUD", NodeState::unknown, node_flag::cloud}}};
    static constexpr auto names = [] {
        std::array<std::string_view, states.size()> all{};
        for (std::size_t i = 0; i < states.size(); ++i) all[i] = states[i].name;
        return all;
    }();
    if (const auto choice = in.choice(names)) {
        node.state = states[*choice].state;
        node.state_flags = states[*choice].flags;
    }
}

constexpr std::array keys{
    K{
        "names", "hostlist", "", "which nodes this entry describes: \"gpu[001-064]\"; required",
        [](In in, To to) {
            std::vector<std::string> parts;
            if (in.value().find<std::string>() != nullptr) return in.text(to.names);
            in.words(parts);
            to.names = fmt::format("{}", fmt::join(parts, ","));
        }  // namespace
    }      // namespace spur::config
    ,
    K{"cpus", "count", "1", "CPUs: all threads, or all cores where threads are not to be given out",
      [](In in, To to) { read_count(in, to.cpus); }},
    K{"boards", "count", "1", "Boards", [](In in, To to) { read_count(in, to.boards); }},
    K{"sockets", "count", "1", "Sockets, of the whole node", [](In in, To to) { read_count(in, to.sockets); }},
    K{"sockets_per_board", "count", "1", "SocketsPerBoard", [](In in, To to) { read_count(in, to.sockets_per_board); }},
    K{"cores_per_socket", "count", "1", "CoresPerSocket", [](In in, To to) { read_count(in, to.cores_per_socket); }},
    K{"threads_per_core", "count", "1", "ThreadsPerCore", [](In in, To to) { read_count(in, to.threads_per_core); }},
    K{"memory_mb", "MiB", "1", "RealMemory", [](In in, To to) { in.mib(to.node.memory_mib); }},
    K{"tmp_mb", "MiB", "0", "TmpDisk", [](In in, To to) { in.mib(to.node.tmp_mib); }},
    K{"gres", "list of gres", "[]", "Gres: [\"gpu:mi300x:8\", \"nvme:2\"]",
      [](In in, To to) { read_gres(in, to.node.gres); }},
    K{"features", "list of texts", "[]", "Features, for --constraint",
      [](In in, To to) { read_texts(in, to.node.features); }},
    K{"weight", "count", "1", "Weight: nodes with lower ones are used first",
      [](In in, To to) { in.count(to.node.weight); }},
    K{"state", "choice", "UNKNOWN", "State: UNKNOWN, IDLE, DOWN, DRAIN, FAIL, FUTURE or CLOUD",
      [](In in, To to) { read_state(in, to.node); }},
    K{"reason", "text", "", "Reason, for DOWN, DRAIN and FAIL", [](In in, To to) { read_text(in, to.node.reason); }},
    K{"addr", "hostlist", "",
      "NodeAddr: how the nodes are reached, in the order of names; while auth is local spurd listens there",
      [](In in, To to) { read_text(in, to.node.addr); }},
    K{"hostname", "hostlist", "",
      "NodeHostname: what `hostname -s` prints there, in the order of names; by it spurd knows which node it is",
      [](In in, To to) { read_text(in, to.node.hostname); }},
    K{"port", "count", "6818", "Port of spurd", [](In in, To to) { in.count(to.node.port, 1, 65'535); }},
    K{"core_spec_count", "count", "0", "CoreSpecCount: cores kept for the system",
      [](In in, To to) { in.count(to.node.core_spec, 0, 65'533); }},
    K{"mem_spec_limit", "MiB", "0",
      "MemSpecLimit: memory kept for the system; jobs are counted and held (cgroup/v2) to the rest",
      [](In in, To to) { in.mib(to.node.mem_spec_mib); }},
    K{"comment", "text", "", "Comment", [](In in, To to) { read_text(in, to.node.comment); }},
};

// Slurm's rules: what is not said follows from the rest, and CPUs are either all cores or all threads.
void complete_topology(Draft& draft, const std::string& where, std::uint32_t line, Problems& problems) {
    auto& topology = draft.node.topology;
    const auto boards = draft.boards.value_or(1);
    const bool has_layout =
        draft.sockets || draft.sockets_per_board || draft.cores_per_socket || draft.threads_per_core;
    const auto cores = draft.cores_per_socket.value_or(1), threads = draft.threads_per_core.value_or(1);
    auto sockets = draft.sockets.value_or(draft.sockets_per_board.value_or(1) * boards);
    if (draft.cpus && !draft.sockets && !draft.sockets_per_board) {
        const auto per_socket = has_layout ? cores * threads : 1;
        sockets = std::max(1U, *draft.cpus / per_socket);
    }
    if (draft.sockets && draft.sockets_per_board && *draft.sockets != *draft.sockets_per_board * boards)
        problems.add(line, "{}sockets is {} and sockets_per_board × boards is {}; give one of the two", where,
                     *draft.sockets, *draft.sockets_per_board * boards);
    const std::uint64_t all_cores = std::uint64_t{sockets} * cores, all_threads = all_cores * threads;
    if (all_threads > 65'533) return problems.add(line, "{}has {} CPUs; the most is 65533", where, all_threads);
    draft.node.cpus = draft.cpus.value_or(static_cast<std::uint32_t>(all_threads));
    if (draft.node.cpus != all_cores && draft.node.cpus != all_threads)
        problems.add(
            line,
            "{}cpus is {} and sockets × cores × threads is {} × {} × {} = {}; make cpus {} (threads) or {} (cores)",
            where, draft.node.cpus, sockets, cores, threads, all_threads, all_threads, all_cores);
    topology = {static_cast<std::uint16_t>(boards), static_cast<std::uint16_t>(sockets),
                static_cast<std::uint16_t>(cores), static_cast<std::uint16_t>(threads)};
    if (draft.node.core_spec >= topology.cores() && draft.node.core_spec > 0)
        problems.add(line, "{}core_spec_count leaves no core for jobs", where);
    if (draft.node.mem_spec_mib >= draft.node.memory_mib && draft.node.mem_spec_mib > 0)
        problems.add(line, "{}mem_spec_limit leaves no memory for jobs", where);
}

bool check_pattern(const Text& pattern, std::size_t wanted, std::string_view key, const std::string& where,
                   std::uint32_t line, Problems& problems) {
    if (pattern.empty()) return true;
    const auto names = HostList::parse(pattern.view());
    if (!names)
        return problems.add(line, "{}{} is {}: {}", where, key, quoted(pattern.view()), names.error().text), false;
    if (names->size() == wanted) return true;
    problems.add(line, "{}{} has {} names and the entry has {}; they must match one to one", where, key, names->size(),
                 wanted);
    return false;
}

// What can stand in a hostlist, in a URL and in a user's shell.
bool is_host_name(std::string_view name) {
    constexpr std::size_t longest = 255;  // of a host name, by its RFC
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
    };
    return !name.empty() && name.size() <= longest && is_plain(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '.'; });
}

// "n1 n2" is two names to a hostlist; here it is more likely one that was mistyped.
bool has_inner_blank(std::string_view names) {
    for (const auto part : split(names, ','))
        if (std::ranges::any_of(trim(part), is_blank)) return true;
    return false;
}

void add_node(Draft draft, std::uint32_t line, Config& config, Drafts& drafts, Problems& problems) {
    const auto where = fmt::format("node {}: ", spur::quoted(draft.names));
    if (has_inner_blank(draft.names))
        return problems.add(line, "{}names has a blank in a name; separate names by commas", where);
    const auto list = HostList::parse(draft.names);
    if (!list) return problems.add(line, "{}{}", where, list.error().text);
    for (const auto& name : list->names())
        if (!is_host_name(name))
            return problems.add(line,
                                "{}{} is not a host name: use letters, digits, - _ and ., and begin with a letter or a "
                                "digit",
                                where, spur::quoted(name));
    complete_topology(draft, where, line, problems);
    check_pattern(draft.node.addr, list->size(), "addr", where, line, problems);
    check_pattern(draft.node.hostname, list->size(), "hostname", where, line, problems);
    for (const auto& name : list->names()) {
        const auto [known, is_new] = drafts.node_lines.emplace(name, line);
        if (!is_new) {
            problems.add(line, "node {} is described twice, here and in line {}; remove it from one of the two",
                         spur::quoted(name), known->second);
            break;
        }
        draft.node.names.emplace_back(name);
    }
    config.cluster.nodes.push_back(std::move(draft.node));
}

}  // namespace

void read_nodes(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems) {
    const auto* const list = entry.value.find<TomlList>();
    if (list == nullptr) return problems.add(entry.line, "nodes must be a list of tables: write [[nodes]] before each");
    Draft defaults;
    for (const auto& item : *list) {
        const auto* const table = item.find<TomlTable>();
        if (table == nullptr) {
            problems.add(item.line, "nodes must be a list of tables: write [[nodes]] before each");
            continue;
        }
        auto draft = defaults;
        draft.names.clear();
        const auto named = std::ranges::find_if(*table, [](const auto& key) { return key.key == "names"; });
        const auto* const shown = named == table->end() ? nullptr : named->value.find<std::string>();
        read_entries(*table, "nodes", shown == nullptr ? "[[nodes]] " : fmt::format("node {}: ", spur::quoted(*shown)),
                     std::span<const K>{keys}, draft, problems);
        if (draft.names == default_entry)
            defaults = std::move(draft);
        else if (!draft.names.empty())
            add_node(std::move(draft), item.line, config, drafts, problems);
        else if (named == table->end() || shown != nullptr)
            problems.add(item.line, "[[nodes]] needs names: add names = \"node[1-4]\"");
    }
}

void list_node_keys(std::vector<ConfigKey>& out) { list_keys("nodes", std::span<const K>{keys}, out); }

}  // namespace spur::config
