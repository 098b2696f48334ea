// Taking a configuration into the state. Nodes keep their numbers, their condition and their jobs.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/model/switches.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"

namespace spur {

namespace {

bool is_all(std::string_view text) { return text == "ALL" || text == "all"; }

Result<void> check_node(const NodeConfig& config, const Text& name) {
    const auto& topology = config.topology;
    if (topology.cores() == 0 || topology.threads_per_core == 0)
        return fail(ErrorCode::invalid, "node {}: sockets, cores_per_socket and threads_per_core must be at least 1",
                    name);
    if (config.cpus != topology.cores() && config.cpus != topology.threads())
        return fail(ErrorCode::invalid, "node {}: cpus = {} matches neither its {} cores nor its {} threads", name,
                    config.cpus, topology.cores(), topology.threads());
    if (config.core_spec >= topology.cores())
        return fail(ErrorCode::invalid, "node {}: core_spec = {} leaves no core for jobs", name, config.core_spec);
    return {};
}

// One entry stands for all its names, and so do its addr and hostname: in the same order. Logs of older releases may
// hold a text that is no list; it is taken as it is.
Text nth_host(const Text& pattern, const HostList& hosts, std::size_t place) {
    const auto name = hosts.nth(place);
    return name ? Text{*name} : pattern;
}

// The configuration knows how the node is reached, its agent on which port: "n1.ib" and "n1:41233" are "n1.ib:41233".
Text with_port_of(const Text& registered, const Text& configured) {
    const auto colon = registered.view().rfind(':');
    const auto colons = std::ranges::count(configured.view(), ':');
    if (colon == std::string_view::npos || colons == 1 || configured.view().starts_with('[')) return configured;
    const auto port = registered.view().substr(colon + 1);
    return colons == 0 ? fmt::format("{}:{}", configured, port) : fmt::format("[{}]:{}", configured, port);
}

struct EntryHosts {  // of one entry, expanded once
    HostList addrs, hostnames;
    explicit EntryHosts(const NodeConfig& config)
        : addrs{HostList::parse(config.addr.view()).value_or(HostList{})},
          hostnames{HostList::parse(config.hostname.view()).value_or(HostList{})} {}
};

void set_from_config(Node& node, const NodeConfig& config, const EntryHosts& hosts, std::size_t place) {
    node.configured = true;
    if (!config.hostname.empty()) node.hostname = nth_host(config.hostname, hosts.hostnames, place);
    if (node.hostname.empty()) node.hostname = node.name;
    if (!config.addr.empty()) node.addr = with_port_of(node.addr, nth_host(config.addr, hosts.addrs, place));
    if (config.port) node.port = config.port;
    node.topology = config.topology;
    node.cpus = config.cpus;
    node.memory_mib = config.memory_mib;
    node.tmp_mib = config.tmp_mib;
    node.gres = config.gres;
    node.features = config.features;
    node.active_features = config.features;
    node.weight = config.weight;
    node.core_spec = config.core_spec;
    node.mem_spec_mib = config.mem_spec_mib;
    if (!config.comment.empty()) node.comment = config.comment;
}

void set_first_state(Node& node, const NodeConfig& config, UnixSeconds at) {
    node.state = config.state == NodeState::idle ? NodeState::unknown : config.state;
    node.flags = config.state_flags | node_flag::no_respond;
    if (config.state == NodeState::down || config.state_flags) {
        node.reason = config.reason;
        node.reason_time = config.reason.empty() ? 0 : at;
    }
}

}  // namespace

// The nodes as they would be; refused if jobs on a node would no longer fit what it becomes.
Result<std::vector<Node>> ClusterOps::plan_nodes(const ClusterConfig& config) const {
    auto nodes = c.nodes_;
    std::map<Text, NodeId, std::less<>> by_name = c.index_->node_by_name;
    std::set<NodeId> seen;
    for (const auto& entry : config.nodes) {
        const EntryHosts hosts{entry};
        for (std::size_t i = 0; i < entry.names.size(); ++i) {
            const auto& name = entry.names[i];
            SPUR_CHECK(check_node(entry, name));
            const auto place = by_name.find(name);
            const bool fresh = place == by_name.end();
            if (fresh) {
                Node node;
                node.id = NodeId{static_cast<std::uint32_t>(nodes.size())};
                node.name = name;
                set_first_state(node, entry, at);
                by_name[name] = node.id;
                nodes.push_back(std::move(node));
            }
            auto& node = fresh ? nodes.back() : nodes[place->second.value];
            if (!seen.insert(node.id).second) return fail(ErrorCode::invalid, "node {} is defined twice", name);
            const auto before = node;
            set_from_config(node, entry, hosts, i);
            if (!fresh && !c.jobs_on(node.id).empty()) SPUR_CHECK(check_jobs_fit(node));
            if (!(node == before) || fresh) node.version = version;
        }
    }
    for (auto& node : nodes)
        if (node.configured && !seen.contains(node.id)) {
            node.configured = false;  // takes no new work; its jobs run on
            node.version = version;
        }
    return nodes;
}

Result<void> ClusterOps::check_jobs_fit(Node node) const {
    node.use = {};
    for (const auto id : c.jobs_on(node.id)) {
        const auto& job = *c.find_job(id);
        if (auto lack = retake(node, job))
            return fail(ErrorCode::conflict, "node {}: job {} would no longer fit: {}; drain the node first", node.name,
                        id.value, *lack);
    }
    return {};
}

// Counts what `job` has on the node as in use again.
std::optional<std::string> ClusterOps::retake(Node& node, const Job& job) const {
    const auto& allocation = *job.allocation;
    const auto put = [&](const NodeShare& share, bool with_cores) -> std::optional<std::string> {
        if (share.node != node.id) return std::nullopt;
        if (with_cores) {
            if (auto lack = find_lack(node, share, allocation.sharing)) return lack;
            take_cores(node, share, allocation.sharing);
        }
        take_rest(node, share);
        return std::nullopt;
    };
    for (const auto share : job.open_shares)
        if (auto lack = put(allocation.shares[share], !job.cores_released)) return lack;
    for (const auto& share : job.leaving)
        if (auto lack = put(share, true)) return lack;
    return std::nullopt;
}

Result<std::vector<NodeId>> ClusterOps::nodes_of(const Partition& partition, const std::vector<Node>& nodes) const {
    std::vector<NodeId> members;
    if (is_all(partition.node_text)) {
        for (const auto& node : nodes)
            if (node.configured) members.push_back(node.id);
        return members;
    }
    std::map<std::string_view, NodeId> by_name;
    for (const auto& node : nodes)
        if (node.configured) by_name[node.name.view()] = node.id;
    auto hosts = HostList::parse(partition.node_text);
    if (!hosts) return fail(hosts.error().code, "partition \"{}\": {}", partition.name, hosts.error().text);
    for (const auto& name : hosts->names()) {
        const auto place = by_name.find(name);
        if (place == by_name.end())
            return fail(ErrorCode::invalid, "partition \"{}\": node \"{}\" is not defined", partition.name, name);
        members.push_back(place->second);
    }
    std::ranges::sort(members);
    const auto repeats = std::ranges::unique(members);
    members.erase(repeats.begin(), repeats.end());
    return members;
}

Result<void> ClusterOps::on(const ApplyConfig& cmd) {
    const auto& config = cmd.config;
    if (config.policies.first_job_id == 0 || config.policies.first_job_id > config.policies.max_job_id)
        return fail(ErrorCode::invalid, "first_job_id = {} and max_job_id = {} leave no job ids",
                    config.policies.first_job_id, config.policies.max_job_id);
    SPUR_CHECK(SwitchTree::resolve(config.switches));
    SPUR_TRY(auto nodes, plan_nodes(config));
    std::map<Text, Partition, std::less<>> partitions;
    for (auto partition : config.partitions) {
        SPUR_TRY(partition.nodes, nodes_of(partition, nodes));
        if (partition.name.empty()) return fail(ErrorCode::invalid, "a partition has no name");
        partition.version = version;
        if (!partitions.emplace(partition.name, partition).second)
            return fail(ErrorCode::invalid, "partition \"{}\" is defined twice", partition.name);
    }
    if (std::ranges::count_if(partitions, [](const auto& entry) { return entry.second.is_default; }) > 1)
        return fail(ErrorCode::invalid, "more than one partition is the default");

    c.nodes_ = std::move(nodes);
    for (const auto& [name, old] : c.partitions_)
        if (!partitions.contains(name)) events.push_back(PartitionChanged{name, true});
    c.partitions_ = std::move(partitions);
    c.cluster_name_ = config.cluster_name;
    c.policies_ = config.policies;
    c.next_job_id_ = std::max(c.next_job_id_, config.policies.first_job_id);
    std::map<Text, LicensePool, std::less<>> licenses;
    for (const auto& license : config.licenses) licenses[license.name].total = license.count;
    for (const auto& [name, pool] : c.licenses_)
        if (pool.used || licenses.contains(name)) licenses[name].used = pool.used;
    c.licenses_ = std::move(licenses);
    *c.config_ = config;
    if (!cmd.digest.empty()) remember_digest(cmd.digest);
    index_nodes();
    ensure_root();
    recount();
    for (auto& node : c.nodes_)
        if (node.version == version) {
            rebuild_use(node);
            events.push_back(NodeChanged{node.id});
        }
    for (const auto& [name, partition] : c.partitions_) events.push_back(PartitionChanged{name, false});
    events.push_back(ConfigChanged{});
    return {};
}

// The newest digest is the last; one that comes back into force moves there.
void ClusterOps::remember_digest(const Text& digest) {
    constexpr std::size_t most = 64;
    auto& known = c.config_digests_;
    std::erase(known, digest);
    known.push_back(digest);
    if (known.size() > most) known.erase(known.begin());
    ++c.config_generation_;
}

Result<void> ClusterOps::on(const SetStateVersion& cmd) {
    if (cmd.version <= c.state_version_)
        return fail(ErrorCode::conflict, "version {} of the state is in force already", c.state_version_);
    const bool counts_step_ends = c.state_version_ < version_with_step_ends && cmd.version >= version_with_step_ends;
    c.state_version_ = cmd.version;
    if (counts_step_ends)
        for (auto& [key, step] : c.steps_) {
            if (step.is_over()) continue;
            open_step(step);
            if (step.open_shares.empty()) end_step(step, EndCause::node_failed);  // all its nodes have left the job
        }
    if (cmd.version >= version_with_outbox_readers && !c.outbox_is_read_) c.outbox_.clear();
    events.push_back(ConfigChanged{});
    return {};
}

void ClusterOps::index_nodes() {
    auto& index = *c.index_;
    index.jobs_on.resize(c.nodes_.size());
    index.node_by_name.clear();
    for (const auto& node : c.nodes_) index.node_by_name[node.name] = node.id;
    auto all_classes = std::make_shared<NodeClasses>();
    for (auto& [name, partition] : c.partitions_) {
        auto& classes = (*all_classes)[name];
        std::uint32_t cpus = 0;
        for (const auto id : partition.nodes) {
            const auto& node = c.nodes_[id.value];
            cpus += node.cpus;
            const NodeClass kind{
                node.topology, node.usable_cpus(), node.usable_memory_mib(), node.tmp_mib, node.gres, node.features, 0};
            auto place = std::ranges::find_if(classes, [&](const NodeClass& other) {
                return other.topology == kind.topology && other.cpus == kind.cpus &&
                       other.memory_mib == kind.memory_mib && other.tmp_mib == kind.tmp_mib &&
                       other.gres == kind.gres && other.features == kind.features;
            });
            if (place == classes.end()) place = classes.insert(classes.end(), kind);
            ++place->count;
        }
        partition.total_cpus = cpus;
    }
    c.node_classes_ = std::move(all_classes);
}

void ClusterOps::rebuild_use(Node& node) {
    node.use = {};
    node.job_count = node.completing_jobs = 0;
    for (const auto id : c.jobs_on(node.id)) {
        const auto& job = *c.find_job(id);
        retake(node, job);
        if (job.state != JobState::suspended) ++node.job_count;
        const bool leaving = std::ranges::find(job.leaving, node.id, &NodeShare::node) != job.leaving.end();
        if (job.is_completing() || leaving) ++node.completing_jobs;
    }
    mark_exclusive(node);
}

void ClusterOps::mark_exclusive(Node& node) {
    node.exclusive = false;
    node.exclusive_uid = nobody;
    for (const auto id : c.jobs_on(node.id)) {
        const auto& job = *c.find_job(id);
        if (job.cores_released) continue;
        if (job.allocation->exclusive == Exclusive::node) node.exclusive = true;
        if (job.allocation->exclusive == Exclusive::user) node.exclusive_uid = job.spec->uid;
    }
}

Result<void> ClusterOps::on(const EditPartition& cmd) {
    const auto place = c.partitions_.find(cmd.partition.name);
    const bool exists = place != c.partitions_.end();
    if (cmd.partition.name.empty() || exists == (cmd.edit == Edit::create)) return fail(refusal::invalid_partition);
    if (cmd.edit == Edit::remove) {
        const auto uses = [&](JobId id) {
            const auto& job = c.jobs_.at(id);
            return std::ranges::find(job.spec->partitions, cmd.partition.name) != job.spec->partitions.end();
        };
        if (std::ranges::any_of(c.pending_, uses) || std::ranges::any_of(c.active_, uses))
            return fail(refusal::partition_in_use);
        c.partitions_.erase(place);
        index_nodes();
        events.push_back(PartitionChanged{cmd.partition.name, true});
        return {};
    }
    auto partition = cmd.partition;
    SPUR_TRY(partition.nodes, nodes_of(partition, c.nodes_));
    partition.version = version;
    if (partition.is_default)
        for (auto& [name, other] : c.partitions_)
            if (other.is_default && name != partition.name) {
                other.is_default = false;
                other.version = version;
                events.push_back(PartitionChanged{name, false});
            }
    c.partitions_[partition.name] = std::move(partition);
    index_nodes();
    events.push_back(PartitionChanged{cmd.partition.name, false});
    return {};
}

}  // namespace spur
