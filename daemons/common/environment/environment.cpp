// The tables behind the SLURM_* variables.
#include "daemons/common/environment/environment.hpp"

#include <algorithm>
#include <numeric>

#include "core/model/array_spec.hpp"
#include "core/text/lexical.hpp"

namespace spur::environment {

namespace {

using Spec = v1::JobSpec;
constexpr unsigned anyone = script | command | task | own_task;

// A variable, who sees it, and what it says; empty: it is not set.
template <class Source>
struct Row {
    const char* name;
    unsigned viewers;
    std::string (*value)(const Source&);
};

template <class Source, std::size_t Count>
void add_rows(Variables& out, Viewer viewer, const Row<Source> (&rows)[Count], const Source& source) {
    for (const auto& row : rows)
        if (row.viewers & viewer) out.set_if(row.name, row.value(source));
}

// ---- what was asked for --------------------------------------------------------------------------------------------

template <auto Has, auto Get>
std::string number(const Request& asked) {
    return (asked.spec.*Has)() ? std::to_string((asked.spec.*Get)()) : std::string{};
}
// --mem=0 is all of a node's memory, and no number.
template <auto Get>
std::string memory(const Request& asked) {
    return (asked.spec.*Get)() != 0 ? std::to_string((asked.spec.*Get)()) : std::string{};
}
template <auto Get>
std::string text(const Request& asked) {
    return (asked.spec.*Get)();
}

// "tesla:4" of "gpu:tesla:4,shard:2".
std::string gpus_in(std::string_view gres) {
    for (const auto part : split(gres, ','))
        if (part.starts_with("gpu:")) return std::string{part.substr(4)};
    return {};
}
template <auto Get>
std::string gpus(const Request& asked) {
    return gpus_in((asked.spec.*Get)());
}

bool asks_for_tasks(const Spec& spec) {
    return spec.has_tasks() || spec.has_tasks_per_node() || spec.has_tasks_per_gpu();
}
std::string tasks(const Request& asked) {
    if (!asks_for_tasks(asked.spec)) return {};
    return std::to_string(asked.spec.has_tasks() ? asked.spec.tasks() : asked.tasks);
}

constexpr std::string_view plane = "plane=";
std::string distribution(const Request& asked) {
    const auto& typed = asked.spec.distribution();
    if (typed.empty()) return std::string{asked.distribution_made};
    return typed.starts_with(plane) ? "plane" : lower(typed);
}
std::string plane_size(const Request& asked) {
    const auto& typed = asked.spec.distribution();
    return typed.starts_with(plane) ? typed.substr(plane.size()) : std::string{};
}
std::string arbitrary_nodes(const Request& asked) {
    return asked.spec.distribution().starts_with("arbitrary") ? asked.spec.node_list() : std::string{};
}
std::string open_mode(const Request& asked) {
    if (!asked.spec.has_open_mode_append()) return {};
    return asked.spec.open_mode_append() ? "a" : "t";
}

constexpr unsigned in_allocation = script | component | command;
constexpr unsigned everywhere = anyone | component;
constexpr Row<Request> request_rows[] = {
    {"SLURM_NTASKS", in_allocation, tasks},
    {"SLURM_NPROCS", in_allocation, tasks},
    {"SLURM_CPUS_PER_TASK", everywhere, number<&Spec::has_cpus_per_task, &Spec::cpus_per_task>},
    {"SLURM_NTASKS_PER_NODE", everywhere, number<&Spec::has_tasks_per_node, &Spec::tasks_per_node>},
    {"SLURM_NTASKS_PER_SOCKET", everywhere, number<&Spec::has_tasks_per_socket, &Spec::tasks_per_socket>},
    {"SLURM_NTASKS_PER_CORE", everywhere, number<&Spec::has_tasks_per_core, &Spec::tasks_per_core>},
    {"SLURM_NTASKS_PER_GPU", in_allocation, number<&Spec::has_tasks_per_gpu, &Spec::tasks_per_gpu>},
    {"SLURM_NTASKS_PER_TRES", task | own_task, number<&Spec::has_tasks_per_gpu, &Spec::tasks_per_gpu>},
    {"SLURM_MEM_PER_NODE", in_allocation, memory<&Spec::mem_per_node_mib>},
    {"SLURM_MEM_PER_CPU", in_allocation, memory<&Spec::mem_per_cpu_mib>},
    {"SLURM_MEM_PER_GPU", in_allocation, memory<&Spec::mem_per_gpu_mib>},
    {"SLURM_CPUS_PER_GPU", in_allocation, number<&Spec::has_cpus_per_gpu, &Spec::cpus_per_gpu>},
    {"SLURM_GPUS", in_allocation, gpus<&Spec::gres_per_job>},
    {"SLURM_GPUS_PER_NODE", in_allocation, [](const Request& asked) { return gpus_in(asked.gpus_per_node); }},
    {"SLURM_GPUS_PER_TASK", in_allocation, gpus<&Spec::gres_per_task>},
    {"SLURM_GPUS_PER_SOCKET", in_allocation, gpus<&Spec::gres_per_socket>},
    {"SLURM_GPU_BIND", in_allocation, text<&Spec::gpu_bind>},
    {"SLURM_HINT", in_allocation, text<&Spec::hint>},
    {"SLURM_THREADS_PER_CORE", everywhere, number<&Spec::has_threads_per_core, &Spec::threads_per_core>},
    {"SLURM_OVERCOMMIT", everywhere,
     [](const Request& asked) -> std::string { return asked.spec.overcommit() ? "1" : ""; }},
    {"SLURM_PROFILE", in_allocation, text<&Spec::profile>},
    {"SLURM_JOB_DEPENDENCY", script | component | own_task, text<&Spec::dependency>},
    {"SLURM_OPEN_MODE", script | component, open_mode},
    {"SLURM_DISTRIBUTION", everywhere, distribution},
    {"SLURM_DIST_PLANESIZE", everywhere, plane_size},
    {"SLURM_ARBITRARY_NODELIST", script | component, arbitrary_nodes},
};

// ---- what was given ------------------------------------------------------------------------------------------------

template <auto Get>
std::string of_job(const Allocation& given) {
    return (given.job.*Get)();
}
std::string id(const Allocation& given) { return std::to_string(given.id); }
std::string nodes(const Allocation& given) {
    const auto count = given.job.node_count();
    return std::to_string(count != 0 ? count : std::max(given.job.spec().min_nodes(), 1U));
}

// The step of the first range that has one: 2 of "0-4:2,9".
std::string step_of(std::string_view array) {
    const auto colon = array.find(':');
    if (colon == std::string_view::npos) return "1";
    array.remove_prefix(colon + 1);
    return std::string{array.substr(0, array.find_first_not_of("0123456789"))};
}

void add_array(Variables& out, const v1::Job& job) {
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

constexpr Row<Allocation> allocation_rows[] = {
    {"SLURM_JOB_ID", anyone | hook | component, id},
    {"SLURM_JOBID", anyone | hook, id},
    {"SLURM_JOB_NAME", script | command | component, [](const Allocation& given) { return given.job.spec().name(); }},
    {"SLURM_JOB_NODELIST", anyone | component, of_job<&v1::Job::node_list>},
    {"SLURM_NODELIST", anyone | hook, of_job<&v1::Job::node_list>},
    {"SLURM_JOB_NUM_NODES", anyone | hook | component, nodes},
    {"SLURM_NNODES", script | command, nodes},
    {"SLURM_JOB_PARTITION", anyone | hook | component, of_job<&v1::Job::partition>},
    {"SLURM_JOB_CPUS_PER_NODE", anyone | hook | component,
     [](const Allocation& given) { return compress_counts(cpus_per_node(given)); }},
    {"SLURM_TASKS_PER_NODE", script | command | component,
     [](const Allocation& given) { return compress_counts(tasks_per_node(given)); }},
    {"SLURM_NODE_ALIASES", script | command, [](const Allocation&) -> std::string { return "(null)"; }},
    {"SLURM_JOB_ACCOUNT", anyone | component, of_job<&v1::Job::account>},
    {"SLURM_JOB_QOS", anyone | component, of_job<&v1::Job::qos>},
    {"SLURM_JOB_RESERVATION", anyone, [](const Allocation& given) { return given.job.spec().reservation(); }},
    {"SLURM_RESTART_COUNT", script | task | own_task,
     [](const Allocation& given) { return given.job.restarts() ? std::to_string(given.job.restarts()) : ""; }},
};

}  // namespace

std::vector<std::string> Variables::lines() const {
    std::vector<std::string> lines;
    for (const auto& [name, value] : pairs_) lines.push_back(name + "=" + value);
    return lines;
}

Allocation::Allocation(const v1::Job& given) : Allocation{given, given.shares()} {}

Allocation::Allocation(const v1::Job& given, const google::protobuf::RepeatedPtrField<v1::NodeShare>& given_shares)
    : job{given}, id{given.id()} {
    for (const auto& share : given_shares) shares.push_back(&share);
}

void add_allocation(Variables& out, Viewer viewer, const Allocation& given) {
    add_rows(out, viewer, allocation_rows, given);
    if (viewer & (script | task | own_task | hook)) add_array(out, given.job);
}

void add_request(Variables& out, Viewer viewer, const Request& asked) { add_rows(out, viewer, request_rows, asked); }

void add_step(Variables& out, const v1::Step& step, const std::vector<std::uint32_t>& tasks_per_node) {
    const auto counts = compress_counts(tasks_per_node);
    out.set("SLURM_STEP_ID", step.step_id());
    out.set("SLURM_STEPID", step.step_id());
    out.set("SLURM_STEP_NODELIST", step.node_list());
    out.set("SLURM_STEP_NUM_NODES", tasks_per_node.size());
    out.set("SLURM_STEP_NUM_TASKS", step.tasks());
    out.set("SLURM_STEP_TASKS_PER_NODE", counts);
    out.set("SLURM_TASKS_PER_NODE", counts);
}

void add_submitter(Variables& out, std::string_view directory, std::string_view host) {
    out.set_if("SLURM_SUBMIT_DIR", directory);
    out.set_if("SLURM_SUBMIT_HOST", host);
}

// Under both names that Slurm has had for them.
void add_components(Variables& out, const std::vector<Variables>& components) {
    for (const auto* kind : {"HET", "PACK"}) {
        out.set(fmt::format("SLURM_{}_SIZE", kind), components.size());
        for (std::size_t i = 0; i < components.size(); ++i)
            for (const auto& [name, value] : components[i].pairs())
                out.set(fmt::format("{}_{}_GROUP_{}", name, kind, i), value);
    }
}

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

std::vector<std::uint32_t> cpus_per_node(const Allocation& given) {
    std::vector<std::uint32_t> counts;
    for (const auto* share : given.shares) counts.push_back(share->cpus());
    return counts;
}

std::vector<std::uint32_t> tasks_per_node(const Allocation& given) {
    const auto& spec = given.job.spec();
    std::vector<std::uint32_t> tasks;
    for (const auto* share : given.shares) tasks.push_back(share->tasks());
    if (asks_for_tasks(spec) && std::ranges::find(tasks, 0U) == tasks.end()) return tasks;

    auto room = cpus_per_node(given);
    const auto each = std::max(spec.cpus_per_task(), 1U);
    for (auto& cpus : room) cpus = std::max(cpus / each, 1U);
    if (spec.has_tasks_per_node()) return std::vector<std::uint32_t>(room.size(), std::max(spec.tasks_per_node(), 1U));
    const auto wanted = spec.tasks();
    if (wanted == 0 || std::accumulate(room.begin(), room.end(), std::uint64_t{0}) <= wanted) return room;

    std::ranges::fill(tasks, 0U);  // more room than tasks: deal them out in turn
    for (std::uint32_t dealt = 0; dealt < wanted;)
        for (std::size_t i = 0; i < room.size() && dealt < wanted; ++i)
            if (tasks[i] < room[i]) ++tasks[i], ++dealt;
    return tasks;
}

}  // namespace spur::environment
