// The sections of spur.conf: one function each, from a table to its part of the configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemons/common/config/reader.hpp"

namespace spur::config {

// What is known only once the whole file has been read.
struct Drafts {
    std::map<std::string, std::uint32_t> node_lines;       // by node name
    std::vector<std::uint32_t> partition_lines;            // by position in config.cluster.partitions
    std::vector<std::uint32_t> switch_lines;               // by position in config.cluster.switches
    std::map<std::string, std::uint32_t> section_lines;    // by name
    std::uint32_t scheduler_line{}, plugins_sched_line{};  // [scheduler] plugin and [plugins] sched
};

void read_nodes(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems);
void read_partitions(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems);
void read_switches(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems);
void check_switches(const Config& config, const Drafts& drafts, Problems& problems);
void check_partitions(const Config& config, const Drafts& drafts, Problems& problems);

// Every other entry of the top level.
void read_section(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems);

// The keys of each part, for config_keys().
void list_node_keys(std::vector<ConfigKey>& out);
void list_partition_keys(std::vector<ConfigKey>& out);
void list_switch_keys(std::vector<ConfigKey>& out);
void list_section_keys(std::vector<ConfigKey>& out);

template <class Target>
void list_keys(std::string_view section, std::span<const Key<Target>> keys, std::vector<ConfigKey>& out) {
    for (const auto& key : keys)
        out.push_back({section, key.name, key.kind, key.fallback, key.help, key.slurm, key.member, key.show});
}

}  // namespace spur::config
