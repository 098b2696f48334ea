// Nodes first, then what runs on them, then who waits: each step only uses what exists already.
#include "cluster.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace spur::check {

Cluster::Cluster(Dice& dice, const ClusterWishes& wishes, Shape shape)
    : dice_(dice), wishes_(wishes), memory_(shape), unknown_flag_(shape.extra != 0 ? 1u << 31 : 0) {
    const auto amount = [&](std::uint32_t most) { return wishes.exactly ? most : dice.between(most / 8, most); };
    make_kinds();
    make_nodes(std::max(1u, amount(wishes.nodes)));
    make_partitions();
    make_accounts();
    make_licenses();
    make_running(amount(wishes.running));
    make_reservations();
    make_pending(amount(wishes.pending));
    lay_out();
}

// ---- nodes ---------------------------------------------------------------------------------------------------------

void Cluster::make_kinds() {
    for (auto i = dice_.between(1, 3); i > 0; --i)
        kinds_.push_back({.sockets = dice_.between(1, 2),
                          .cores_per_socket = dice_.between(1, 16),
                          .threads_per_core = dice_.between(1, 2),
                          .memory_mib = std::uint64_t{dice_.between(4, 64)} * 1024,
                          .gpus = dice_.one_in(2) ? 0 : dice_.between(1, 8),
                          .gpu_type = dice_.below(3),
                          .counted = dice_.below(5),
                          .weight = dice_.between(1, 3),
                          .spare_core = dice_.one_in(4)});
}

void Cluster::make_nodes(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        Node node{.name = "n" + std::to_string(i + 1), .kind = dice_.below(static_cast<std::uint32_t>(kinds_.size()))};
        const auto& kind = kinds_[node.kind];
        node.cores_used.resize(kind.cores());
        node.cores_offered.assign(kind.cores(), true);
        if (kind.spare_core && kind.cores() > 1) node.cores_offered[0] = false;
        node.gpus_used.resize(kind.gpus);
        if (dice_.one_in(12))
            node.flags = SPUR_NODE_DOWN;
        else if (dice_.one_in(12))
            node.flags = SPUR_NODE_DRAINING;
        nodes_.push_back(std::move(node));
    }
}

std::vector<bool> Cluster::some_nodes(std::uint32_t one_in) {
    std::vector<bool> set(nodes_.size());
    for (std::size_t i = 0; i < set.size(); ++i) set[i] = dice_.one_in(one_in);
    set[dice_.below(static_cast<std::uint32_t>(set.size()))] = true;
    return set;
}

void Cluster::make_partitions() {
    const auto count = dice_.between(1, 3);
    for (std::uint32_t i = 0; i < count; ++i)
        partitions_.push_back({.name = memory_.str("p" + std::to_string(i)),
                               .nodes = memory_.bits(i == 0 ? std::vector<bool>(nodes_.size(), true) : some_nodes(2)),
                               .state = i > 0 && dice_.one_in(6) ? SPUR_PARTITION_DOWN : SPUR_PARTITION_UP,
                               .tier = dice_.between(1, 2),
                               .max_time_s = i > 0 && dice_.one_in(3) ? 3600u : SPUR_UNLIMITED,
                               .max_nodes = i > 0 && dice_.one_in(4) ? 2u : SPUR_UNLIMITED,
                               .max_cpus_per_node = SPUR_UNLIMITED,
                               .job_factor = dice_.between(1, 100),
                               .oversubscribe = 1});
}

// ---- running -------------------------------------------------------------------------------------------------------

void Cluster::make_running(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool whole = dice_.one_in(5);
        std::vector<spur_node_share> shares;
        for (auto tries = dice_.between(1, 3); tries > 0; --tries)
            run_on(nodes_[dice_.below(static_cast<std::uint32_t>(nodes_.size()))], whole, shares);
        if (shares.empty()) continue;
        spur_job_view job{};
        job.id = 1000 + i;
        job.flags = unknown_flag_ | (whole ? SPUR_JOB_EXCLUSIVE : 0);
        job.klass = job.id;
        job.uid = 1000 + dice_.below(3);
        job.association = job.qos = job.reservation = SPUR_NONE;
        job.partitions = memory_.numbers({0});
        job.array_tasks = 1;
        job.started = now_ - dice_.between(1, 100'000);
        job.submitted = job.eligible = job.started - dice_.below(1000);
        job.limit_s = dice_.one_in(6) ? SPUR_UNLIMITED : dice_.between(100'000, 200'000);
        job.ends = job.limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : job.started + job.limit_s;
        job.min_nodes = job.max_nodes = static_cast<std::uint32_t>(shares.size());
        const auto* const kept = memory_.copy(shares.data(), shares.size());
        job.held = memory_.one(spur_placed(kept, static_cast<std::uint32_t>(shares.size())));
        running_.push_back(job);
    }
    running_order_.resize(running_.size());
    std::iota(running_order_.begin(), running_order_.end(), 0u);
    std::ranges::stable_sort(running_order_, {}, [&](auto slot) { return running_[slot].ends; });
}

bool Cluster::run_on(Node& node, bool whole, std::vector<spur_node_share>& shares) {
    const auto& kind = kinds_[node.kind];
    const auto number = static_cast<std::uint32_t>(&node - nodes_.data());
    const bool twice = std::ranges::any_of(shares, [&](const auto& share) { return share.node == number; });
    if (node.flags != SPUR_NODE_USABLE || twice || (whole && node.jobs > 0)) return false;

    std::vector<bool> cores(kind.cores()), devices(kind.gpus);
    std::uint32_t held = 0, gpus = 0;
    for (std::uint32_t core = 0; core < kind.cores(); ++core)
        if (node.cores_offered[core] && !node.cores_used[core] && (whole || dice_.one_in(3)))
            cores[core] = true, ++held;
    if (held == 0) return false;
    for (std::uint32_t gpu = 0; gpu < kind.gpus; ++gpu)
        if (!node.gpus_used[gpu] && dice_.one_in(3)) devices[gpu] = node.gpus_used[gpu] = true, ++gpus;

    spur_node_share share{};
    share.node = number;
    share.cpus = held * kind.threads_per_core;
    share.memory_mib = dice_.below(static_cast<std::uint32_t>(kind.memory_mib - node.memory_used + 1));
    share.cores = memory_.bits(cores);
    share.tasks = held;
    share.flags = whole ? SPUR_SHARE_WHOLE_NODE : 0;
    if (gpus > 0)
        share.gres = memory_.span(std::vector<spur_gres_share>{{gpu_name, kind.gpu_type, gpus, memory_.bits(devices)}});
    for (std::uint32_t core = 0; core < kind.cores(); ++core)
        if (cores[core]) node.cores_used[core] = true;
    node.cpus_used += share.cpus;
    node.memory_used += share.memory_mib;
    ++node.jobs;
    if (whole) node.flags |= SPUR_NODE_EXCLUSIVE;
    shares.push_back(share);
    return true;
}

// ---- accounts, licenses, reservations
// ----------------------------------------------------------------------------------

void Cluster::make_accounts() {
    associations_.push_back({memory_.str("root"), {}, SPUR_NONE, 1, SPUR_NONE, 0, 0});
    for (auto account = dice_.between(1, 3); account > 0; --account) {
        const auto parent = static_cast<std::uint32_t>(associations_.size());
        const auto name = memory_.str("account" + std::to_string(account));
        associations_.push_back({name, {}, 0, dice_.between(1, 10), SPUR_NONE, 0, 0});
        for (std::uint32_t user = 0; user < 3; ++user) {
            const double usage = dice_.one_in(4) ? 0 : dice_.fraction() * 1e6;
            associations_.push_back({name, memory_.str("user" + std::to_string(user)), parent,
                                     dice_.one_in(5) ? SPUR_SHARES_PARENT : dice_.between(0, 10), 1000 + user,
                                     dice_.below(100), usage});
            associations_[parent].usage += usage;
            associations_[0].usage += usage;
        }
    }
    for (std::uint32_t i = 0; i < 2; ++i)
        qos_.push_back({memory_.str(i == 0 ? "normal" : "high"), i * 100, SPUR_PREEMPT_OFF,
                        memory_.bits(std::vector<bool>(2)), 1.0, 0});
}

void Cluster::make_licenses() {
    for (auto i = dice_.below(3); i > 0; --i) {
        const auto total = dice_.between(1, 8);
        licenses_.push_back({memory_.str("lic" + std::to_string(i)), total, dice_.below(total + 1)});
    }
}

void Cluster::make_reservations() {
    std::vector<bool> taken(nodes_.size());  // reservations of one node do not overlap: the host sees to that
    for (auto i = dice_.below(3); i > 0; --i) {
        auto nodes = some_nodes(4);
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            nodes[n] = nodes[n] && !taken[n];
            taken[n] = taken[n] || nodes[n];
        }
        const auto start = now_ - 5000 + dice_.below(20'000);
        reservations_.push_back({.name = memory_.str("r" + std::to_string(i)),
                                 .start = start,
                                 .end = start + dice_.between(6000, 90'000),
                                 .partition = SPUR_NONE,
                                 .nodes = memory_.bits(nodes)});
    }
    std::ranges::stable_sort(reservations_, {}, &spur_reservation_view::start);
}

// ---- the picture ---------------------------------------------------------------------------------------------------

spur_node_view Cluster::record_of(const Node& node, std::uint32_t number) {
    const auto& kind = kinds_[node.kind];
    const auto offered = static_cast<std::uint32_t>(std::ranges::count(node.cores_offered, true));
    std::vector<spur_device_view> devices;
    std::vector<spur_device_link> links;
    for (std::uint32_t i = 0; i < kind.gpus; ++i) {
        devices.push_back({i, kind.gpu_type, i % kind.sockets, SPUR_NONE, SPUR_NONE, 0, 1, node.gpus_used[i], {}});
        for (std::uint32_t j = 0; j < i; ++j)
            if (i / 4 == j / 4)
                links.push_back({j, i, 0, 400, SPUR_LINK_NVLINK, 0}),
                    links.push_back({i, j, 0, 400, SPUR_LINK_NVLINK, 0});
    }
    std::vector<spur_gres_view> gres;
    if (kind.gpus > 0)
        gres.push_back({gpu_name, 0, kind.gpus, static_cast<std::uint64_t>(std::ranges::count(node.gpus_used, true)),
                        memory_.span(devices), memory_.span(links)});
    if (kind.counted > 0) gres.push_back({counted_name, 0, kind.counted, node.counted_used, {}, {}});
    return {.name = memory_.str(node.name),
            .flags = node.flags | unknown_flag_,
            .weight = kind.weight,
            .sockets = kind.sockets,
            .cores_per_socket = kind.cores_per_socket,
            .threads_per_core = kind.threads_per_core,
            .cpus = offered * kind.threads_per_core,
            .cpus_used = node.cpus_used,
            .klass = node.kind * 1000 + number,  // features differ node by node here: no two are alike
            .memory_mib = kind.memory_mib,
            .memory_used_mib = node.memory_used,
            .tmp_mib = 1000,
            .cores_used = memory_.bits(node.cores_used),
            .cores_offered = memory_.bits(node.cores_offered),
            .features = memory_.bits({dice_.one_in(2), dice_.one_in(2)}),
            .gres = memory_.span(gres),
            .groups = memory_.numbers({0, number < nodes_.size() / 2 ? 1U : 2U, 3}),
            .owner_uid = SPUR_NONE,
            .running_jobs = node.jobs,
            .most_jobs_per_core = 0,
            .reserved = 0};
}

// A kind that nobody knows yet, two switches, and a block of all.
std::vector<spur_group_view> Cluster::groups() {
    const auto all = std::vector<bool>(nodes_.size(), true);
    auto lower = all, upper = all;
    for (std::size_t i = 0; i < all.size(); ++i) (i < all.size() / 2 ? upper : lower)[i] = false;
    constexpr std::uint32_t of_a_later_release = 99;
    return {{memory_.str("x"), of_a_later_release, 0, SPUR_NONE, 0, memory_.bits(all), {}},
            {memory_.str("s1"), SPUR_GROUP_SWITCH, 0, SPUR_NONE, 0, memory_.bits(lower), {}},
            {memory_.str("s2"), SPUR_GROUP_SWITCH, 0, SPUR_NONE, 0, memory_.bits(upper), {}},
            {memory_.str("b"), SPUR_GROUP_BLOCK, 0, SPUR_NONE, 0, memory_.bits(all), {}}};
}

void Cluster::lay_out() {
    std::vector<spur_node_view> nodes;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) nodes.push_back(record_of(nodes_[i], i));
    const auto words = [&](std::initializer_list<const char*> texts) {
        std::vector<spur_str> all;
        for (const char* text : texts) all.push_back(memory_.str(text));
        return memory_.span(all);
    };
    view_ = memory_.one(spur_cluster_view{.size = 0,
                                          .reserved = 0,
                                          .number = 1,
                                          .now = now_,
                                          .nodes = memory_.span(nodes),
                                          .pending = memory_.span(pending_),
                                          .pending_order = memory_.numbers(pending_order_),
                                          .running = memory_.span(running_),
                                          .running_order = memory_.numbers(running_order_),
                                          .partitions = memory_.span(partitions_),
                                          .reservations = memory_.span(reservations_),
                                          .licenses = memory_.span(licenses_),
                                          .qos = memory_.span(qos_),
                                          .associations = memory_.span(associations_),
                                          .groups = memory_.span(groups()),
                                          .features = words({"fast", "big"}),
                                          .gres_names = words({"gpu", "bandwidth"}),
                                          .gres_types = words({"", "a100", "h100"}),
                                          .changes = nullptr});
}

}  // namespace spur::check
