// Building the picture from the cluster view.
#include "picture.hpp"

#include <algorithm>
#include <string_view>

#include "bits.hpp"
#include "slots.hpp"

namespace spur::select_gpu {

namespace {

std::uint32_t find_name(const spur_span& names, std::string_view wanted) {
    for (std::uint32_t i = 0; i < names.count; ++i)
        if (const auto* name = SPUR_AT(spur_str, names, i);
            name->data != nullptr && std::string_view{name->data, name->length} == wanted)
            return i;
    return SPUR_NONE;
}

constexpr std::uint32_t most_weights = 64;  // further ones count as the heaviest

}  // namespace

void Picture::build(const spur_cluster_view& view, DeviceChooser& chooser) {
    view_ = &view;
    width_ = std::max((view.nodes.count + 63) / 64, 1U);
    gpu_name_ = find_name(view.gres_names, "gpu");
    shard_name_ = find_name(view.gres_names, "shard");
    shares_cores_ = false;
    for (std::uint32_t i = 0; i < view.partitions.count; ++i)
        shares_cores_ = shares_cores_ || SPUR_AT(spur_partition_view, view.partitions, i)->oversubscribe > 1;
    nodes_.assign(view.nodes.count, {});
    gres_.clear();
    devices_.clear();
    usable_.assign(width_, 0);
    most_threads_ = 1;
    for (std::uint32_t i = 0; i < view.nodes.count; ++i) {
        auto& node = nodes_[i];
        const auto& record = *SPUR_AT(spur_node_view, view.nodes, i);
        node.view = &record;
        node.sockets = std::max(record.sockets, 1U);
        node.cores_per_socket = std::max(record.cores_per_socket, 1U);
        node.cores = std::min(node.sockets * node.cores_per_socket, record.cores_offered.count);
        node.core_words = (node.cores + 63) / 64;
        node.threads = std::max(record.threads_per_core, 1U);
        node.memory_mib = record.memory_mib;
        most_threads_ = std::max(most_threads_, node.threads);
        node.offered = count(record.cores_offered);
        constexpr auto closed = SPUR_NODE_DOWN | SPUR_NODE_DRAINING;
        if ((record.flags & SPUR_NODE_USABLE) != 0 && (record.flags & closed) == 0) usable_[i / 64] |= bit(i);
        add_gres(node, chooser);
    }
    lay_out();
    group_by_weight();
    find_owners();
    count_partition_cpus();
}

void Picture::add_gres(Node& node, DeviceChooser& chooser) {
    node.first_gres = static_cast<std::uint32_t>(gres_.size());
    const auto& list = node.view->gres;
    for (std::uint32_t i = 0; i < list.count; ++i) {
        const auto& view = *SPUR_AT(spur_gres_view, list, i);
        auto& gres = gres_.emplace_back();
        gres.name = view.name;
        gres.total = view.total;
        gres.first_device = static_cast<std::uint32_t>(devices_.size());
        gres.devices = std::min(view.devices.count, most_devices);
        if (gres.devices > 0) add_devices(view, i, gres, chooser);
        if (view.name == gpu_name_ && node.gpu < 0) node.gpu = static_cast<std::int32_t>(i);
        ++node.gres_count;
    }
    if (node.gpu < 0 || shard_name_ == SPUR_NONE) return;
    const auto shards = find_gres(node, shard_name_);
    if (shards < 0) return;
    auto& parts = gres_[node.first_gres + static_cast<std::uint32_t>(shards)];
    auto& whole = gres_[node.first_gres + static_cast<std::uint32_t>(node.gpu)];
    if (parts.devices == 0 || whole.devices == 0) return;
    parts.parent = node.gpu;
    parts.by_units = true;
    whole.parts = shards;
}

void Picture::add_devices(const spur_gres_view& view, std::uint32_t number, Gres& gres, DeviceChooser& chooser) {
    for (std::uint32_t d = 0; d < gres.devices; ++d) {
        const auto& device = *SPUR_AT(spur_device_view, view.devices, d);
        devices_.push_back(
            {.type = device.type,
             .socket = device.socket,
             .units = static_cast<std::uint32_t>(std::min<std::uint64_t>(device.units_total, UINT32_MAX)),
             .parent = device.parent,
             .cores = device.cores});
    }
    for (std::uint32_t d = 0; d < gres.devices; ++d)
        gres.by_units = gres.by_units || devices_[gres.first_device + d].units > 1;
    const auto n = gres.devices;
    pairs_.assign(std::size_t{n} * n, 0);
    for (std::uint32_t l = 0; l < view.links.count; ++l) {
        const auto& link = *SPUR_AT(spur_device_link, view.links, l);
        if (link.to_gres == number && link.from < n && link.to < n && link.from != link.to)
            pairs_[link.from * n + link.to] = link.weight * DeviceChooser::link_unit;
    }
    for (std::uint32_t a = 0; a < n; ++a)
        for (std::uint32_t b = 0; b < n; ++b) {
            const auto socket = devices_[gres.first_device + a].socket;
            if (a != b && socket != SPUR_NONE && socket == devices_[gres.first_device + b].socket) ++pairs_[a * n + b];
            if (b > a) pairs_[a * n + b] = pairs_[b * n + a] = std::max(pairs_[a * n + b], pairs_[b * n + a]);
        }
    gres.wiring = &chooser.intern(n, pairs_);
}

void Picture::lay_out() {
    page_words_.assign((nodes_.size() + page_nodes - 1) / page_nodes, 0);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        auto& node = nodes_[i];
        auto& used = page_words_[i / page_nodes];
        node.offset = used;
        used += NodeState::words_before_gres(node, shares_cores_);
        for (std::uint32_t g = 0; g < node.gres_count; ++g) {
            auto& gres = gres_[node.first_gres + g];
            gres.offset = used - node.offset;
            used += NodeState::words_of_gres(gres);
        }
    }
}

void Picture::group_by_weight() {
    weights_.clear();
    for (const auto& node : nodes_)
        if (std::ranges::find(weights_, node.view->weight) == weights_.end() && weights_.size() < 4096)
            weights_.push_back(node.view->weight);
    std::ranges::sort(weights_);
    if (weights_.size() > most_weights) weights_.resize(most_weights);
    group_words_.assign(weights_.size() * width_, 0);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        auto group =
            static_cast<std::size_t>(std::ranges::lower_bound(weights_, nodes_[i].view->weight) - weights_.begin());
        group = std::min(group, weights_.size() - 1);
        group_words_[group * width_ + i / 64] |= bit(i);
    }
}

void Picture::find_owners() {
    constexpr auto several = SPUR_NONE - 1;
    for (std::uint32_t i = 0; i < view_->running_order.count; ++i) {
        const auto slot = *SPUR_AT(std::uint32_t, view_->running_order, i);
        const auto& job = *SPUR_AT(spur_job_view, view_->running, slot);
        for (std::uint32_t s = 0; s < job.held->share_count; ++s) {
            const auto index = job.held->shares[s].node;
            if (index >= nodes_.size()) continue;
            auto& owner = nodes_[index].only_uid;
            owner = owner == SPUR_NONE || owner == job.uid ? job.uid : several;
        }
    }
}

void Picture::count_partition_cpus() {
    partition_cpus_.clear();
    bool limited = false;
    for (std::uint32_t i = 0; i < view_->partitions.count; ++i)
        limited = limited || SPUR_AT(spur_partition_view, view_->partitions, i)->max_cpus_per_node != SPUR_UNLIMITED;
    if (!limited) return;
    partition_cpus_.assign(std::size_t{view_->partitions.count} * nodes_.size(), 0);
    for (std::uint32_t i = 0; i < view_->running_order.count; ++i) {
        const auto& job = *SPUR_AT(spur_job_view, view_->running, *SPUR_AT(std::uint32_t, view_->running_order, i));
        if (job.partitions.count == 0) continue;
        const auto partition = *SPUR_AT(std::uint32_t, job.partitions, 0);
        for (std::uint32_t s = 0; s < job.held->share_count; ++s)
            if (const auto& share = job.held->shares[s];
                share.node < nodes_.size() && partition < view_->partitions.count)
                partition_cpus_[std::size_t{partition} * nodes_.size() + share.node] += share.cpus;
    }
}

std::int32_t Picture::find_gres(const Node& node, std::uint32_t name) const {
    for (std::uint32_t i = 0; i < node.gres_count; ++i)
        if (gres_[node.first_gres + i].name == name) return static_cast<std::int32_t>(i);
    return -1;
}

std::uint64_t Picture::devices_of(const Gres& gres, std::uint32_t type) const {
    std::uint64_t set = 0;
    for (std::uint32_t d = 0; d < gres.devices; ++d)
        if (type == 0 || devices_[gres.first_device + d].type == type) set |= bit(d);
    return set;
}

}  // namespace spur::select_gpu
