// What is worked out from a job's message.
#include "daemons/common/records/job_text.hpp"

#include "core/model/gres.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/users.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace spur::records {
namespace {

constexpr std::string_view no_task = "4294967294";  // how %a reads in the paths of a whole array

}  // namespace

StateAndFlags job_state(const v1::Job& job) {
    StateAndFlags result;
    const auto base = job.state_bits() & 0xff;
    if (base < job_state_count) result.state = static_cast<JobState>(base);
    result.flags = job.state_bits() & ~0xffU;
    return result;
}

v1::Job waiting_task(const v1::Job& array, std::uint32_t task) {
    auto one = array;
    one.set_array_task_id(task);
    one.clear_array_tasks();
    const auto number = fmt::format("{}", task);
    for (auto* const path : {one.mutable_std_in_path(), one.mutable_std_out_path(), one.mutable_std_err_path()})
        for (std::size_t at = 0; (at = path->find(no_task, at)) != std::string::npos; at += number.size())
            path->replace(at, no_task.size(), number);
    return one;
}

std::string array_task_text(const v1::Job& job, std::size_t max_chars) {
    if (job.array_job_id() == 0) return {};
    if (job.has_array_task_id()) return fmt::format("{}", job.array_task_id());
    auto parsed = ArraySpec::parse(job.array_tasks(), highest_max_array_size);
    if (!parsed) return job.array_tasks();
    if (parsed->max_running == 0) parsed->max_running = job.array_limit();
    return parsed->elided(max_chars);
}

std::string job_id_text(const v1::Job& job, std::size_t max_chars) {
    if (job.array_job_id() != 0) {
        const auto tasks = array_task_text(job, max_chars);
        if (job.has_array_task_id()) return fmt::format("{}_{}", job.array_job_id(), tasks);
        if (!tasks.empty()) return fmt::format("{}_[{}]", job.array_job_id(), tasks);
    }
    if (job.het_job_id() != 0) return fmt::format("{}+{}", job.het_job_id(), job.het_offset());
    return fmt::format("{}", job.id());
}

std::int64_t run_time_s(const v1::Job& job, std::int64_t now) {
    const auto state = job_state(job);
    if (state.state == JobState::pending || job.start_time() == 0) return 0;
    std::int64_t end = now;
    if (state.is_finished())
        end = job.end_time();
    else if (state.state == JobState::suspended && job.suspend_time() != 0)
        end = job.suspend_time();
    return std::max<std::int64_t>(0, end - job.start_time() - job.suspended_s());
}

std::uint32_t task_count(const v1::Job& job) {
    if (job.task_count() != 0) return job.task_count();
    if (job.spec().has_tasks()) return job.spec().tasks();
    return std::max(1U, job.spec().min_nodes());
}

std::uint32_t node_count(const v1::Job& job) {
    if (job.node_count() != 0) return job.node_count();
    return std::max(1U, job.spec().min_nodes());
}

std::uint32_t cpu_count(const v1::Job& job) {
    if (job.cpus() != 0) return job.cpus();
    return std::max(task_count(job) * std::max(1U, job.spec().cpus_per_task()), node_count(job));
}

std::uint32_t min_cpus_per_node(const v1::Job& job) {
    return std::max({1U, job.spec().min_cpus_per_node(), job.spec().cpus_per_task()});
}

std::string reason_text(const v1::Job& job) {
    // A few reasons come with what they are about: "ReqNodeNotAvail, UnavailableNodes:n3".
    const bool says_more = !job.reason().empty() && job.reason_text().size() > job.reason().size() &&
                           job.reason_text().starts_with(job.reason());
    if (says_more || stands_for_reason(job.reason_text())) return job.reason_text();
    return job.reason().empty() ? "None" : job.reason();
}

std::string command_text(const v1::Job& job) {
    std::string text = job.spec().command();
    if (text.empty() && job.spec().kind() == v1::JobSpec::BATCH) return {};
    for (const auto& word : job.spec().argv()) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string_view oversubscribe_text(const v1::Job& job) {
    switch (job.spec().exclusive()) {
        case 1:
            return "NO";
        case 2:
            return "USER";
        case 3:
            return "MCS";
        default:
            return job.spec().oversubscribe() ? "YES" : "OK";
    }
}

std::string batch_host(const v1::Job& job) {
    if (!job.batch_host().empty() || job.node_list().empty()) return job.batch_host();
    const auto nodes = HostList::parse(job.node_list());
    return nodes ? nodes->nth(0).value_or("") : "";
}

std::string user_name(const v1::Job& job) {
    return job.user_name().empty() ? name_of_user(job.spec().uid()) : job.user_name();
}
std::string group_name(const v1::Job& job) {
    return job.group_name().empty() ? name_of_group(job.spec().gid()) : job.group_name();
}

std::optional<std::uint64_t> min_memory_mib(const v1::Job& job) {
    const auto& spec = job.spec();
    if (spec.has_mem_per_cpu_mib()) return spec.mem_per_cpu_mib();
    if (spec.has_mem_per_node_mib()) return spec.mem_per_node_mib();
    return std::nullopt;
}

std::string gres_as_tres(const std::string& gres) { return print_typed_gres(gres); }

std::size_t array_text_limit() {
    if (const char* text = std::getenv("SLURM_BITSTR_LEN"))
        if (const auto limit = find_unsigned(text)) return *limit;
    return 64;
}

}  // namespace spur::records
