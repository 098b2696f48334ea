// Building the JobSpec of a traced job, dependencies included.
#include "cli/sim/request.hpp"

#include <algorithm>

#include "core/text/lexical.hpp"

namespace spur::cli::sim {
namespace {

constexpr std::int64_t seconds_per_minute = 60;

}  // namespace

// Everything but the ids stays as it is: types, separators, "+minutes", "_task".
Result<std::string> translate_dependency(std::string_view text, const FindJob& find) {
    std::string out;
    bool wants_id = false;
    while (!text.empty()) {
        if (text.front() == ',' || text.front() == '?' || text.front() == ':') {
            wants_id = text.front() == ':';
            out += text.front();
            text.remove_prefix(1);
            continue;
        }
        const auto end = std::min(text.find_first_of(wants_id ? ",?:+_" : ",?:"), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(end);
        const auto rest =
            wants_id ? text.substr(0, std::min(text.find_first_of(",?:"), text.size())) : std::string_view{};
        text.remove_prefix(rest.size());
        if (!wants_id) {
            out += word;
            continue;
        }
        const auto number = find(word);
        if (!number) return fail(ErrorCode::invalid, "it depends on a job that was not submitted before it");
        out += fmt::format("{}{}", *number, rest);
    }
    return out;
}

Result<JobSpec> make_spec(const TraceJob& job, UnixSeconds begins, const FindJob& find) {
    static const Text script{"#!/bin/sh\n"};
    static const Text directory{"/"};
    JobSpec spec;
    spec.name = job.name;
    spec.script = script;
    spec.work_dir = directory;
    spec.user_name = job.user;
    spec.account = job.account;
    spec.qos = job.qos;
    for (const auto name : split(job.partition, ','))
        if (!name.empty()) spec.partitions.emplace_back(name);
    spec.features = job.features;
    spec.gres_per_node = job.gres;
    spec.gres_per_job = job.gres_per_job;
    spec.licenses = job.licenses;
    spec.node_list = job.node_list;
    spec.reservation = job.reservation;
    spec.array = job.array;
    SPUR_TRY(spec.dependency, translate_dependency(job.dependency, find));
    spec.min_nodes = job.min_nodes;
    spec.max_nodes = job.max_nodes;
    spec.tasks = job.tasks;
    spec.tasks_per_node = job.tasks_per_node;
    spec.cpus_per_task = job.cpus_per_task;
    spec.mem_per_node_mib = job.mem_per_node_mib;
    spec.mem_per_cpu_mib = job.mem_per_cpu_mib;
    spec.nice = job.nice;
    if (job.exclusive) spec.exclusive = Exclusive::node;
    if (job.limit_s)
        spec.time_limit_min = static_cast<std::uint32_t>((*job.limit_s + seconds_per_minute - 1) / seconds_per_minute);
    if (job.begin_s) spec.begin = begins + *job.begin_s;
    return spec;
}

}  // namespace spur::cli::sim
