// What spurd works with, from its options, its configuration and the environment.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "core/text/endpoint.hpp"
#include "daemons/common/daemon/options.hpp"
#include "daemons/spurd/hardware.hpp"

namespace spur::agent {

// Besides those that every daemon has.
std::vector<daemon::OwnOption> own_options();

struct Settings {
    std::string node;
    bool is_virtual{false};  // one of several nodes on this machine, with the hardware its configuration claims
    Hardware hardware;       // as the node is to be seen
    std::string state_dir;
    std::string stepd;
    std::vector<Endpoint> controllers;
    std::string controller_list;  // the same as text
    Endpoint listen;
    std::string advertise;  // empty: made from `listen` once the port is known
    std::string addr;       // by which the configuration says the node is reached; may be empty
    std::vector<std::vector<std::uint32_t>> core_cpus;  // of the node's cores; empty: they are not bound to any
    std::uint64_t kept_memory_mib{};                    // for the system; 0: the configuration does not say
};

Result<Settings> make_settings(const daemon::DaemonOptions& options, const Config& config, Hardware machine);

// The configuration of one node, or nullptr.
const NodeConfig* find_node(const Config& config, const std::string& name);

// Which node this machine is, going by what `hostname -s` prints: the one whose entry has it as its hostname, else the
// one of that name.
std::string node_of_host(const Config& config, const std::string& hostname);

// What others are told: `advertise`, or the node's address from the configuration, or where it listens with a name that
// means something elsewhere.
std::string serve_address(const Settings& settings, std::uint16_t port, const std::string& hostname);

}  // namespace spur::agent
