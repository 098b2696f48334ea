// What a node adds to the SLURM_* variables of jobs, steps and tasks.
#include "daemons/spurd/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/model/gres_kind.hpp"
#include "core/text/endpoint.hpp"
#include "daemons/common/environment/environment.hpp"

namespace spur::agent {

namespace {

using environment::Allocation;
using environment::compress_counts;
using environment::Viewer;
using Builder = environment::Variables;

// Which variables the user brought: those are not replaced.
class UserVariables {
public:
    explicit UserVariables(const google::protobuf::RepeatedPtrField<std::string>& variables) {
        for (const auto& variable : variables) keys_.insert(std::string_view{variable}.substr(0, variable.find('=')));
    }
    [[nodiscard]] bool has(std::string_view key) const { return keys_.contains(key); }

private:
    std::unordered_set<std::string_view> keys_;
};

// The user's variables, the job's over them, and the devices' last.
Variables joined(Variables all, const Builder& job, const Variables& gpu) {
    for (auto& line : job.lines()) all.push_back(std::move(line));
    all.insert(all.end(), gpu.begin(), gpu.end());
    return all;
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
        if (is_device_gres(gres.name())) devices.insert(devices.end(), gres.index().begin(), gres.index().end());
    std::ranges::sort(devices);
    return join(devices);
}

std::uint64_t gres_count(const v1::NodeShare& share, std::string_view name) {
    std::uint64_t count = 0;
    for (const auto& gres : share.gres())
        if (gres.name() == name) count += gres.count();
    return count;
}

// Every component of a heterogeneous job goes by the id of the first.
Allocation allocation_of(const v1::JobLaunch& launch) {
    Allocation allocation{launch.job(), launch.shares()};
    allocation.id = launch.job().het_job_id() != 0 ? launch.job().het_job_id() : launch.job_id();
    if (allocation.shares.empty()) allocation.shares.push_back(&launch.share());
    return allocation;
}

// ---- what every part of a job sees ---------------------------------------------------------------------------------

void add_identity(Builder& out, const v1::JobLaunch& launch, const NodeFacts& facts) {
    out.set("SLURM_JOB_UID", launch.uid());
    out.set("SLURM_JOB_GID", launch.gid());
    out.set("SLURM_JOB_USER", launch.user_name());
    out.set_if("SLURM_CLUSTER_NAME", facts.cluster);
    out.set("SLURMD_NODENAME", facts.node);
    out.set_if("SPUR_CONTROLLER_ADDR", facts.controllers);
    out.set_if("SPUR_CONF", facts.config_file);
}

void add_place(Builder& out, const NodeFacts& facts) {
    out.set("SLURM_TOPOLOGY_ADDR", facts.topology_address.empty() ? facts.node : facts.topology_address);
    out.set("SLURM_TOPOLOGY_ADDR_PATTERN", facts.topology_pattern.empty() ? "node" : facts.topology_pattern);
    out.set("SLURM_PRIO_PROCESS", 0);
    const auto first = facts.controllers.substr(0, facts.controllers.find(','));
    if (Endpoint::parse(first, 0))  // name:host:port:protocol version:select plugin, of a Slurm 22.05
        out.set("SLURM_WORKING_CLUSTER", fmt::format("{}:{}:9728:109", facts.cluster, first));
}

// Which of the node's devices the job or the step has.
void add_devices(Builder& out, const v1::NodeShare& share) {
    for (const auto& kind : gres_kinds)
        if (const auto count = gres_count(share, kind.name); count != 0) out.set(kind.count_variable, count);
}

// What a script of a heterogeneous job is told about each component.
void add_components(Builder& out, const v1::JobLaunch& launch) {
    if (launch.components().empty()) return;
    std::vector<Builder> components;
    for (const auto& job : launch.components()) {
        auto& own = components.emplace_back();
        add_allocation(own, Viewer::component, Allocation{job});
        add_request(own, Viewer::component, {job.spec(), job.task_count(), {}, {}});
    }
    add_components(out, components);
}

std::vector<std::uint32_t> step_tasks_per_node(const v1::StepCredential& credential) {
    std::vector<std::uint32_t> counts;
    for (const auto& node : credential.layout()) counts.push_back(static_cast<std::uint32_t>(node.tasks_size()));
    return counts;
}

void add_step_view(Builder& out, const StepView& view, const UserVariables& brought) {
    const auto& step = view.credential.step();
    const auto counts = step_tasks_per_node(view.credential);
    const auto& layout = view.credential.layout(view.node);
    add_step(out, step, counts);
    // Nodes and tasks are numbered across all components.
    const auto& whole = view.launch;
    const auto set_size = [&](std::string_view key, std::uint64_t value) {
        if (!whole.preserve_size() || !brought.has(key)) out.set(key, value);
    };
    set_size("SLURM_NNODES", whole.het_tasks() != 0 ? whole.het_nodes() : counts.size());
    set_size("SLURM_NTASKS", whole.het_tasks() != 0 ? whole.het_tasks() : step.tasks());
    set_size("SLURM_NPROCS", whole.het_tasks() != 0 ? whole.het_tasks() : step.tasks());
    out.set("SLURM_NODEID", whole.het_first_node() + static_cast<std::uint32_t>(view.node));
    out.set("SLURM_GTIDS", join({layout.tasks().begin(), layout.tasks().end()}));
}

void add_launcher(Builder& out, const StepView& view) {
    const auto srun = Endpoint::parse(view.launcher_address, 0);
    if (!srun) return;
    out.set("SLURM_LAUNCH_NODE_IPADDR", srun->host);
    out.set("SLURM_SRUN_COMM_HOST", srun->host);
    out.set("SLURM_SRUN_COMM_PORT", srun->port);
    out.set("SLURM_STEP_LAUNCHER_PORT", srun->port);
}

bool has_devices(const v1::NodeShare& share) {
    return std::ranges::any_of(share.gres(),
                               [](const auto& gres) { return gres.count() != 0 && find_gres_kind(gres.name()); });
}

// What a batch script was told about its devices: a step has its own, or none.
bool names_device(std::string_view variable) {
    static constexpr std::string_view names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                                 "ZE_AFFINITY_MASK", "SLURM_STEP_GPUS"};
    const auto name = variable.substr(0, variable.find('='));
    return std::ranges::find(names, name) != std::end(names) ||
           std::ranges::find(gres_kinds, name, &GresKind::count_variable) != std::end(gres_kinds);
}

}  // namespace

Variables batch_environment(const v1::LaunchBatch& batch, const NodeFacts& facts, const Variables& gpu) {
    const auto& launch = batch.job();
    const UserVariables brought{batch.environment()};
    Builder out;
    environment::add_submitter(out, brought.has("SLURM_SUBMIT_DIR") ? "" : launch.work_dir(),
                               brought.has("SLURM_SUBMIT_HOST") ? "" : launch.job().spec().alloc_node());
    if (!brought.has("TMPDIR")) out.set("TMPDIR", "/tmp");
    add_identity(out, launch, facts);
    add_place(out, facts);
    add_allocation(out, Viewer::script, allocation_of(launch));
    out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    add_devices(out, own_share(launch, facts));
    add_request(out, Viewer::script, {launch.job().spec(), launch.job().task_count(), {}, {}});
    add_components(out, launch);
    out.set("ENVIRONMENT", "BATCH");
    out.set("HOSTNAME", facts.node);
    out.set("SLURM_CPUS_ON_NODE", launch.share().cpus());
    out.set("SLURM_NODEID", 0);
    out.set("SLURM_PROCID", 0);
    out.set("SLURM_LOCALID", 0);
    out.set("SLURM_GTIDS", 0);
    return joined({batch.environment().begin(), batch.environment().end()}, out, gpu);
}

Variables step_environment(const StepView& view, const NodeFacts& facts, const Variables& gpu) {
    const auto& launch = view.credential.job();
    const UserVariables brought{view.launch.environment()};
    const bool own_job = launch.job().spec().kind() == v1::JobSpec::STEP_ALLOCATION;  // srun's, for this step
    Builder out;
    const bool job_has_devices = has_devices(own_share(launch, facts));
    Variables users;
    for (const auto& variable : view.launch.environment())
        if (!job_has_devices || !names_device(variable)) users.push_back(variable);
    if (!brought.has("TMPDIR")) out.set("TMPDIR", "/tmp");
    environment::add_submitter(out, brought.has("SLURM_SUBMIT_DIR") ? "" : view.launch.work_dir(),
                               brought.has("SLURM_SUBMIT_HOST") ? "" : launch.job().spec().alloc_node());
    if (!brought.has("SRUN_DEBUG")) out.set("SRUN_DEBUG", 3);
    add_identity(out, launch, facts);
    add_place(out, facts);
    const auto whole = allocation_of(launch);
    add_allocation(out, own_job ? Viewer::own_task : Viewer::task, whole);
    if (own_job || !brought.has("SLURM_JOB_NAME")) out.set("SLURM_JOB_NAME", launch.job().spec().name());
    if (!own_job) out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    add_step_view(out, view, brought);
    add_launcher(out, view);
    out.set("SLURM_UMASK", fmt::format("{:04o}", view.umask));
    if (view.launch.label()) out.set("SLURM_LABELIO", 1);
    if (!own_job) out.set("SLURM_JOB_CPUS_PER_NODE_PACK_GROUP_0", compress_counts(cpus_per_node(whole)));
    for (const auto& share : view.credential.step().shares()) {
        if (share.node() != view.credential.layout(view.node).node()) continue;
        out.set("SLURM_CPUS_ON_NODE", share.cpus());
        out.set_if("SLURM_STEP_GPUS", device_list(share));
        add_devices(out, share);
    }
    return joined(std::move(users), out, gpu);
}

Variables task_environment(std::uint32_t task, std::uint32_t local) {
    return {fmt::format("SLURM_PROCID={}", task), fmt::format("SLURM_LOCALID={}", local)};
}

Variables script_environment(const v1::JobLaunch& launch, const NodeFacts& facts, const Variables& gpu,
                             const std::string& context) {
    Builder out;
    out.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    add_identity(out, launch, facts);
    add_allocation(out, Viewer::hook, allocation_of(launch));
    out.set_if("SLURM_JOB_GPUS", device_list(own_share(launch, facts)));
    out.set("SLURM_UID", launch.uid());
    out.set("SLURM_JOB_NTASKS", std::max(launch.job().task_count(), 1U));
    out.set("SLURM_JOB_RESTART_COUNT", launch.job().restarts());
    out.set("SLURM_JOB_WORK_DIR", launch.work_dir());
    out.set_if("SLURM_JOB_STDIN", launch.job().std_in_path());
    out.set_if("SLURM_JOB_STDOUT", launch.job().std_out_path());
    out.set_if("SLURM_JOB_STDERR", launch.job().std_err_path());
    out.set("SLURM_SCRIPT_CONTEXT", context);
    if (context == "epilog_slurmd") {
        const auto status = launch.job().exit_status();
        out.set("SLURM_JOB_EXIT_CODE", status);
        out.set("SLURM_JOB_EXIT_CODE2", fmt::format("{}:{}", status >> 8 & 0xff, status & 0x7f));
        out.set("SLURM_JOB_DERIVED_EC", launch.job().derived_exit_status());
    }
    return joined({}, out, gpu);
}

}  // namespace spur::agent
