// What this machine has, found once at start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace spur::agent {

struct Hardware {
    std::uint32_t sockets{1}, cores_per_socket{1}, threads_per_core{1};
    std::uint64_t memory_mib{};
    std::uint64_t machine_memory_mib{};  // the same, unless the node is made up
    std::uint64_t tmp_mib{};
    std::vector<std::vector<std::uint32_t>> core_cpus;  // Linux CPU numbers of each core of the node, in socket order
    std::string hostname, architecture, os, boot_id;
    std::int64_t boot_time{};

    [[nodiscard]] std::uint32_t cores() const { return sockets * cores_per_socket; }
    [[nodiscard]] std::uint32_t cpus() const { return cores() * threads_per_core; }
};

// By hwloc; costs some milliseconds.
Result<Hardware> find_hardware();

struct Vitals {
    double load{};
    std::uint64_t free_memory_mib{};
};
Vitals read_vitals();

// The Linux CPUs of each of a node's cores where nodes with `before` and `own` and others, `all` together, are on this
// machine: whole cores if there are enough, else threads. Empty: there are not enough of either.
struct CoreCount {
    std::uint32_t cores{}, threads{};
};
std::vector<std::vector<std::uint32_t>> share_cores(const Hardware& machine, CoreCount before, CoreCount own,
                                                    CoreCount all);

// What jobs together may have of a machine's memory, so that the system goes on when they want more: all but what the
// configuration keeps for it, or a sixteenth where that says nothing.
std::uint64_t jobs_memory_mib(std::uint64_t machine_mib, std::uint64_t kept_mib);

// "0-1,4" for the CPUs of these cores ("0-3,8"). Empty when the list makes no sense on this machine: a node that is
// made up, or shared with others, has cores that are not there.
std::string cpus_of_cores(const Hardware& hardware, const std::string& core_ids);

// The cores that these Linux CPUs ("0-31,64-95") belong to, in increasing order. Where the node is made up, CPUs are
// numbered as Linux does it: first threads of all cores first.
std::vector<std::uint32_t> cores_of_cpus(const Hardware& hardware, const std::string& cpus);

std::vector<std::uint32_t> expand_numbers(const std::string& list);          // "0-3,8"; empty if malformed
std::string compress_numbers(const std::vector<std::uint32_t>& increasing);  // the reverse

}  // namespace spur::agent
