// [[switches]]: the network as a tree, as topology.conf has it.
#include "core/model/switches.hpp"

#include <algorithm>
#include <array>

#include "core/text/hostlist.hpp"
#include "daemons/common/config/sections.hpp"

namespace spur::config {
namespace {

using K = Key<SwitchConfig>;
using In = const Reading&;
using To = SwitchConfig&;

void read_hosts(const Reading& in, std::vector<Text>& out) {
    std::vector<std::string> names;
    in.hosts(names);
    out.assign(names.begin(), names.end());
}

constexpr std::array keys{
    K{"name", "text", "", "SwitchName; required",
      [](In in, To to) {
          std::string name;
          in.text(name);
          to.name = name;
      }},
    K{"nodes", "hostlist", "", "Nodes: those that hang off this leaf", [](In in, To to) { read_hosts(in, to.nodes); }},
    K{"switches", "hostlist", "", "Switches: those directly below this one; instead of nodes",
      [](In in, To to) { read_hosts(in, to.switches); }},
};

}  // namespace

void read_switches(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems) {
    constexpr auto shape = "switches must be a list of tables: write [[switches]] before each";
    const auto* const list = entry.value.find<TomlList>();
    if (list == nullptr) return problems.add(entry.line, shape);
    for (const auto& item : *list) {
        const auto* const table = item.find<TomlTable>();
        if (table == nullptr) {
            problems.add(item.line, shape);
            continue;
        }
        SwitchConfig one;
        const auto named = std::ranges::find(*table, "name", &TomlEntry::key);
        const auto* const shown = named == table->end() ? nullptr : named->value.find<std::string>();
        read_entries(*table, "switches",
                     shown == nullptr ? "[[switches]] " : fmt::format("switch {}: ", spur::quoted(*shown)),
                     std::span<const K>{keys}, one, problems);
        if (one.name.empty()) {
            if (named == table->end()) problems.add(item.line, "[[switches]] needs a name: add name = \"leaf1\"");
            continue;
        }
        drafts.switch_lines.push_back(item.line);
        config.cluster.switches.push_back(std::move(one));
    }
}

void check_switches(const Config& config, const Drafts& drafts, Problems& problems) {
    const auto& switches = config.cluster.switches;
    for (std::size_t i = 0; i < switches.size(); ++i)
        for (const auto& node : switches[i].nodes)
            if (!drafts.node_lines.contains(node.str())) {
                problems.add(drafts.switch_lines[i], "switch {}: node {} is not described; add it to a [[nodes]]",
                             spur::quoted(switches[i].name.view()), spur::quoted(node.view()));
                break;
            }
    if (const auto tree = SwitchTree::resolve(switches); !tree)
        problems.add(drafts.switch_lines.empty() ? 0 : drafts.switch_lines.front(), "{}", tree.error().text);
}

void list_switch_keys(std::vector<ConfigKey>& out) { list_keys("switches", std::span<const K>{keys}, out); }

}  // namespace spur::config
