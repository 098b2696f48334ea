// Reading hwloc, /proc and uname.
#include "daemons/spurd/hardware.hpp"

#include <hwloc.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>

#include "core/text/lexical.hpp"

namespace spur::agent {

namespace {

constexpr std::uint64_t mebibyte = 1U << 20;
constexpr std::uint32_t highest_cpu = 65'535;

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Result<Topology> load_topology() {
    hwloc_topology_t raw{};
    if (hwloc_topology_init(&raw) != 0) return fail(ErrorCode::internal, "hwloc could not be set up");
    Topology topology{raw, &hwloc_topology_destroy};
    for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE,
                            HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L1ICACHE})
        hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(raw) != 0) return fail(ErrorCode::internal, "hwloc could not read this machine's topology");
    return topology;
}

std::uint32_t count(hwloc_topology_t topology, hwloc_obj_type_t type) {
    return static_cast<std::uint32_t>(std::max(hwloc_get_nbobjs_by_type(topology, type), 1));
}

void find_cores(hwloc_topology_t topology, Hardware& hardware) {
    hardware.sockets = count(topology, HWLOC_OBJ_PACKAGE);
    const auto cores = count(topology, HWLOC_OBJ_CORE);
    const auto threads = count(topology, HWLOC_OBJ_PU);
    // Uneven machines are described by what every part of them has.
    hardware.cores_per_socket = std::max(cores / hardware.sockets, 1U);
    hardware.threads_per_core = std::max(threads / cores, 1U);
    const int found = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    const auto type = found > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (std::uint32_t i = 0; i < count(topology, type); ++i) {
        auto& cpus = hardware.core_cpus.emplace_back();
        const auto* const core = hwloc_get_obj_by_type(topology, type, i);
        for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(core->cpuset, cpu))
            cpus.push_back(static_cast<std::uint32_t>(cpu));
    }
}

std::string first_line(const char* path) {
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

Result<Hardware> find_hardware() {
    Hardware hardware;
    SPUR_TRY(const auto topology, load_topology());
    find_cores(topology.get(), hardware);
    struct statvfs tmp {};
    if (statvfs("/tmp", &tmp) == 0) hardware.tmp_mib = std::uint64_t{tmp.f_blocks} * tmp.f_frsize / mebibyte;
    utsname system{};
    uname(&system);
    hardware.hostname = system.nodename;
    hardware.architecture = system.machine;
    hardware.os = std::string{system.sysname} + " " + system.release + " " + system.version;
    hardware.boot_id = first_line("/proc/sys/kernel/random/boot_id");
    struct sysinfo info {};
    if (sysinfo(&info) == 0) {
        hardware.boot_time = std::time(nullptr) - info.uptime;
        hardware.memory_mib = hardware.machine_memory_mib = std::uint64_t{info.totalram} * info.mem_unit / mebibyte;
    }
    return hardware;
}

Vitals read_vitals() {
    Vitals vitals;
    double loads[1]{};
    if (getloadavg(loads, 1) == 1) vitals.load = loads[0];
    struct sysinfo info {};
    if (sysinfo(&info) == 0) vitals.free_memory_mib = std::uint64_t{info.freeram} * info.mem_unit / mebibyte;
    return vitals;
}

std::vector<std::uint32_t> expand_numbers(const std::string& list) {
    std::vector<std::uint32_t> numbers;
    if (list.empty()) return numbers;
    for (const auto part : split(list, ',')) {
        const auto dash = part.find('-');
        const auto first = find_unsigned(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : find_unsigned(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last > highest_cpu) return {};
        for (auto number = *first; number <= *last; ++number) numbers.push_back(static_cast<std::uint32_t>(number));
    }
    return numbers;
}

std::string compress_numbers(const std::vector<std::uint32_t>& increasing) {
    std::string text;
    for (std::size_t i = 0; i < increasing.size();) {
        auto last = i;
        while (last + 1 < increasing.size() && increasing[last + 1] == increasing[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(increasing[i]);
        if (last > i) text += "-" + std::to_string(increasing[last]);
        i = last + 1;
    }
    return text;
}

std::vector<std::vector<std::uint32_t>> share_cores(const Hardware& machine, CoreCount before, CoreCount own,
                                                    CoreCount all) {
    std::vector<std::vector<std::uint32_t>> mine;
    if (own.cores == 0 || own.threads < own.cores) return mine;
    const auto threads_each = own.threads / own.cores;
    const bool has_threads =
        std::ranges::all_of(machine.core_cpus, [&](const auto& cpus) { return cpus.size() >= threads_each; });
    if (all.cores <= machine.core_cpus.size() && has_threads) {
        const auto first = machine.core_cpus.begin() + before.cores;
        return {first, first + own.cores};
    }
    std::vector<std::uint32_t> cpus;
    for (const auto& core : machine.core_cpus) cpus.insert(cpus.end(), core.begin(), core.end());
    if (all.threads > cpus.size()) return mine;
    for (auto at = cpus.begin() + before.threads; mine.size() < own.cores; at += threads_each)
        mine.emplace_back(at, at + threads_each);
    return mine;
}

std::uint64_t jobs_memory_mib(std::uint64_t machine_mib, std::uint64_t kept_mib) {
    constexpr std::uint64_t least = 128, most = 4096;
    if (kept_mib == 0) kept_mib = std::min(std::clamp(machine_mib / 16, least, most), machine_mib / 4);
    return machine_mib - std::min(machine_mib, kept_mib);
}

std::string cpus_of_cores(const Hardware& hardware, const std::string& core_ids) {
    std::vector<std::uint32_t> cpus;
    for (const auto core : expand_numbers(core_ids)) {
        if (core >= hardware.core_cpus.size()) return {};
        cpus.insert(cpus.end(), hardware.core_cpus[core].begin(), hardware.core_cpus[core].end());
    }
    std::ranges::sort(cpus);
    return compress_numbers(cpus);
}

std::vector<std::uint32_t> cores_of_cpus(const Hardware& hardware, const std::string& cpus) {
    std::set<std::uint32_t> cores;
    const bool real = !hardware.core_cpus.empty();
    for (const auto cpu : expand_numbers(cpus)) {
        if (!real) {
            if (cpu < hardware.cpus()) cores.insert(cpu % hardware.cores());
            continue;
        }
        for (std::uint32_t core = 0; core < hardware.core_cpus.size(); ++core)
            if (std::ranges::find(hardware.core_cpus[core], cpu) != hardware.core_cpus[core].end()) cores.insert(core);
    }
    return {cores.begin(), cores.end()};
}

}  // namespace spur::agent
