// Who holds what, core by core and device by device.
#include "ledger.hpp"

#include <fmt/format.h>

namespace spur::check {

using plugin::has_bit;
using plugin::Records;
using plugin::view;

namespace {

std::optional<std::uint32_t> find_gres(const spur_node_view& node, std::uint32_t name) {
    const Records<spur_gres_view> all(node.gres);
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (all[i].name == name) return i;
    return std::nullopt;
}

}  // namespace

Ledger::Ledger(const spur_cluster_view& cluster) : view_(cluster) {
    for (const auto& node : Records<spur_node_view>(cluster.nodes)) {
        Node held{.cores = std::vector<std::int32_t>(node.sockets * node.cores_per_socket),
                  .cpus = node.cpus_used,
                  .memory_mib = static_cast<std::int64_t>(node.memory_used_mib),
                  .jobs = static_cast<std::int32_t>(node.running_jobs),
                  .whole = (node.flags & SPUR_NODE_EXCLUSIVE) != 0,
                  .gres = {}};
        for (std::uint32_t core = 0; core < held.cores.size(); ++core)
            held.cores[core] = has_bit(node.cores_used, core);
        for (const auto& gres : Records<spur_gres_view>(node.gres)) {
            auto& kept = held.gres.emplace_back(Gres{gres.used, {}});
            for (const auto& device : Records<spur_device_view>(gres.devices))
                kept.units.push_back(static_cast<std::int64_t>(device.units_used));
        }
        nodes_.push_back(std::move(held));
    }
}

void Ledger::book(const spur_node_share& share, std::int32_t sign) {
    auto& held = nodes_[share.node];
    for (std::uint32_t core = 0; core < held.cores.size(); ++core)
        if (has_bit(share.cores, core)) held.cores[core] += sign;
    held.cpus += sign * static_cast<std::int64_t>(share.cpus);
    held.memory_mib += sign * static_cast<std::int64_t>(share.memory_mib);
    held.jobs += sign;
    if ((share.flags & SPUR_SHARE_WHOLE_NODE) != 0) held.whole += sign;
    for (const auto& wanted : Records<spur_gres_share>(share.gres))
        if (const auto at = find_gres(*SPUR_AT(spur_node_view, view_.nodes, share.node), wanted.name)) {
            auto& kept = held.gres[*at];
            kept.used += static_cast<std::uint64_t>(sign) * wanted.count;
            for (std::uint32_t i = 0; i < kept.units.size(); ++i)
                if (has_bit(wanted.devices, i)) kept.units[i] += sign;
        }
}

std::optional<std::string> Ledger::objection(const spur_node_share& share) const {
    if (share.node >= view_.nodes.count)
        return fmt::format("it names node number {}, there are {}", share.node, view_.nodes.count);
    const auto& node = *SPUR_AT(spur_node_view, view_.nodes, share.node);
    const auto& held = nodes_[share.node];
    const auto name = view(node.name);
    constexpr auto unusable = SPUR_NODE_DOWN | SPUR_NODE_DRAINING;
    if ((node.flags & SPUR_NODE_USABLE) == 0 || (node.flags & unusable) != 0)
        return fmt::format("node {} is not usable", name);
    if (held.whole > 0) return fmt::format("node {} is held whole by another job", name);
    if ((share.flags & SPUR_SHARE_WHOLE_NODE) != 0 && held.jobs > 0)
        return fmt::format("node {} is to be held whole but {} job(s) run there", name, held.jobs);
    for (std::uint32_t core = 0; core < share.cores.count; ++core) {
        if (!has_bit(share.cores, core)) continue;
        if (core >= held.cores.size() || !has_bit(node.cores_offered, core))
            return fmt::format("core {} of node {} is not offered to jobs", core, name);
        if (held.cores[core] > 0) return fmt::format("core {} of node {} is in use", core, name);
    }
    if (held.cpus + share.cpus > node.cpus)
        return fmt::format("node {} has {} CPUs, {} in use, and {} more are taken", name, node.cpus, held.cpus,
                           share.cpus);
    if (held.memory_mib + static_cast<std::int64_t>(share.memory_mib) > static_cast<std::int64_t>(node.memory_mib))
        return fmt::format("node {} has {} MiB, {} in use, and {} more are taken", name, node.memory_mib,
                           held.memory_mib, share.memory_mib);
    for (const auto& wanted : Records<spur_gres_share>(share.gres))
        if (auto why = gres_objection(node, held, wanted)) return why;
    return std::nullopt;
}

std::optional<std::string> Ledger::gres_objection(const spur_node_view& node, const Node& held,
                                                  const spur_gres_share& share) const {
    const auto name = view(node.name);
    const auto at = find_gres(node, share.name);
    if (!at) return fmt::format("node {} has no generic resource number {}", name, share.name);
    const auto& gres = *SPUR_AT(spur_gres_view, node.gres, *at);
    const auto& kept = held.gres[*at];
    if (kept.used + share.count > gres.total)
        return fmt::format("node {} has {} of generic resource {}, {} in use, and {} more are taken", name, gres.total,
                           share.name, kept.used, share.count);
    std::uint64_t taken = 0, units = 0;
    for (std::uint32_t i = 0; i < share.devices.count; ++i) {
        if (!has_bit(share.devices, i)) continue;
        if (i >= gres.devices.count) return fmt::format("node {} has no device {}", name, i);
        const auto& device = *SPUR_AT(spur_device_view, gres.devices, i);
        const auto left = static_cast<std::int64_t>(device.units_total) - kept.units[i];
        if (left <= 0) return fmt::format("device {} of node {} is in use", i, name);
        if (share.type != 0 && device.type != share.type)
            return fmt::format("device {} of node {} is of another type", i, name);
        ++taken;
        units += static_cast<std::uint64_t>(left);
    }
    if (gres.devices.count > 0 && share.count > 0 && (taken == 0 || share.count > units))
        return fmt::format("{} of generic resource {} on node {} are not backed by free devices", share.count,
                           share.name, name);
    return std::nullopt;
}

std::optional<std::string> objection(const spur_cluster_view& cluster, const Ledger& ledger, const spur_job_view& job,
                                     std::uint32_t partition, spur_span shares) {
    for (const auto& share : Records<spur_node_share>(shares))
        if (auto why = ledger.objection(share)) return why;
    return unmet(cluster, job, partition, shares);
}

}  // namespace spur::check
