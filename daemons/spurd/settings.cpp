// Reading spurd's settings out of its command line, the configuration and the environment.
#include "daemons/spurd/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/text/hostlist.hpp"
#include "daemons/common/wire/members.hpp"

namespace spur::agent {

namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

std::string default_state_dir(const std::string& node) {
    if (geteuid() == 0) return "/var/spool/spurd/" + node;
    const auto state = variable("XDG_STATE_HOME");
    return (state.empty() ? variable("HOME") + "/.local/state" : state) + "/spur/spurd/" + node;
}

// Option, environment, the list of controllers, the only controller's own address, this machine.
Result<std::vector<Endpoint>> find_controllers(const daemon::DaemonOptions& options, const Config& config) {
    for (const auto& text : {std::string{options.get("controller")}, variable("SPUR_CONTROLLER_ADDR")})
        if (!text.empty()) return Endpoint::parse_list(text);
    return wire::resolve_controllers(config.controller.listen_addr, config.controller.hosts);
}

// The CPUs behind the cores that the controller gives away. Virtual nodes are all on this machine: each has its part of
// it, as long as there is enough for all.
std::vector<std::vector<std::uint32_t>> find_cores(bool is_virtual, const Config& config, const std::string& name,
                                                   const Hardware& hardware) {
    const auto* const node = find_node(config, name);
    if (node == nullptr) return hardware.core_cpus;
    const auto size = [](const NodeConfig& each) { return CoreCount{each.topology.cores(), each.topology.threads()}; };
    if (!is_virtual) return share_cores(hardware, {}, size(*node), size(*node));
    CoreCount before, all;
    bool passed = false;
    for (const auto& each : config.cluster.nodes)
        for (const auto& other : each.names) {
            passed = passed || other.view() == name;
            for (auto* sum : {&all, passed ? nullptr : &before})
                if (sum != nullptr) sum->cores += size(each).cores, sum->threads += size(each).threads;
        }
    return share_cores(hardware, before, size(*node), all);
}

// The address of `name` in its entry, whose addresses are in the order of its names.
std::string configured_addr(const NodeConfig& node, const std::string& name) {
    const auto place = std::ranges::find(node.names, name, &Text::view);
    const auto list = HostList::parse(node.addr.view());
    if (!list || place == node.names.end()) return node.addr.str();
    return list->nth(static_cast<std::size_t>(place - node.names.begin())).value_or(std::string{});
}

// Option, [agent], the node's own entry. Where nobody proves who he is (auth/local), other machines are served only if
// the configuration names an address for that.
Result<Endpoint> find_listen(const daemon::DaemonOptions& options, const Config& config, const NodeConfig* node,
                             const std::string& addr) {
    const auto port = node != nullptr && node->port != 0 ? node->port : agent_port;
    const auto& given = options.listen.empty() ? config.agent.listen_addr : options.listen;
    if (!given.empty()) return Endpoint::parse(given, port);
    if (config.auth.plugin != "auth/local") return Endpoint{"0.0.0.0", port};
    if (addr.empty()) return Endpoint{"127.0.0.1", port};
    return Endpoint::parse(addr, port);
}

// A virtual node is what its configuration says, whatever the machine has.
void pretend(const NodeConfig& node, Hardware& hardware) {
    hardware.sockets = node.topology.sockets;
    hardware.cores_per_socket = node.topology.cores_per_socket;
    hardware.threads_per_core = node.topology.threads_per_core;
    hardware.memory_mib = node.memory_mib;
    if (node.tmp_mib != 0) hardware.tmp_mib = node.tmp_mib;
}

}  // namespace

std::vector<daemon::OwnOption> own_options() {
    return {{"advertise", 0, "HOST:PORT", "what others are told, if not where it listens"},
            {"boot-id", 0, "ID", "pretend to be this boot of the machine (for tests; also $SPUR_TEST_BOOT_ID)"},
            {"controller", 0, "LIST", "host:port of the controller, several separated by commas"},
            {"node", 'N', "NAME", "this node's name in the cluster; else this host's short name"},
            {"stepd", 0, "FILE", "spurstepd, if not beside spurd"},
            {"virtual", 0, "", "one of several nodes on this machine, with the hardware its configuration claims"}};
}

const NodeConfig* find_node(const Config& config, const std::string& name) {
    for (const auto& node : config.cluster.nodes)
        if (std::ranges::find(node.names, name, &Text::view) != node.names.end()) return &node;
    return nullptr;
}

std::string node_of_host(const Config& config, const std::string& hostname) {
    const auto short_name = hostname.substr(0, hostname.find('.'));
    for (const auto& node : config.cluster.nodes) {
        const auto list = HostList::parse(node.hostname.view());
        if (!list) continue;
        const auto place = list->find(short_name);
        if (place && *place < node.names.size()) return node.names[*place].str();
    }
    return short_name;
}

Result<Settings> make_settings(const daemon::DaemonOptions& options, const Config& config, Hardware machine) {
    Settings settings;
    settings.is_virtual = options.has("virtual");
    settings.node = options.has("node") ? options.get("node") : node_of_host(config, machine.hostname);
    settings.state_dir = !options.state_dir.empty()        ? options.state_dir
                         : !config.agent.spool_dir.empty() ? config.agent.spool_dir
                                                           : default_state_dir(settings.node);
    settings.stepd = options.get("stepd");
    if (settings.stepd.empty())
        settings.stepd = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "spurstepd").string();
    SPUR_TRY(settings.controllers, find_controllers(options, config));
    for (const auto& controller : settings.controllers)
        settings.controller_list += (settings.controller_list.empty() ? "" : ",") + controller.text();

    const auto* const node = find_node(config, settings.node);
    if (node != nullptr) settings.addr = configured_addr(*node, settings.node);
    SPUR_TRY(settings.listen, find_listen(options, config, node, settings.addr));
    settings.advertise = options.get("advertise");

    settings.core_cpus = find_cores(settings.is_virtual, config, settings.node, machine);
    if (node != nullptr) settings.kept_memory_mib = node->mem_spec_mib;
    settings.hardware = std::move(machine);
    if (node != nullptr && settings.is_virtual) pretend(*node, settings.hardware);
    const auto boot = variable("SPUR_TEST_BOOT_ID");
    if (options.has("boot-id") || !boot.empty()) settings.hardware.boot_id = options.get("boot-id", boot);
    return settings;
}

std::string serve_address(const Settings& settings, std::uint16_t port, const std::string& hostname) {
    if (!settings.advertise.empty()) return settings.advertise;
    auto endpoint = settings.listen;
    endpoint.port = port;
    if (endpoint.is_everywhere()) endpoint.host = hostname;
    if (const auto named = Endpoint::parse(settings.addr, port)) endpoint = *named;
    return endpoint.text();
}

}  // namespace spur::agent
