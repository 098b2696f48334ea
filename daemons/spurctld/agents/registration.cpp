// Reading an agent's registration, and whether its certificate is made out to its node.
#include "daemons/spurctld/agents/registration.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "core/model/gres_kind.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t longest_word = 256;  // that an agent may say about itself

GresPool pool_from_wire(const v1::Gres& gres) {
    return {
        .name = gres.name(), .type = gres.type(), .count = gres.count(), .has_devices = is_device_gres(gres.name())};
}

// What an agent says about its devices, within reason: numbers that are out of range are left out.
void add_devices(const v1::Node& found, NodeRegistered& command) {
    constexpr std::uint32_t highest_device = 1024, highest_core = 65'536;
    constexpr int most_links = 65'536;
    for (const auto& place : found.gpu_places()) {
        if (place.index() >= highest_device || command.gpu_places.size() >= highest_device) continue;
        auto& kept = command.gpu_places.emplace_back();
        kept.index = place.index();
        kept.failed = place.failed();
        if (place.has_socket()) kept.socket = place.socket();
        for (const auto core : place.cores())
            if (core < highest_core) kept.cores.add(core);
    }
    for (int i = 0; i < std::min(found.gpu_links_size(), most_links); ++i)
        if (const auto& link = found.gpu_links(i); link.from() < highest_device && link.to() < highest_device)
            command.gpu_links.push_back({link.from(), link.to(), link.kind(), link.weight()});
}

}  // namespace

NodeRegistered registration(NodeId id, const v1::Register& request, bool has_history) {
    const auto& found = request.node();
    NodeRegistered command{
        .node = id,
        .topology = {.boards = 1,
                     .sockets = static_cast<std::uint16_t>(found.sockets()),
                     .cores_per_socket = static_cast<std::uint16_t>(found.cores_per_socket()),
                     .threads_per_core = static_cast<std::uint16_t>(found.threads_per_core())},
        .cpus = found.cpus(),
        .memory_mib = found.memory_mib(),
        .tmp_mib = found.tmp_mib(),
        .boot_id = request.boot_id(),
        .boot_time = found.boot_time(),
        .start_time = found.start_time(),
        .addr = request.serve_addr(),
        .hostname = found.hostname(),
        .architecture = found.architecture(),
        .os = found.os(),
        .software_version = request.version(),
    };
    for (const auto& gres : found.gres()) command.gres.push_back(pool_from_wire(gres));
    add_devices(found, command);
    for (const auto& held : request.held())
        command.held.push_back(
            {JobId{held.job_id()}, held.attempt(), StepId{held.step_id()}, has_history ? held.start_time() : 0});
    command.spool_id = request.spool_id().substr(0, longest_word);
    command.enforced = found.enforced();
    command.unfit = request.unfit().substr(0, longest_word);
    if (const auto& seen = request.seen(); has_history)
        command.seen = {seen.history(), seen.era(), seen.mark(), seen.version(), seen.job_id()};
    return command;
}

v1::SeenHistory history_now(const History& history, std::uint64_t version) {
    v1::SeenHistory now;
    now.set_history(history.id.str());
    if (!history.eras.empty()) {
        now.set_era(history.eras.back().number);
        now.set_mark(history.eras.back().mark);
    }
    now.set_version(version);
    return now;
}

std::vector<std::string> certificate_names(std::string_view node, std::vector<std::string> patterns) {
    for (auto& pattern : patterns)
        for (auto at = pattern.find("%n"); at != std::string::npos; at = pattern.find("%n", at + node.size()))
            pattern.replace(at, 2, node);
    return patterns;
}

bool is_made_out_to(const std::vector<std::string>& names, const std::vector<std::string>& accepted) {
    for (const auto& name : names)
        for (const auto& pattern : accepted) {
            // A name with a NUL in it reads differently to whoever signed it.
            const bool is_whole = name.find('\0') == std::string::npos;
            if (is_whole && ::fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0) return true;
        }
    return false;
}

}  // namespace spur::ctld
