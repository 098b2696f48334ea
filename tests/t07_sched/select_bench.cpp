#include "tests/t07_sched/select_bench.hpp"

#include <spur/plugin/draft/gpu.h>

#include <algorithm>
#include <stdexcept>

namespace spur::test {

namespace {

std::set<std::uint32_t> members(const spur_bits& bits) {
    std::set<std::uint32_t> set;
    for (std::uint32_t i = 0; i < bits.count; ++i)
        if (plugin::has_bit(bits, i)) set.insert(i);
    return set;
}

}  // namespace

std::vector<Link> nvlink_pairs(std::uint32_t gpus) {
    std::vector<Link> links;
    for (std::uint32_t i = 0; i + 1 < gpus; i += 2)
        links.push_back({i, i + 1, 400, SPUR_LINK_NVLINK}), links.push_back({i + 1, i, 400, SPUR_LINK_NVLINK});
    return links;
}

std::vector<Link> xgmi_islands(std::uint32_t gpus, std::uint32_t island) {
    std::vector<Link> links;
    for (std::uint32_t i = 0; i < gpus; ++i)
        for (std::uint32_t j = 0; j < gpus; ++j)
            if (i != j && i / island == j / island) links.push_back({i, j, 100, SPUR_LINK_XGMI});
    return links;
}

SelectBench::SelectBench(const TestOptions& options, const std::string& plugin)
    : plugin_{TestPlugin::load(spur_plugin_path(plugin))},
      instance_{plugin_.create(host_, options)},
      ops_{instance_.query<spur_select_ops>(SPUR_SELECT_IFACE)},
      shares_(256),
      gres_(1024),
      words_(4096) {
    if (!instance_) throw std::runtime_error(instance_.error().text);
    gres_names_ = {plugin::str("gpu"), plugin::str("shard"), plugin::str("bandwidth")};
    gres_types_ = {plugin::str(""), plugin::str("a100"), plugin::str("h100")};
    partition_.state = SPUR_PARTITION_UP;
    partition_.max_time_s = partition_.max_nodes = partition_.max_cpus_per_node = SPUR_UNLIMITED;
    partition_.oversubscribe = 1;
}

SelectBench::~SelectBench() {
    if (cycle_ != nullptr) ops_->end(instance_.get(), cycle_);
}

spur_bits SelectBench::node_set(const std::set<std::uint32_t>& set) {
    std::vector<std::uint64_t> words((nodes_.size() + 63) / 64);
    for (const auto i : set) words[i / 64] |= std::uint64_t{1} << (i % 64);
    return {static_cast<const std::uint64_t*>(keep(words).data), static_cast<std::uint32_t>(nodes_.size()), 0};
}

SelectBench& SelectBench::nodes(std::uint32_t count, const NodeShape& shape) {
    const auto all = shape.sockets * shape.cores;
    const auto bits = [&](std::uint32_t from, std::uint32_t to) {
        std::vector<std::uint64_t> words((all + 63) / 64);
        for (auto i = from; i < to; ++i) words[i / 64] |= std::uint64_t{1} << (i % 64);
        return spur_bits{static_cast<const std::uint64_t*>(keep(words).data), all, 0};
    };
    for (std::uint32_t n = 0; n < count; ++n) {
        std::vector<spur_gres_view> gres;
        std::vector<spur_device_view> devices, shards;
        std::vector<spur_device_link> links;
        for (std::uint32_t i = 0; i < shape.gpus; ++i) {
            const auto socket = i * shape.sockets / shape.gpus;
            const auto type = shape.gpu_types.empty() ? 1 : shape.gpu_types[i];
            devices.push_back(
                {i, type, socket, SPUR_NONE, SPUR_NONE, 0, 1, 0,
                 shape.near_cores ? bits(socket * shape.cores, (socket + 1) * shape.cores) : spur_bits{}});
            shards.push_back({i, type, socket, i, 0, 0, shape.shards_per_gpu, 0, {}});
        }
        for (const auto& link : shape.links) links.push_back({link.from, link.to, 0, link.weight, link.kind, 0});
        if (shape.gpus > 0) gres.push_back({gpu, 0, shape.gpus, 0, keep(devices), keep(links)});
        if (shape.shards_per_gpu > 0)
            gres.push_back({shard, 0, std::uint64_t{shape.gpus} * shape.shards_per_gpu, 0, keep(shards), {}});
        if (shape.counted > 0) gres.push_back({bandwidth, 0, shape.counted, 0, {}, {}});
        std::vector<spur_device_view> counts;
        std::uint64_t together = 0;
        for (const auto& [type, amount] : shape.counted_types) {
            const auto index = static_cast<std::uint32_t>(counts.size());
            counts.push_back({index, type, SPUR_NONE, SPUR_NONE, SPUR_NONE, 0, amount, 0, {}});
            together += amount;
        }
        if (together > 0) gres.push_back({bandwidth, 0, together, 0, keep(counts), {}});
        spur_node_view node{};
        node.name = plugin::str("n");
        node.flags = SPUR_NODE_USABLE;
        node.weight = shape.weight;
        node.sockets = shape.sockets;
        node.cores_per_socket = shape.cores;
        node.threads_per_core = shape.threads;
        node.cpus = all * shape.threads;
        node.memory_mib = shape.memory_mib;
        node.tmp_mib = 1000;
        node.cores_used = bits(0, 0);
        node.cores_offered = bits(0, all);
        node.gres = keep(gres);
        node.owner_uid = SPUR_NONE;
        nodes_.push_back(node);
        shapes_.push_back(shape);
    }
    return *this;
}

SelectBench& SelectBench::partition(const std::function<void(spur_partition_view&)>& change) {
    change(partition_);
    return *this;
}

SelectBench& SelectBench::leaf_switches(std::uint32_t nodes_each) {
    std::set<std::uint32_t> all;
    for (std::uint32_t i = 0; i < node_count(); ++i) all.insert(i);
    groups_.push_back({plugin::str("b"), SPUR_GROUP_BLOCK, 0, SPUR_NONE, 0, node_set(all), {}});  // passed over
    for (std::uint32_t first = 0; first < nodes_.size(); first += nodes_each) {
        std::set<std::uint32_t> below;
        for (auto i = first; i < std::min<std::uint32_t>(first + nodes_each, node_count()); ++i) {
            below.insert(i);
            nodes_[i].groups = keep(std::vector<std::uint32_t>{0, static_cast<std::uint32_t>(groups_.size())});
        }
        groups_.push_back({plugin::str("s"), SPUR_GROUP_SWITCH, 0, SPUR_NONE, 0, node_set(below), {}});
    }
    return *this;
}

std::uint32_t SelectBench::pending(const std::function<void(Ask&)>& write) {
    spur_job_view job{};
    job.id = static_cast<std::uint32_t>(jobs_.size() + 1);
    job.klass = job.id;
    job.uid = 1000;
    job.association = job.qos = job.reservation = SPUR_NONE;
    job.partitions = plugin::span_of(partition_list_);
    job.array_tasks = 1;
    job.min_nodes = 1;
    job.max_nodes = SPUR_UNLIMITED;
    job.limit_s = 3600;
    auto& requests = requests_.emplace_back();
    Ask ask{job, requests};
    write(ask);
    job.gres = plugin::span_of(requests);
    jobs_.push_back(job);
    order_.push_back(job.id - 1);
    if (cycle_ != nullptr) new_cycle();
    return job.id - 1;
}

const spur_cluster_view& SelectBench::view() {
    std::set<std::uint32_t> all;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) all.insert(i);
    partition_.nodes = node_set(all);
    view_ = {};
    view_.size = sizeof view_;
    view_.number = 1;
    view_.now = 1'000'000;
    view_.nodes = plugin::span_of(nodes_);
    view_.pending = plugin::span_of(jobs_);
    view_.pending_order = plugin::span_of(order_);
    view_.partitions = plugin::span_of(&partition_, 1);
    view_.groups = plugin::span_of(groups_);
    view_.gres_names = plugin::span_of(gres_names_);
    view_.gres_types = plugin::span_of(gres_types_);
    return view_;
}

spur_select_cycle* SelectBench::cycle() {
    if (cycle_ == nullptr) new_cycle();
    return cycle_;
}

void SelectBench::new_cycle() {
    if (cycle_ != nullptr) ops_->end(instance_.get(), cycle_);
    cycle_ = nullptr;
    spur_error err{sizeof(spur_error), 0, {}};
    if (ops_->begin(instance_.get(), &view(), &cycle_, &err) != SPUR_OK) throw std::runtime_error(err.text);
}

Placed SelectBench::pick(std::uint32_t job, std::uint32_t slot, std::uint32_t flags) {
    auto* const cycle = this->cycle();
    spur_placement out{};
    out.size = sizeof out;
    const auto bind = [&] {
        out.shares = shares_.data(), out.share_capacity = static_cast<std::uint32_t>(shares_.size());
        out.gres = gres_.data(), out.gres_capacity = static_cast<std::uint32_t>(gres_.size());
        out.words = words_.data(), out.word_capacity = static_cast<std::uint32_t>(words_.size());
    };
    bind();
    const spur_pick question{sizeof(spur_pick), job, 0, slot, {}, flags, 0};
    Placed placed;
    placed.verdict = ops_->pick(cycle, &question, &out);
    if (placed.verdict == SPUR_NO_ROOM) {
        shares_.resize(std::max<std::size_t>(shares_.size(), out.share_wanted));
        gres_.resize(std::max<std::size_t>(gres_.size(), out.gres_wanted));
        words_.resize(std::max<std::size_t>(words_.size(), out.word_wanted));
        bind();
        placed.verdict = ops_->pick(cycle, &question, &out);
    }
    if (!placed.fits() || (flags & SPUR_PICK_TEST_ONLY) != 0) return placed;
    placed.shares = plugin::span_of(out.shares, out.share_count);
    for (const auto& share : plugin::Records<spur_node_share>{placed.shares}) {
        Placed::OnNode one{share.node,       share.cpus,           share.tasks, share.flags,
                           share.memory_mib, members(share.cores), {},          {}};
        for (const auto& piece : plugin::Records<spur_gres_share>{share.gres}) {
            one.gres_count += piece.count;
            if (piece.name == gpu) one.gpus.merge(members(piece.devices));
            if (piece.name == shard) one.shards[*members(piece.devices).begin()] += piece.count;
        }
        placed.nodes.push_back(std::move(one));
    }
    return placed;
}

Placed SelectBench::start(std::uint32_t job, std::uint32_t slot) {
    auto placed = pick(job, slot);
    if (placed.fits()) take(slot, placed.shares, jobs_[job].flags);
    return placed;
}

void SelectBench::give(std::uint32_t slot, const spur_span& shares, std::uint32_t flags) {
    const auto placement = spur_placed(static_cast<const spur_node_share*>(shares.data), shares.count);
    ops_->give(cycle(), slot, &placement, flags);
}
void SelectBench::take(std::uint32_t slot, const spur_span& shares, std::uint32_t flags) {
    const auto placement = spur_placed(static_cast<const spur_node_share*>(shares.data), shares.count);
    ops_->take(cycle(), slot, &placement, flags);
}
void SelectBench::copy(std::uint32_t from, std::uint32_t to) {
    if (ops_->copy(cycle(), from, to) != SPUR_OK) throw std::runtime_error("copy failed");
}

}  // namespace spur::test
