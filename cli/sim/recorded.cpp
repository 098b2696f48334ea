// Copying what a trace keeps of a job, field by field.
#include "cli/sim/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/job.hpp"

namespace spur::cli::sim {
namespace {

constexpr std::uint32_t state_mask = 0xff;

std::string joined(const auto& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
}

template <class T>
std::optional<T> if_said(bool has, T value) {
    return has ? std::optional<T>{value} : std::nullopt;
}

void copy_request(const v1::JobSpec& spec, TraceJob& out) {
    out.name = spec.name();
    out.partition = joined(spec.partitions());
    out.features = spec.features();
    out.gres = spec.gres_per_node();
    out.gres_per_job = spec.gres_per_job();
    out.licenses = spec.licenses();
    out.node_list = spec.node_list();
    out.exclusive = spec.exclusive() == 1;
    out.min_nodes = if_said<std::uint32_t>(spec.has_min_nodes(), spec.min_nodes());
    out.max_nodes = if_said<std::uint32_t>(spec.has_max_nodes(), spec.max_nodes());
    out.tasks = if_said<std::uint32_t>(spec.has_tasks(), spec.tasks());
    out.tasks_per_node = if_said<std::uint32_t>(spec.has_tasks_per_node(), spec.tasks_per_node());
    out.cpus_per_task = if_said<std::uint32_t>(spec.has_cpus_per_task(), spec.cpus_per_task());
    out.mem_per_node_mib = if_said<std::uint64_t>(spec.has_mem_per_node_mib(), spec.mem_per_node_mib());
    out.mem_per_cpu_mib = if_said<std::uint64_t>(spec.has_mem_per_cpu_mib(), spec.mem_per_cpu_mib());
    out.nice = if_said<std::int32_t>(spec.has_nice(), spec.nice());
}

}  // namespace

std::optional<TraceJob> recorded_job(const v1::Job& job, UnixSeconds begins) {
    const auto state = static_cast<JobState>(job.state_bits() & state_mask);
    const bool is_over = state > JobState::suspended && (job.state_bits() & job_flag::completing) == 0;
    if (!is_over || job.attempt() == 0 || job.start_time() == 0) return std::nullopt;
    TraceJob out;
    copy_request(job.spec(), out);
    out.id = job.has_array_task_id() ? fmt::format("{}_{}", job.array_job_id(), job.array_task_id())
                                     : fmt::format("{}", job.id());
    out.submit_s = std::max<std::int64_t>(job.submit_time() - begins, 0);
    out.run_s = std::max<std::int64_t>(job.end_time() - job.start_time() - job.suspended_s(), 0);
    if (job.time_limit_min() != unlimited) out.limit_s = std::int64_t{job.time_limit_min()} * 60;
    // It would have gone on: so it must in the simulation, until its limit ends it there too.
    if (state == JobState::timeout && out.limit_s) out.run_s = std::max(out.run_s, *out.limit_s + 60);
    if (job.eligible_time() > job.submit_time()) out.begin_s = job.eligible_time() - begins;
    out.fails = state == JobState::failed;
    out.user = job.user_name();
    out.account = job.account();
    out.qos = job.qos();
    return out;
}

}  // namespace spur::cli::sim
