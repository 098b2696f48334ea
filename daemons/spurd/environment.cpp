// Writing those variables, group by group.
#include "daemons/spurd/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "core/model/array_spec.hpp"
#include "core/text/lexical.hpp"
#include "core/text/pattern.hpp"

namespace spur::agent {

namespace {

class Builder {
public:
    template <class Value>
    void set(std::string_view key, const Value& value) {
        variables_.push_back(fmt::format("{}={}", key, value));
    }
    // Only where there is something to say: Slurm leaves such variables out.
    void set_if(std::string_view key, const std::string& value) {
        if (!value.empty()) set(key, value);
    }
    void add(const Variables& variables) { variables_.insert(variables_.end(), variables.begin(), variables.end()); }
    [[nodiscard]] Variables take() { return std::move(variables_); }

private:
    Variables variables_;
};

// Variables the user brought, to know what not to replace.
class Given {
public:
    explicit Given(const google::protobuf::RepeatedPtrField<std::string>& variables) {
        for (const auto& variable : variables) keys_.insert(std::string_view{variable}.substr(0, variable.find('=')));
    }
    [[nodiscard]] bool has(std::string_view key) const { return keys_.contains(key); }

private:
    std::unordered_set<std::string_view> keys_;
};

std::vector<std::uint32_t> cpus_per_node(const v1::JobLaunch& job) {
    std::vector<std::uint32_t> counts;
    for (const auto& share : job.shares()) counts.push_back(share.cpus());
    if (counts.empty()) counts.push_back(job.share().cpus());
    return counts;
}

// A credential carries all nodes' shares and none of its own.
const v1::NodeShare& own_share(const v1::JobLaunch& job, const NodeFacts& facts) {
    for (const auto& share : job.shares())
        if (share.node() == facts.node) return share;
    return job.share();
}

std::string join(const std::vector<std::uint32_t>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

std::string device_list(const v1::NodeShare& share) {
    std::vector<std::uint32_t> devices;
    for (const auto& gres : share.gres())
        if (gres.name() == "gpu") devices.insert(devices.end(), gres.index().begin(), gres.index().end());
    std::ranges::sort(devices);
    return join(devices);
}

std::uint64_t gres_count(const v1::NodeShare& share, std::string_view name) {
    std::uint64_t count = 0;
    for (const auto& gres : share.gres())
        if (gres.name() == name) count += gres.count();
    return count;
}

// "gpu:tesla:4,shard:2" gives "tesla:4": what SLURM_GPUS shows.
std::string gpus_of(std::string_view gres) {
    for (const auto part : split(gres, ','))
        if (part.starts_with("gpu:")) return std::string{part.substr(4)};
    return {};
}

// ---- what every part of a job sees ---------------------------------------------------------------------------------

void add_identity(Builder& out, const v1::JobLaunch& launch, const NodeFacts& facts) {
    // Every component of a heterogeneous job goes by the id of the first.
    const auto id = launch.job().het_job_id() != 0 ? launch.job().het_job_id() : launch.job_id();
    out.set("SLURM_JOB_ID", id);
    out.set("SLURM_JOBID", id);
    out.set("SLURM_JOB_UID", launch.uid());
    out.set("SLURM_JOB_GID", launch.gid());
    out.set("SLURM_JOB_USER", launch.user_name());
    out.set_if("SLURM_JOB_PARTITION", launch.job().partition());
    out.set("SLURM_JOB_NUM_NODES", std::max(launch.job().node_count(), 1U));
    out.set_if("SLURM_CLUSTER_NAME", facts.cluster);
    out.set("SLURMD_NODENAME", facts.node);
}

void add_place(Builder& out, const v1::JobLaunch& launch, const NodeFacts& facts) {
    out.set("SLURM_JOB_NODELIST", launch.job().node_list());
    out.set("SLURM_NODELIST", launch.job().node_list());
    out.set("SLURM_JOB_CPUS_PER_NODE", compress_counts(cpus_per_node(launch)));
    out.set("SLURM_TOPOLOGY_ADDR", facts.topology_address.empty() ? facts.node : facts.topology_address);
    out.set("SLURM_TOPOLOGY_ADDR_PATTERN", facts.topology_pattern.empty() ? "node" : facts.topology_pattern);
    out.set("SLURM_PRIO_PROCESS", 0);
    out.set_if("SLURM_JOB_ACCOUNT", launch.job().account());
    out.set_if("SLURM_JOB_QOS", launch.job().qos());
    out.set_if("SLURM_JOB_RESERVATION", launch.job().spec().reservation());
    if (launch.job().restarts() != 0) out.set("SLURM_RESTART_COUNT", launch.job().restarts());

    const auto first = facts.controllers.substr(0, facts.controllers.find(','));
    const auto colon = first.rfind(':');
    if (colon != std::string::npos)  // name:host:port:protocol version:select plugin, of a Slurm 22.05
        out.set("SLURM_WORKING_CLUSTER", fmt::format("{}:{}:9728:109", facts.cluster, first));
    out.set_if("SPUR_CONTROLLER_ADDR", facts.controllers);
    out.set_if("SPUR_CONF", facts.config_file);
}

// What of the node's devices the job or the step has.
void add_devices(Builder& out, const v1::NodeShare& share) {
    if (const auto gpus = gres_count(share, "gpu"); gpus != 0) out.set("SLURM_GPUS_ON_NODE", gpus);
    if (const auto shards = gres_count(share, "shard"); shards != 0) out.set("SLURM_SHARDS_ON_NODE", shards);
}

// The step of the first range that has one: 2 of "0-4:2,9".
std::string step_of(std::string_view array) {
    const auto colon = array.find(':');
    if (colon == std::string_view::npos) return "1";
    array.remove_prefix(colon + 1);
    return std::string{array.substr(0, array.find_first_not_of("0123456789"))};
}

void add_array(Builder& out, const v1::Job& job) {
    if (job.array_job_id() == 0 || !job.has_array_task_id()) return;
    out.set("SLURM_ARRAY_JOB_ID", job.array_job_id());
    out.set("SLURM_ARRAY_TASK_ID", job.array_task_id());
    const auto array = ArraySpec::parse(job.spec().array(), highest_max_array_size);
    if (!array || array->tasks.empty()) return;
    out.set("SLURM_ARRAY_TASK_COUNT", array->tasks.size());
    out.set("SLURM_ARRAY_TASK_MIN", *array->tasks.first());
    out.set("SLURM_ARRAY_TASK_MAX", *array->tasks.last());
    out.set("SLURM_ARRAY_TASK_STEP", step_of(job.spec().array()));
}

// What the user asked for; inside the job, srun takes these as its defaults.
void add_request(Builder& out, const v1::JobSpec& spec, const v1::JobLaunch& launch) {
    if (spec.has_tasks() || spec.has_tasks_per_node() || spec.has_tasks_per_gpu()) {
        const auto tasks = spec.has_tasks() ? spec.tasks() : launch.job().task_count();
        out.set("SLURM_NTASKS", tasks);
        out.set("SLURM_NPROCS", tasks);
    }
    if (spec.has_cpus_per_task()) out.set("SLURM_CPUS_PER_TASK", spec.cpus_per_task());
    if (spec.has_tasks_per_node()) out.set("SLURM_NTASKS_PER_NODE", spec.tasks_per_node());
    if (spec.has_tasks_per_socket()) out.set("SLURM_NTASKS_PER_SOCKET", spec.tasks_per_socket());
    if (spec.has_tasks_per_core()) out.set("SLURM_NTASKS_PER_CORE", spec.tasks_per_core());
    if (spec.has_tasks_per_gpu()) out.set("SLURM_NTASKS_PER_GPU", spec.tasks_per_gpu());
    if (spec.mem_per_node_mib() != 0) out.set("SLURM_MEM_PER_NODE", spec.mem_per_node_mib());
    if (spec.mem_per_cpu_mib() != 0) out.set("SLURM_MEM_PER_CPU", spec.mem_per_cpu_mib());
    if (spec.mem_per_gpu_mib() != 0) out.set("SLURM_MEM_PER_GPU", spec.mem_per_gpu_mib());
    if (spec.has_cpus_per_gpu()) out.set("SLURM_CPUS_PER_GPU", spec.cpus_per_gpu());
    out.set_if("SLURM_GPUS", gpus_of(spec.gres_per_job()));
    out.set_if("SLURM_GPUS_PER_TASK", gpus_of(spec.gres_per_task()));
    out.set_if("SLURM_GPUS_PER_SOCKET", gpus_of(spec.gres_per_socket()));
    out.set_if("SLURM_GPU_BIND", spec.gpu_bind());
    out.set_if("SLURM_HINT", spec.hint());
    if (spec.has_threads_per_core()) out.set("SLURM_THREADS_PER_CORE", spec.threads_per_core());
    if (spec.overcommit()) out.set("SLURM_OVERCOMMIT", 1);
    out.set_if("SLURM_PROFILE", spec.profile());
    out.set_if("SLURM_JOB_DEPENDENCY", spec.dependency());
    if (spec.has_open_mode_append()) out.set("SLURM_OPEN_MODE", spec.open_mode_append() ? "a" : "t");
    if (spec.distribution().starts_with("plane=")) {
        out.set("SLURM_DISTRIBUTION", "plane");
        out.set("SLURM_DIST_PLANESIZE", spec.distribution().substr(6));
    } else {
        out.set_if("SLURM_DISTRIBUTION", spec.distribution());
    }
    if (spec.distribution().starts_with("arbitrary")) out.set_if("SLURM_ARBITRARY_NODELIST", spec.node_list());
}

// What a script of a heterogeneous job is told about each component, under both names that Slurm has had for them.
void add_components(Builder& out, const v1::JobLaunch& launch) {
    if (launch.components().empty()) return;
    out.set("SLURM_HET_SIZE", launch.components_size());
    out.set("SLURM_PACK_SIZE", launch.components_size());
    for (int i = 0; i < launch.components_size(); ++i) {
        v1::JobLaunch part;
        *part.mutable_job() = launch.components(i);
        *part.mutable_shares() = launch.components(i).shares();
        const auto& job = part.job();
        Builder own;
        own.set("SLURM_JOB_ID", job.id());
        own.set("SLURM_JOB_NAME", job.spec().name());
        own.set_if("SLURM_JOB_PARTITION", job.partition());
        own.set_if("SLURM_JOB_ACCOUNT", job.account());
        own.set_if("SLURM_JOB_QOS", job.qos());
        own.set("SLURM_JOB_NODELIST", job.node_list());
        own.set("SLURM_JOB_NUM_NODES", std::max(job.node_count(), 1U));
        own.set("SLURM_JOB_CPUS_PER_NODE", compress_counts(cpus_per_node(part)));
        own.set("SLURM_TASKS_PER_NODE", compress_counts(tasks_per_node(part)));
        add_request(own, job.spec(), part);
        for (const auto& variable : own.take()) {
            const auto equals = variable.find('=');
            for (const auto* group : {"HET", "PACK"})
                out.set(fmt::format("{}_{}_GROUP_{}", variable.substr(0, equals), group, i),
                        variable.substr(equals + 1));
        }
    }
}

std::pair<std::string, std::string> host_and_port(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) return {address, {}};
    return {address.substr(0, colon), address.substr(colon + 1)};
}

std::vector<std::uint32_t> step_tasks_per_node(const v1::StepCredential& credential) {
    std::vector<std::uint32_t> counts;
    for (const auto& node : credential.layout()) counts.push_back(static_cast<std::uint32_t>(node.tasks_size()));
    return counts;
}

void add_step(Builder& out, const StepView& view, const Given& given) {
    const auto& step = view.credential.step();
    const auto counts = step_tasks_per_node(view.credential);
    const auto& layout = view.credential.layout(view.node);
    out.set("SLURM_STEP_ID", step.step_id());
    out.set("SLURM_STEPID", step.step_id());
    out.set("SLURM_STEP_NODELIST", step.node_list());
    out.set("SLURM_STEP_NUM_NODES", counts.size());
    out.set("SLURM_STEP_NUM_TASKS", step.tasks());
    out.set("SLURM_STEP_TASKS_PER_NODE", compress_counts(counts));
    out.set("SLURM_TASKS_PER_NODE", compress_counts(counts));
    // Over several components nodes and tasks are counted through.
    const auto& whole = view.launch;
    const auto set_size = [&](std::string_view key, std::uint64_t value) {
        if (!whole.preserve_size() || !given.has(key)) out.set(key, value);
    };
    set_size("SLURM_NNODES", whole.het_tasks() != 0 ? whole.het_nodes() : counts.size());
    set_size("SLURM_NTASKS", whole.het_tasks() != 0 ? whole.het_tasks() : step.tasks());
    set_size("SLURM_NPROCS", whole.het_tasks() != 0 ? whole.het_tasks() : step.tasks());
    out.set("SLURM_NODEID", whole.het_first_node() + static_cast<std::uint32_t>(view.node));
    out.set("SLURM_GTIDS", join({layout.tasks().begin(), layout.tasks().end()}));
}

void add_launcher(Builder& out, const StepView& view) {
    const auto [host, port] = host_and_port(view.launcher_address);
    out.set_if("SLURM_LAUNCH_NODE_IPADDR", host);
    out.set_if("SLURM_SRUN_COMM_HOST", host);
    out.set_if("SLURM_SRUN_COMM_PORT", port);
    out.set_if("SLURM_STEP_LAUNCHER_PORT", port);
}

bool has_devices(const v1::NodeShare& share) {
    return gres_count(share, "gpu") != 0 || gres_count(share, "shard") != 0;
}

// What a batch script was told about its devices: a step has its own, or none.
bool names_device(std::string_view variable) {
    static constexpr std::string_view names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                                 "ZE_AFFINITY_MASK",     "SLURM_STEP_GPUS",      "SLURM_GPUS_ON_NODE",
                                                 "SLURM_SHARDS_ON_NODE"};
    return std::ranges::find(names, variable.substr(0, variable.find('='))) != std::end(names);
}

}  // namespace

std::string compress_counts(const std::vector<std::uint32_t>& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size();) {
        std::size_t same = i;
        while (same < counts.size() && counts[same] == counts[i]) ++same;
        if (!text.empty()) text += ',';
        text += same - i > 1 ? fmt::format("{}(x{})", counts[i], same - i) : fmt::format("{}", counts[i]);
        i = same;
    }
    return text;
}

std::vector<std::uint32_t> tasks_per_node(const v1::JobLaunch& job) {
    const auto& spec = job.job().spec();
    std::vector<std::uint32_t> given;
    for (const auto& share : job.shares()) given.push_back(share.tasks());
    const bool asked = spec.has_tasks() || spec.has_tasks_per_node() || spec.has_tasks_per_gpu();
    if (asked && !given.empty() && std::ranges::all_of(given, [](auto tasks) { return tasks != 0; })) return given;

    auto room = cpus_per_node(job);
    const auto each = spec.has_cpus_per_task() ? std::max(spec.cpus_per_task(), 1U) : 1U;
    for (auto& cpus : room) cpus = std::max(cpus / each, 1U);
    if (spec.has_tasks_per_node()) return std::vector<std::uint32_t>(room.size(), std::max(spec.tasks_per_node(), 1U));
    const auto wanted = spec.has_tasks() ? spec.tasks() : 0U;
    if (wanted == 0 || std::accumulate(room.begin(), room.end(), std::uint64_t{0}) <= wanted) return room;

    std::vector<std::uint32_t> tasks(room.size(), 0);  // more room than tasks: deal them out in turn
    for (std::uint32_t dealt = 0; dealt < wanted;)
        for (std::size_t i = 0; i < room.size() && dealt < wanted; ++i)
            if (tasks[i] < room[i]) ++tasks[i], ++dealt;
    return tasks;
}

Variables batch_environment(const v1::LaunchBatch& batch, const NodeFacts& facts, const Variables& gpu) {
    const auto& launch = batch.job();
    const Given given{batch.environment()};
    Builder out;
    out.add({batch.environment().begin(), batch.environment().end()});
    if (!given.has("SLURM_SUBMIT_DIR")) out.set("SLURM_SUBMIT_DIR", launch.work_dir());
    if (!given.has("SLURM_SUBMIT_HOST")) out.set_if("SLURM_SUBMIT_HOST", launch.job().spec().alloc_node());
    if (!given.has("TMPDIR")) out.set("TMPDIR", "/tmp");
    add_identity(out, launch, facts);
    add_place(out, launch, facts);
    out.set("SLURM_JOB_NAME", launch.job().spec().name());
    out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    add_devices(out, own_share(launch, facts));
    add_request(out, launch.job().spec(), launch);
    add_array(out, launch.job());
    add_components(out, launch);
    out.set("ENVIRONMENT", "BATCH");
    out.set("HOSTNAME", facts.node);
    out.set("SLURM_CPUS_ON_NODE", launch.share().cpus());
    out.set("SLURM_NNODES", std::max(launch.job().node_count(), 1U));
    out.set("SLURM_NODE_ALIASES", "(null)");
    out.set("SLURM_TASKS_PER_NODE", compress_counts(tasks_per_node(launch)));
    out.set("SLURM_NODEID", 0);
    out.set("SLURM_PROCID", 0);
    out.set("SLURM_LOCALID", 0);
    out.set("SLURM_GTIDS", 0);
    out.add(gpu);
    return out.take();
}

Variables step_environment(const StepView& view, const NodeFacts& facts, const Variables& gpu) {
    const auto& launch = view.credential.job();
    const Given given{view.launch.environment()};
    const bool own_job = launch.job().spec().kind() == v1::JobSpec::STEP_ALLOCATION;  // srun's, for this step
    Builder out;
    const bool job_has_devices = has_devices(own_share(launch, facts));
    for (const auto& variable : view.launch.environment())
        if (!job_has_devices || !names_device(variable)) out.add({variable});
    if (!given.has("TMPDIR")) out.set("TMPDIR", "/tmp");
    if (!given.has("SLURM_SUBMIT_DIR")) out.set("SLURM_SUBMIT_DIR", view.launch.work_dir());
    if (!given.has("SLURM_SUBMIT_HOST")) out.set_if("SLURM_SUBMIT_HOST", launch.job().spec().alloc_node());
    if (!given.has("SRUN_DEBUG")) out.set("SRUN_DEBUG", 3);
    add_identity(out, launch, facts);
    add_place(out, launch, facts);
    if (own_job || !given.has("SLURM_JOB_NAME")) out.set("SLURM_JOB_NAME", launch.job().spec().name());
    if (!own_job) out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    add_array(out, launch.job());
    add_step(out, view, given);
    add_launcher(out, view);
    out.set("SLURM_UMASK", fmt::format("{:04o}", view.umask));
    if (view.launch.label()) out.set("SLURM_LABELIO", 1);
    if (!own_job) out.set("SLURM_JOB_CPUS_PER_NODE_PACK_GROUP_0", compress_counts(cpus_per_node(launch)));
    for (const auto& share : view.credential.step().shares()) {
        if (share.node() != view.credential.layout(view.node).node()) continue;
        out.set("SLURM_CPUS_ON_NODE", share.cpus());
        out.set_if("SLURM_STEP_GPUS", device_list(share));
        add_devices(out, share);
    }
    out.add(gpu);
    return out.take();
}

Variables task_environment(std::uint32_t task, std::uint32_t local) {
    return {fmt::format("SLURM_PROCID={}", task), fmt::format("SLURM_LOCALID={}", local)};
}

Variables script_environment(const v1::JobLaunch& launch, const NodeFacts& facts, const Variables& gpu,
                             const std::string& context) {
    Builder out;
    out.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    add_identity(out, launch, facts);
    out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    out.set("SLURM_UID", launch.uid());
    out.set("SLURM_JOB_NTASKS", std::max(launch.job().task_count(), 1U));
    out.set("SLURM_NODELIST", launch.job().node_list());
    out.set("SLURM_JOB_CPUS_PER_NODE", compress_counts(cpus_per_node(launch)));
    out.set("SLURM_JOB_RESTART_COUNT", launch.job().restarts());
    out.set("SLURM_JOB_WORK_DIR", launch.work_dir());
    out.set_if("SLURM_JOB_STDIN", launch.job().std_in_path());
    out.set_if("SLURM_JOB_STDOUT", launch.job().std_out_path());
    out.set_if("SLURM_JOB_STDERR", launch.job().std_err_path());
    out.set("SLURM_SCRIPT_CONTEXT", context);
    out.set_if("SPUR_CONTROLLER_ADDR", facts.controllers);
    out.set_if("SPUR_CONF", facts.config_file);
    if (context == "epilog_slurmd") {
        const auto status = launch.job().exit_status();
        out.set("SLURM_JOB_EXIT_CODE", status);
        out.set("SLURM_JOB_EXIT_CODE2", fmt::format("{}:{}", status >> 8 & 0xff, status & 0x7f));
        out.set("SLURM_JOB_DERIVED_EC", launch.job().derived_exit_status());
    }
    add_array(out, launch.job());
    out.add(gpu);
    return out.take();
}

}  // namespace spur::agent
