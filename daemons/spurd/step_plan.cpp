// Filling a step's specification: tasks, files, limits, devices, deadlines.
#include "daemons/spurd/step_plan.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/model/gres_kind.hpp"
#include "core/slurm/rlimits.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/lexical.hpp"
#include "core/text/pattern.hpp"
#include "daemons/spurd/cpu_bind.hpp"

namespace spur::agent {

namespace {

template <class Limits>
void add_limits(const Limits& limits, step::LaunchSpec& spec) {
    for (const auto& limit : limits) {
        const auto found = std::ranges::find(process_limits, std::string_view{limit.name()}, &ProcessLimitName::name);
        if (found == std::end(process_limits)) continue;
        spec.rlimits.push_back({static_cast<std::uint32_t>(found->resource), limit.soft(), limit.hard()});
    }
}

PatternValues pattern_values(const v1::JobLaunch& job, const NodeFacts& facts) {
    PatternValues values;
    values.job = job.job_id();
    if (job.job().array_job_id() != 0) values.array_job = job.job().array_job_id();
    if (job.job().has_array_task_id()) values.array_task = job.job().array_task_id();
    values.node = facts.node.substr(0, facts.node.find('.'));
    values.node_index = job.node_index();
    values.user = job.user_name();
    values.job_name = job.job().spec().name();
    return values;
}

// --acctg-freq. Where memory is enforced by measuring, a user may ask for it more often, and not for less.
void set_sampling(std::uint32_t wanted_s, step::LaunchSpec& spec) {
    const bool enforces = spec.kill_over_memory && spec.sample_s != 0;
    if (!enforces || (wanted_s != 0 && wanted_s < spec.sample_s)) spec.sample_s = wanted_s;
}

// What batch scripts and steps have in common.
step::LaunchSpec plan_common(const v1::JobLaunch& job, const v1::NodeShare& share, const NodeSetup& setup,
                             const std::string& directory) {
    step::LaunchSpec spec;
    spec.job = job.job_id();
    spec.attempt = job.attempt();
    spec.node = setup.facts.node;
    spec.directory = directory;
    spec.uid = job.uid();
    spec.gid = job.gid();
    spec.groups.assign(job.groups().begin(), job.groups().end());
    if (spec.groups.empty()) spec.groups.push_back(job.gid());
    spec.task_prolog = setup.policy.task_prolog();
    spec.task_epilog = setup.policy.task_epilog();
    if (job.end_time() != 0) {
        const auto grace = std::int64_t{setup.policy.over_time_min()} * 60;
        spec.end_time = job.end_time() + grace;
        spec.end_boot_s = (job.end_boot_s() != 0 ? job.end_boot_s() : step::boot_of(job.end_time())) + grace;
    }
    spec.kill_wait_s = setup.policy.kill_wait_s();
    if (setup.policy.has_sample_s()) spec.sample_s = setup.policy.sample_s();
    spec.kill_over_memory = setup.policy.over_memory_kill();
    if (job.job().spec().has_sample_s()) set_sampling(job.job().spec().sample_s(), spec);
    if (const auto warning = WarningSignal::parse(job.signal()); !job.signal().empty() && warning) {
        spec.warn_signal = static_cast<std::uint32_t>(warning->number);
        spec.warn_before_s = warning->before_s;
        spec.warn_batch_only = warning->batch_only;
    }
    spec.cpus = share.cpus();
    spec.memory_mib = share.memory_mib();
    spec.job_memory_mib = share.memory_mib();
    spec.job_cpus = share.cpus();
    if (setup.binds_cpus) spec.cpu_list = cpus_of_cores(setup.hardware, share.core_ids());
    return spec;
}

GpuHolder holder_of(const v1::JobLaunch& job, std::uint32_t step, std::uint32_t task = UINT32_MAX) {
    return {.job = job.job_id(), .attempt = job.attempt(), .step = step, .task = task, .uid = job.uid()};
}

void take_gpus(const GpuBinding& binding, step::LaunchSpec& spec) {
    spec.device_allow = binding.device_allow;
    spec.device_deny = binding.device_deny;
}

std::string label(const v1::JobLaunch& job, std::uint32_t step) {
    return std::to_string(job.job_id()) + "." + step::step_name(step);
}

bool asks_for_login(const std::vector<std::string>& environment) {
    return std::ranges::find(environment, "SLURM_GET_USER_ENV=1") != environment.end();
}

}  // namespace

std::vector<std::uint32_t> gpu_indexes(const v1::NodeShare& share) {
    std::vector<std::uint32_t> indexes;
    for (const auto& gres : share.gres())
        if (find_gres_kind(gres.name()))  // shards name the gpus they lie on
            indexes.insert(indexes.end(), gres.index().begin(), gres.index().end());
    std::ranges::sort(indexes);
    return indexes;
}

// The controller says how many seconds are left, and they pass by this node's own clock from here on.
void set_deadline(v1::JobLaunch& job, std::int64_t end_time, std::optional<std::int64_t> remaining_s) {
    job.set_end_time(end_time);
    job.clear_remaining_s();
    if (end_time == 0)
        job.clear_end_boot_s();
    else
        job.set_end_boot_s(remaining_s ? step::boot_after(*remaining_s) : step::boot_of(end_time));
}

void copy_deadline(const v1::JobLaunch& known, v1::JobLaunch& job) {
    job.set_end_time(known.end_time());
    job.set_end_boot_s(known.end_boot_s());
}

step::LaunchSpec plan_batch(const v1::LaunchBatch& batch, const NodeSetup& setup, const std::string& directory) {
    const auto& job = batch.job();
    auto spec = plan_common(job, job.share(), setup, directory);
    spec.step = step_batch;
    spec.label = label(job, spec.step);
    spec.work_dir = job.work_dir();
    spec.umask = job.umask();
    add_limits(job.rlimits(), spec);
    spec.append = job.append();
    const auto gpus = setup.gpus.bind(gpu_indexes(job.share()), holder_of(job, spec.step));
    take_gpus(gpus, spec);
    spec.argv.push_back(directory + "/" + std::string{step::script_name});
    spec.argv.insert(spec.argv.end(), batch.argv().begin(), batch.argv().end());
    spec.environment = batch_environment(batch, setup.facts, gpus.variables);
    spec.load_user_environment = asks_for_login(spec.environment);

    const auto values = pattern_values(job, setup.facts);
    const std::string_view usual = values.array_task ? "slurm-%A_%a.out" : "slurm-%j.out";
    auto& task = spec.tasks.emplace_back();
    task.std_in = job.std_in().empty() ? "/dev/null" : expand_path(job.std_in(), values, job.work_dir());
    task.std_out = expand_path(job.std_out().empty() ? usual : job.std_out(), values, job.work_dir());
    task.std_err = job.std_err().empty() ? task.std_out : expand_path(job.std_err(), values, job.work_dir());
    task.cpu_list = spec.cpu_list;
    return spec;
}

namespace {

const v1::NodeShare* find_share(const v1::StepCredential& credential, const std::string& node) {
    for (const auto& share : credential.step().shares())
        if (share.node() == node) return &share;
    return nullptr;
}

struct TaskPlaces {
    const StepView& view;
    PatternValues values;
    std::string work_dir;

    std::string file(const std::string& pattern) const {
        if (pattern.empty()) return {};
        return pattern == "none" ? "/dev/null" : expand_path(pattern, values, work_dir);
    }
    void fill(step::TaskSpec& task) const {
        task.std_in = file(view.launch.std_in());
        task.std_out = file(view.launch.std_out());
        task.std_err = file(view.launch.std_err());
        if (!view.launch.pty() || task.id == 0) return;
        // Only task 0 of a --pty step has a terminal; the others are cut off, as srun's manual says.
        task.std_in = task.std_out = task.std_err = "/dev/null";
    }
};

// Those of `all` that are near the CPUs a task is bound to; none where that is not known.
std::vector<std::uint32_t> closest_gpus(const Gpus& gpus, const std::vector<std::uint32_t>& all,
                                        const std::string& cpu_list) {
    std::vector<std::uint32_t> near;
    const auto cpus = expand_numbers(cpu_list);
    for (const auto gpu : all) {
        if (gpu >= gpus.devices().size()) continue;
        const auto beside = expand_numbers(gpus.devices()[gpu].near_cpus);
        if (std::ranges::any_of(cpus, [&](auto cpu) { return std::ranges::find(beside, cpu) != beside.end(); }))
            near.push_back(gpu);
    }
    return near;
}

// "0*2,1": the entry for the n-th task, the list going round.
std::string_view entry_of(std::string_view list, std::uint32_t task) {
    std::vector<std::pair<std::string_view, std::uint64_t>> entries;
    std::uint64_t total = 0;
    for (const auto part : split(list, ',')) {
        const auto star = part.find('*');
        const auto times = star == std::string_view::npos ? 1 : find_unsigned(part.substr(star + 1)).value_or(1);
        entries.emplace_back(part.substr(0, star), std::clamp<std::uint64_t>(times, 1, 65'536));
        total += entries.back().second;
    }
    auto place = task % total;
    for (const auto& [entry, times] : entries) {
        if (place < times) return entry;
        place -= times;
    }
    return {};
}

constexpr std::size_t longest_bind = 64 * 1024;  // characters of --gpu-bind

// The devices whose bits are set in "0x5", counted within `all`.
std::vector<std::uint32_t> masked_gpus(const std::vector<std::uint32_t>& all, std::string_view mask) {
    if (mask.starts_with("0x") || mask.starts_with("0X")) mask.remove_prefix(2);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(mask.data(), mask.data() + mask.size(), bits, 16);
    std::vector<std::uint32_t> chosen;
    if (error != std::errc{} || end != mask.data() + mask.size()) return chosen;
    for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 64); ++i)
        if ((bits >> i & 1) != 0) chosen.push_back(all[i]);
    return chosen;
}

// --gpus-per-task and --gpu-bind: the part of the step's devices that one task sees. Nothing: all of them.
Result<std::vector<std::uint32_t>> task_gpus(const v1::StepLaunch& launch, const Gpus& gpus,
                                             const std::vector<std::uint32_t>& all, std::uint32_t local,
                                             const std::string& cpu_list) {
    std::vector<std::uint32_t> own;
    std::string_view mode{launch.gpu_bind()};
    if (mode.size() > longest_bind)
        return fail(ErrorCode::limit, "--gpu-bind has {} characters; up to {} are taken", mode.size(), longest_bind);
    if (mode.starts_with("verbose,")) mode.remove_prefix(8);
    std::uint64_t each = launch.gpus_per_task();
    if (mode.starts_with("per_task:")) each = find_unsigned(mode.substr(9)).value_or(0);
    if (mode == "none" || all.empty()) return own;
    if (mode.starts_with("map_gpu:")) {
        const auto place = find_unsigned(entry_of(mode.substr(8), local));
        if (place && *place < all.size()) own.push_back(all[*place]);
    } else if (mode.starts_with("mask_gpu:")) {
        own = masked_gpus(all, entry_of(mode.substr(9), local));
    } else if (mode == "closest") {
        own = closest_gpus(gpus, all, cpu_list);
    } else if (mode.starts_with("single:")) {
        const auto tasks_each = std::max<std::uint64_t>(find_unsigned(mode.substr(7)).value_or(1), 1);
        own.push_back(all[local / tasks_each % all.size()]);
    } else {
        if (each > all.size())
            return fail(ErrorCode::invalid, "a task cannot have {} gpus: the step has {} on this node", each,
                        all.size());
        for (std::uint64_t i = 0; i < each; ++i) own.push_back(all[(local * each + i) % all.size()]);
    }
    return own;
}

Result<void> add_task_gpus(const StepView& view, const NodeSetup& setup, std::uint32_t local, step::TaskSpec& task) {
    const auto* const share = find_share(view.credential, setup.facts.node);
    SPUR_TRY(const auto own, task_gpus(view.launch, setup.gpus, gpu_indexes(*share), local, task.cpu_list));
    if (own.empty()) return {};
    const auto& step = view.credential.step();
    const auto bound = setup.gpus.bind(own, holder_of(view.credential.job(), step.step_id(), task.id));
    task.environment.insert(task.environment.end(), bound.variables.begin(), bound.variables.end());
    task.environment.push_back(fmt::format("SLURM_STEP_GPUS={}", fmt::join(own, ",")));
    task.device_deny = bound.device_deny;
    return {};
}

Result<void> add_tasks(const StepView& view, const NodeSetup& setup, TaskPlaces& places, const Binding& binding,
                       step::LaunchSpec& spec) {
    const auto& layout = view.credential.layout(view.node);
    std::uint32_t local = 0;
    for (const auto id : layout.tasks()) {
        auto& task = spec.tasks.emplace_back();
        task.id = id;
        task.environment = task_environment(id, local);
        places.values.task = id;
        places.fill(task);
        if (local < binding.cpu_lists.size()) task.cpu_list = binding.cpu_lists[local];
        SPUR_CHECK(add_task_gpus(view, setup, local, task));
        if (view.launch.multi_prog_size() > 0) {
            if (id >= static_cast<std::uint32_t>(view.launch.multi_prog_size()))
                return fail(ErrorCode::invalid, "--multi-prog: task {} has no command line", id);
            task.argv = {"/bin/sh", "-c", "exec " + view.launch.multi_prog(static_cast<int>(id))};
        }
        ++local;
    }
    return {};
}

std::vector<std::vector<std::uint32_t>> cores_of(const v1::NodeShare& share, const NodeSetup& setup) {
    std::vector<std::vector<std::uint32_t>> cores;
    if (!setup.binds_cpus) return cores;
    for (const auto core : expand_numbers(share.core_ids())) {
        if (core >= setup.hardware.core_cpus.size()) return {};
        cores.push_back(setup.hardware.core_cpus[core]);
    }
    return cores;
}

// The lowest number that no CPU of the node has.
std::uint32_t cpu_numbers(const Hardware& hardware) {
    std::uint32_t count = 0;
    for (const auto& core : hardware.core_cpus)
        for (const auto cpu : core) count = std::max(count, cpu + 1);
    return count;
}

}  // namespace

Result<step::LaunchSpec> plan_step(const StepView& view, const NodeSetup& setup, const std::string& directory) {
    const auto& job = view.credential.job();
    const auto* const share = find_share(view.credential, setup.facts.node);
    if (share == nullptr)
        return fail(ErrorCode::denied, "the credential gives this step nothing on {}", setup.facts.node);
    auto spec = plan_common(job, *share, setup, directory);
    spec.step = view.credential.step().step_id();
    spec.label = label(job, spec.step);
    spec.work_dir = view.launch.work_dir().empty() ? job.work_dir() : view.launch.work_dir();
    spec.umask = view.umask;
    add_limits(view.launch.rlimits(), spec);
    spec.append = view.launch.append();
    spec.pty = view.launch.pty();
    spec.rows = view.launch.window().rows();
    spec.columns = view.launch.window().columns();
    spec.unbuffered = view.launch.unbuffered();
    spec.tells = view.node == 0;
    if (view.launch.label())
        spec.label_width =
            static_cast<std::uint32_t>(fmt::formatted_size("{}", std::max(view.credential.step().tasks(), 1U) - 1));
    if (view.launch.has_sample_s()) set_sampling(view.launch.sample_s(), spec);
    spec.user_task_prolog = view.launch.task_prolog();
    spec.user_task_epilog = view.launch.task_epilog();
    spec.argv.assign(view.launch.argv().begin(), view.launch.argv().end());
    if (spec.argv.empty() && view.launch.multi_prog_size() == 0)
        return fail(ErrorCode::invalid, "the step has no command");
    for (const auto& whole : job.shares())
        if (whole.node() == setup.facts.node) {
            spec.job_memory_mib = whole.memory_mib();
            spec.job_cpus = whole.cpus();
        }
    const auto limit = view.credential.step().time_limit_min();
    if (limit != 0 && limit != unlimited) {
        spec.own_end_time = view.credential.issued() + std::int64_t{limit} * 60;
        spec.own_end_boot_s = step::boot_after(std::int64_t{limit} * 60);
        if (spec.end_boot_s == 0 || spec.own_end_boot_s < spec.end_boot_s) {
            spec.end_time = spec.own_end_time;
            spec.end_boot_s = spec.own_end_boot_s;
        }
    }

    const auto gpus = setup.gpus.bind(gpu_indexes(*share), holder_of(job, spec.step));
    take_gpus(gpus, spec);
    SPUR_TRY(const auto binding,
             bind_tasks({.mode = view.launch.cpu_bind(),
                         .cores = cores_of(*share, setup),
                         .tasks = static_cast<std::uint32_t>(view.credential.layout(view.node).tasks_size()),
                         .cpus_per_task = std::max(view.credential.cpus_per_task(), 1U),
                         .cpu_count = cpu_numbers(setup.hardware)}));
    spec.bind_verbose = binding.verbose;
    spec.environment = step_environment(view, setup.facts, gpus.variables);
    spec.environment.insert(spec.environment.end(), binding.variables.begin(), binding.variables.end());

    TaskPlaces places{view, pattern_values(job, setup.facts), spec.work_dir};
    places.values.step = spec.step;
    places.values.node_index = static_cast<std::uint32_t>(view.node);
    SPUR_CHECK(add_tasks(view, setup, places, binding, spec));
    return spec;
}

}  // namespace spur::agent
