// ClusterBuilder: every step is a command, so a built cluster is one that could have come about.
#include "tests/support/cluster_builder.hpp"

#include <stdexcept>

#include "core/machine/validate.hpp"
#include "core/text/hostlist.hpp"

namespace spur::testing {

NodeOption cpus(std::uint32_t count) { return topology(1, static_cast<std::uint16_t>(count), 1); }

NodeOption topology(std::uint16_t sockets, std::uint16_t cores, std::uint16_t threads) {
    return {[=](NodeConfig& node) {
        node.topology = {1, sockets, cores, threads};
        node.cpus = node.topology.threads();
    }};
}

NodeOption memory_mib(std::uint64_t mib) {
    return {[=](NodeConfig& node) { node.memory_mib = mib; }};
}

NodeOption gpus(std::uint32_t count, std::string_view type) {
    return {[count, type = Text{type}](NodeConfig& node) {
        std::uint32_t first = 0;
        for (const auto& pool : node.gres)
            if (pool.name == "gpu") first += static_cast<std::uint32_t>(pool.count);
        node.gres.push_back({"gpu", type, count, first, true});
    }};
}

NodeOption feature(std::string_view name) {
    return {[name = Text{name}](NodeConfig& node) { node.features.push_back(name); }};
}

JobOption on(std::string_view nodes) {
    return {[nodes = std::string{nodes}](JobPlan& plan) { plan.nodes = nodes; }};
}
JobOption until(std::uint64_t seconds) {
    return {[=](JobPlan& plan) { plan.until_s = seconds; }};
}
JobOption cpus_each(std::uint32_t cpus) {
    return {[=](JobPlan& plan) { plan.cpus_each = cpus; }};
}
JobOption spec(std::function<void(JobSpec&)> change) {
    return {[change = std::move(change)](JobPlan& plan) { change(plan.spec); }};
}
JobOption node_count(std::uint32_t least, std::optional<std::uint32_t> most) {
    return spec([=](JobSpec& job) {
        job.min_nodes = least;
        job.max_nodes = most;
    });
}
JobOption tasks(std::uint32_t count) {
    return spec([=](JobSpec& job) { job.tasks = count; });
}
JobOption limit_min(std::uint32_t minutes) {
    return spec([=](JobSpec& job) { job.time_limit_min = minutes; });
}
JobOption user(std::string_view name, Uid uid) {
    return spec([name = Text{name}, uid](JobSpec& job) {
        job.user_name = name;
        job.uid = uid;
    });
}
JobOption array(std::string_view text) {
    return spec([text = Text{text}](JobSpec& job) { job.array = text; });
}
JobOption dependency(std::string_view text) {
    return spec([text = Text{text}](JobSpec& job) { job.dependency = text; });
}
JobOption partition(std::string_view name) {
    return spec([name = Text{name}](JobSpec& job) { job.partitions = {name}; });
}

namespace {

[[noreturn]] void complain(std::string_view what, const Error& error) {
    throw std::runtime_error(fmt::format("{}: {}", what, error.text));
}

}  // namespace

ClusterBuilder::ClusterBuilder() { config_.cluster_name = "test"; }

ClusterBuilder& ClusterBuilder::add_nodes(std::string_view names, const std::vector<NodeOption>& options) {
    NodeConfig node;
    node.memory_mib = 64'000;
    auto hosts = expand_hosts(names);
    if (!hosts) complain(names, hosts.error());
    for (const auto& name : *hosts) node.names.emplace_back(name);
    for (const auto& option : options) option.change(node);
    config_.nodes.push_back(std::move(node));
    stale_ = true;
    return *this;
}

ClusterBuilder& ClusterBuilder::partition(std::string_view name, std::string_view nodes,
                                          std::function<void(Partition&)> change) {
    Partition fresh;
    fresh.name = Text{name};
    fresh.node_text = Text{nodes};
    fresh.is_default = config_.partitions.empty();
    if (change) change(fresh);
    config_.partitions.push_back(std::move(fresh));
    stale_ = true;
    return *this;
}

ClusterBuilder& ClusterBuilder::license(std::string_view name, std::uint32_t count) {
    config_.licenses.push_back({Text{name}, count});
    stale_ = true;
    return *this;
}

ClusterBuilder& ClusterBuilder::policies(const std::function<void(Policies&)>& change) {
    change(config_.policies);
    stale_ = true;
    return *this;
}

ClusterBuilder& ClusterBuilder::at(std::uint64_t seconds) {
    now_ = start + static_cast<UnixSeconds>(seconds);
    return *this;
}

void ClusterBuilder::configure() {
    stale_ = false;
    auto config = config_;
    if (config.partitions.empty()) {
        Partition all;
        all.name = "main";
        all.node_text = "ALL";
        all.is_default = true;
        config.partitions.push_back(std::move(all));
    }
    must(ApplyConfig{std::move(config)});
    std::vector<std::string> unknown;
    for (const auto& node : cluster_.nodes())
        if (node.configured && node.state == NodeState::unknown) unknown.push_back(node.name.str());
    for (const auto& name : unknown) must(registration(name));
}

NodeRegistered ClusterBuilder::registration(std::string_view name, std::string_view boot_id) {
    const auto* node = cluster_.find_node(name);
    NodeRegistered found;
    found.node = node->id;
    found.topology = node->topology;
    found.cpus = node->cpus;
    found.memory_mib = node->memory_mib;
    found.tmp_mib = node->tmp_mib;
    found.gres = node->gres;
    found.boot_id = Text{boot_id};
    found.boot_time = found.start_time = now_;
    return found;
}

Cluster& ClusterBuilder::cluster() {
    if (stale_) configure();
    return cluster_;
}

Result<Events> ClusterBuilder::apply(Command command) {
    if (stale_) configure();
    return cluster_.apply({now_, std::move(command)});
}

Events ClusterBuilder::must(Command command) {
    auto done = cluster_.apply({now_, std::move(command)});
    if (!done) complain("a command was refused", done.error());
    return *std::move(done);
}

JobId ClusterBuilder::submit(std::string_view name, const std::vector<JobOption>& options) {
    cluster();
    JobPlan plan;
    plan.spec.name = Text{name};
    plan.spec.script = "#!/bin/sh\ntrue\n";
    plan.spec.user_name = "alice";
    plan.spec.uid = 1000;
    for (const auto& option : options) option.change(plan);
    auto spec = validate(cluster_, std::move(plan.spec), Actor::root(), now_);
    if (!spec) complain(name, spec.error());
    const auto events = must(SubmitJob{{*std::move(spec)}, Actor::root(), {}});
    const auto id = std::get<JobQueued>(events.front()).job;
    ids_[std::string{name}] = id;
    return id;
}

void ClusterBuilder::run(std::string_view name, const std::vector<JobOption>& options) {
    JobPlan plan;
    for (const auto& option : options) option.change(plan);
    const auto hosts = expand_hosts(plan.nodes);
    auto all = options;
    all.insert(all.begin(), node_count(static_cast<std::uint32_t>(hosts->size())));
    if (plan.until_s) {
        const auto seconds = start + static_cast<UnixSeconds>(*plan.until_s) - now_;
        all.push_back(limit_min(static_cast<std::uint32_t>((seconds + 59) / 60)));
    }
    const auto id = submit(name, all);
    if (auto started = start_on(id, plan.nodes, plan.cpus_each); !started) complain(name, started.error());
}

Placement ClusterBuilder::place(JobId id, std::string_view nodes, std::optional<std::uint32_t> cpus) {
    Placement placement;
    placement.job = id;
    const auto& job = *cluster().find_job(id);
    placement.partition = job.spec->partitions.front();
    const auto hosts = expand_hosts(nodes);
    if (!hosts) complain(nodes, hosts.error());
    for (const auto& name : *hosts) {
        const auto& node = *cluster_.find_node(name);
        NodeShare share;
        share.node = node.id;
        const auto free = node.usable_cores() - node.use.busy_cores();
        const auto wanted = cpus.value_or(node.usable_cpus());
        free.for_each([&](std::uint32_t core) {
            if (share.cores.count() * node.cpus_per_core() < wanted) share.cores.add(core);
        });
        share.cpus = share.cores.count() * node.cpus_per_core();
        share.memory_mib = job.spec->mem_per_node_mib.value_or(0);
        placement.shares.push_back(std::move(share));
    }
    return placement;
}

Result<Events> ClusterBuilder::start_on(JobId id, std::string_view nodes, std::optional<std::uint32_t> cpus,
                                        std::optional<std::uint32_t> task) {
    auto placement = place(id, nodes, cpus);
    placement.array_task = task;
    return apply(StartJob{{std::move(placement)}});
}

void ClusterBuilder::finish(JobId id, std::uint32_t exit_status) {
    must(FinishJob{.job = id, .attempt = cluster_.find_job(id)->attempt, .exit_status = exit_status});
    clean_up(id);
}

void ClusterBuilder::clean_up(JobId id) {
    const auto* job = cluster_.find_job(id);
    if (!job || !job->is_completing()) return;
    NodeJobDone done{id, job->attempt, {}};
    for (const auto share : job->open_shares) done.nodes.push_back(job->allocation->shares[share].node);
    for (const auto& share : job->leaving) done.nodes.push_back(share.node);
    must(done);
}

std::string snapshot_of(const Cluster& cluster) {
    std::string bytes;
    if (const auto saved = cluster.save([&](std::string_view piece) { bytes.append(piece); }); !saved)
        throw std::runtime_error{saved.error().text};
    return bytes;
}

}  // namespace spur::testing
