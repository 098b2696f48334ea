// How a node of the core, with its devices and their links, becomes a record of the ABI.
#include <algorithm>

#include "daemons/common/planning/mirror_parts.hpp"

#include "core/model/gres_kind.hpp"

namespace spur::planning {

namespace {

std::uint32_t node_flags(const Node& node) {
    std::uint32_t flags = 0;
    if (node.is_available() && node.configured) flags |= SPUR_NODE_USABLE;
    if (node.flags & node_flag::drain) flags |= SPUR_NODE_DRAINING;
    if (node.state == NodeState::down || !node.configured) flags |= SPUR_NODE_DOWN;
    if (node.completing_jobs > 0) flags |= SPUR_NODE_COMPLETING;
    if (node.flags & node_flag::maint) flags |= SPUR_NODE_MAINT;
    if (node.flags & node_flag::powered_down) flags |= SPUR_NODE_POWERED_DOWN;
    if (node.exclusive) flags |= SPUR_NODE_EXCLUSIVE;
    return flags;
}

const DevicePlace* find_place(const Node& node, std::uint32_t index) {
    const auto found = std::ranges::find(node.gpu_places, index, &DevicePlace::index);
    return found == node.gpu_places.end() ? nullptr : &*found;
}

// Nodes of one class are alike in all that a policy may look at.
std::string class_of(const Node& node) {
    auto text = fmt::format("{}.{}.{}.{}.{}.{}", node.topology.sockets, node.topology.cores_per_socket,
                            node.topology.threads_per_core, node.cpus, node.memory_mib, node.weight);
    for (const auto& feature : node.active_features.empty() ? node.features : node.active_features)
        text += fmt::format(",{}", feature);
    for (const auto& pool : node.gres) text += fmt::format(";{}:{}:{}", pool.name, pool.type, pool.count);
    for (const auto& place : node.gpu_places)
        text += fmt::format("/{}.{}.{}", place.socket, place.cores.to_ranges(), place.failed);
    for (const auto& link : node.gpu_links)
        text += fmt::format("-{}.{}.{}.{}", link.from, link.to, link.kind, link.weight);
    return text;
}

bool is_alike(const Node& a, const Node& b) {
    return a.topology == b.topology && a.cpus == b.cpus && a.memory_mib == b.memory_mib && a.weight == b.weight &&
           a.features == b.features && a.active_features == b.active_features && a.gres == b.gres &&
           a.gpu_places == b.gpu_places && a.gpu_links == b.gpu_links;
}

}  // namespace

void Mirror::add_gpus(const Node& node, std::size_t which, NodeBacking& backing,
                      std::vector<spur_device_view>& devices) {
    const auto& pool = node.gres[which];
    const auto cores = node.topology.cores();
    for (std::uint32_t d = 0; d < pool.count; ++d) {
        const auto index = pool.first_index + d;
        const bool busy = which < node.use.devices.size() && node.use.devices[which].has(index);
        const auto* const place = is_device_gres(pool.name.view()) ? find_place(node, index) : nullptr;
        spur_device_view device{.index = index,
                                .type = gres_types_.number(pool.type),
                                .socket = SPUR_NONE,
                                .parent = SPUR_NONE,
                                .parent_gres = SPUR_NONE,
                                .reserved = 0,
                                .units_total = place != nullptr && place->failed ? 0U : 1U,
                                .units_used = busy ? 1U : 0U,
                                .cores = {}};
        if (place != nullptr && place->socket < node.topology.sockets) device.socket = place->socket;
        if (place != nullptr && !place->cores.empty()) {
            backing.near_cores.push_back(words_of(place->cores, cores));
            device.cores = bits(backing.near_cores.back(), cores);
        }
        devices.push_back(device);
    }
}

// Shards lie on the gpus: one device for each, with as many units as it is cut into.
void Mirror::add_shards(const Node& node, const GresPool& pool, std::uint32_t gpus_at,
                        std::vector<spur_device_view>& devices) {
    const auto each = shards_per_gpu(node);
    std::uint32_t gpus = 0;
    for (const auto& other : node.gres)
        if (is_device_gres(other.name.view())) gpus += static_cast<std::uint32_t>(other.count);
    for (std::uint32_t gpu = 0; gpu < gpus && each > 0; ++gpu) {
        const auto* const place = find_place(node, gpu);
        devices.push_back(
            {.index = gpu,
             .type = gres_types_.number(pool.type),
             .socket = place != nullptr && place->socket < node.topology.sockets ? place->socket : SPUR_NONE,
             .parent = gpu,
             .parent_gres = gpus_at,
             .reserved = 0,
             .units_total = place != nullptr && place->failed ? 0U : each,
             .units_used = gpu < node.use.shards.size() ? node.use.shards[gpu] : 0U,
             .cores = {}});
    }
}

void Mirror::fill_node_gres(const Node& node, NodeBacking& backing) {
    backing.gres.clear();
    backing.devices.clear();
    backing.links.clear();
    backing.near_cores.clear();
    for (std::size_t i = 0; i < node.gres.size(); ++i) {
        const auto& pool = node.gres[i];
        const auto name = gres_names_.number(pool.name);
        const auto used = i < node.use.gres.size() ? node.use.gres[i] : 0;
        // Devices of one name are numbered through all its types, so their pools are one record: position is number.
        const auto same = std::ranges::find(backing.gres, name, &spur_gres_view::name);
        const auto at = static_cast<std::size_t>(same - backing.gres.begin());
        const bool typed_count = !pool.has_devices && !pool.type.empty() && !is_part_gres(pool.name.view());
        if (same == backing.gres.end() || !(pool.has_devices || typed_count)) {
            backing.gres.push_back(
                {.name = name, .reserved = 0, .total = pool.count, .used = used, .devices = {}, .links = {}});
            backing.devices.emplace_back();
        } else {
            same->total += pool.count;
            same->used += used;
        }
        if (pool.has_devices) add_gpus(node, i, backing, backing.devices[at]);
        if (typed_count)  // the record knows types of devices only: each type is one, with so many units
            backing.devices[at].push_back({.index = static_cast<std::uint32_t>(backing.devices[at].size()),
                                           .type = gres_types_.number(pool.type),
                                           .socket = SPUR_NONE,
                                           .parent = SPUR_NONE,
                                           .parent_gres = SPUR_NONE,
                                           .reserved = 0,
                                           .units_total = pool.count,
                                           .units_used = used,
                                           .cores = {}});
    }
    const auto gpu = gres_names_.number(gpu_gres);
    const auto gpus_at =
        static_cast<std::uint32_t>(std::ranges::find(backing.gres, gpu, &spur_gres_view::name) - backing.gres.begin());
    for (const auto& pool : node.gres)
        if (is_part_gres(pool.name.view())) {
            const auto shards = std::ranges::find(backing.gres, gres_names_.number(pool.name), &spur_gres_view::name);
            add_shards(node, pool, gpus_at, backing.devices[static_cast<std::size_t>(shards - backing.gres.begin())]);
        }
    for (const auto& link : node.gpu_links)
        backing.links.push_back({link.from, link.to, gpus_at, link.weight, link.kind, 0});
    for (std::size_t i = 0; i < backing.gres.size(); ++i) {
        auto& gres = backing.gres[i];
        gres.devices = span_of(backing.devices[i]);
        if (gres.name == gpu && gres.devices.count > 0) gres.links = span_of(backing.links);
    }
}

// Those of the configuration: they change only with all of it.
void Mirror::update_switches() {
    static_assert(Switch::none == SPUR_NONE);
    const auto node_count = static_cast<std::uint32_t>(node_views_.size());
    switch_views_.clear();
    switch_words_.clear();
    for (const auto& one : model_->switches->all()) {
        auto& words = switch_words_.emplace_back((node_count + 63) / 64);
        for (const auto& name : one.nodes)
            if (const auto* node = model_->find_node(name.view())) set_bit(words, node->id.value);
        switch_views_.push_back({.name = str(one.name),
                                 .kind = SPUR_GROUP_SWITCH,
                                 .level = one.level,
                                 .parent = one.parent,
                                 .reserved = 0,
                                 .nodes = {},
                                 .order = {}});
    }
    for (std::size_t i = 0; i < switch_words_.size(); ++i) switch_views_[i].nodes = bits(switch_words_[i], node_count);
}

void Mirror::update_node(const Node& node) {
    const auto index = node.id.value;
    while (node_views_.size() <= index) {
        node_views_.emplace_back();
        node_backings_.push_back(std::make_unique<NodeBacking>());
    }
    changed_nodes_.push_back(index);
    auto& backing = *node_backings_[index];
    const auto previous = backing.node;
    backing.node = model_->nodes.get(index);
    if (previous && (previous->features != node.features || previous->configured != node.configured)) filters_.clear();

    if (!previous || !is_alike(*previous, node))
        backing.klass =
            node_classes_.try_emplace(class_of(node), static_cast<std::uint32_t>(node_classes_.size())).first->second;

    const auto cores = node.topology.cores();
    backing.cores_used = words_of(node.use.busy_cores(), cores);
    backing.cores_offered = words_of(node.usable_cores(), cores);
    backing.features.clear();
    for (const auto& feature : node.active_features.empty() ? node.features : node.active_features)
        set_bit(backing.features, features_.number(feature));
    fill_node_gres(node, backing);

    auto& view = node_views_[index];
    view = {};
    view.name = str(backing.node->name);
    view.flags = node_flags(node);
    view.weight = node.weight;
    view.sockets = node.topology.sockets;
    view.cores_per_socket = node.topology.cores_per_socket;
    view.threads_per_core = node.cpus_per_core();
    view.cpus = node.usable_cpus();
    view.cpus_used = node.use.cpus;
    view.klass = backing.klass;
    view.memory_mib = node.usable_memory_mib();
    view.memory_used_mib = node.use.memory_mib;
    view.tmp_mib = node.tmp_mib;
    view.cores_used = bits(backing.cores_used, cores);
    view.cores_offered = bits(backing.cores_offered, cores);
    view.features = bits(backing.features, static_cast<std::uint32_t>(backing.features.size() * 64));
    view.gres = span_of(backing.gres);
    backing.groups.clear();
    if (const auto leaf = model_->switches->leaf_of(node.name.str()); leaf != Switch::none)
        backing.groups.push_back(leaf);
    view.groups = span_of(backing.groups);
    view.owner_uid = node.exclusive_uid == nobody ? SPUR_NONE : node.exclusive_uid;
    view.running_jobs = node.job_count;
    for (const auto jobs : node.use.core_jobs)
        view.most_jobs_per_core = std::max<std::uint32_t>(view.most_jobs_per_core, jobs);
}

}  // namespace spur::planning
