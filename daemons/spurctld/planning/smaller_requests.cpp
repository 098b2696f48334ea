// What can be smaller in a request: how each trial changes the job, and how it is written as an option.
#include "daemons/spurctld/planning/smaller_requests.hpp"

#include <fmt/format.h>

#include "core/model/request.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

namespace spur::ctld {

namespace {

constexpr std::uint64_t memory_steps = 16;
constexpr std::uint32_t longest_trial_min = 30 * 24 * 60;  // in place of no limit at all

template <class Change>
Job changed(const Job& job, Change&& change) {
    Job copy = job;
    auto spec = std::make_shared<JobSpec>(*job.spec);
    change(copy, *spec);
    set_spec(copy, std::move(spec));
    return copy;
}

std::string counted(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

SmallerRequest fewer_nodes(const Job& job) {
    const auto now = *job.spec->min_nodes;
    return {.most = now - 1,
            .with =
                [job, now](std::uint64_t count) {
                    return changed(job, [&](Job&, JobSpec& spec) {
                        spec.min_nodes = static_cast<std::uint32_t>(count);
                        if (spec.max_nodes == now) spec.max_nodes = spec.min_nodes;
                    });
                },
            .option = [](std::uint64_t count) { return fmt::format("--nodes={}", count); },
            .difference =
                [now](std::uint64_t count) { return fmt::format("{} instead of {}", counted(count, "node"), now); }};
}

// One number of the request.
SmallerRequest fewer(const Job& job, std::optional<std::uint32_t> JobSpec::*field, const char* option,
                     const char* what) {
    const auto now = *(*job.spec.*field);
    return {
        .most = now - 1,
        .with =
            [job, field](std::uint64_t count) {
                return changed(job, [&](Job&, JobSpec& spec) { spec.*field = static_cast<std::uint32_t>(count); });
            },
        .option = [option](std::uint64_t count) { return fmt::format("{}={}", option, count); },
        .difference =
            [now, what](std::uint64_t count) { return fmt::format("{} instead of {}", counted(count, what), now); }};
}

SmallerRequest less_time(const Job& job) {
    const auto now = job.time_limit_min;
    const auto shown = [](std::uint64_t minutes) { return print_duration(static_cast<std::int64_t>(minutes) * 60); };
    return {.most = now == unlimited ? longest_trial_min : now - 1,
            .with =
                [job](std::uint64_t minutes) {
                    return changed(job, [&](Job& copy, JobSpec& spec) {
                        copy.time_limit_min = static_cast<std::uint32_t>(minutes);
                        spec.time_limit_min = copy.time_limit_min;
                        spec.time_min_min.reset();
                    });
                },
            .option = [shown](std::uint64_t minutes) { return fmt::format("--time={}", shown(minutes)); },
            .difference =
                [now, shown](std::uint64_t minutes) {
                    return fmt::format("at most {} instead of {}", shown(minutes),
                                       now == unlimited ? "no limit" : shown(now));
                }};
}

SmallerRequest less_memory(const Job& job, std::optional<std::uint64_t> JobSpec::*field, const char* option) {
    const auto now = *(*job.spec.*field);
    const auto part = [now](std::uint64_t sixteenths) {
        return std::max<std::uint64_t>(1, now * sixteenths / memory_steps);
    };
    return {
        .most = memory_steps - 1,
        .with =
            [job, field, part](std::uint64_t sixteenths) {
                return changed(job, [&](Job&, JobSpec& spec) { spec.*field = part(sixteenths); });
            },
        .option = [option, part](std::uint64_t sixteenths) { return fmt::format("{}={}", option, part(sixteenths)); },
        .difference =
            [now, part](std::uint64_t sixteenths) {
                return fmt::format("{} of memory instead of {}", print_mib(part(sixteenths)), print_mib(now));
            }};
}

// The first resource of a --gres, --gpus or --gpus-per-task list.
void add_gres(const Job& job, const GresList& gres, Text JobSpec::*field, const char* option,
              std::vector<SmallerRequest>& out) {
    if (gres.empty() || gres.front().count < 2) return;
    const auto text = [gres](std::uint64_t count) {
        auto smaller = gres;
        smaller.front().count = count;
        return print_gres(smaller);
    };
    out.push_back({.most = gres.front().count - 1,
                   .with =
                       [job, field, text](std::uint64_t count) {
                           return changed(job, [&](Job&, JobSpec& spec) { spec.*field = Text{text(count)}; });
                       },
                   .option = [option, text](std::uint64_t count) { return fmt::format("{}={}", option, text(count)); },
                   .difference =
                       [gres](std::uint64_t count) {
                           return fmt::format("{} instead of {}", counted(count, gres.front().name),
                                              gres.front().count);
                       }});
}

// Something to do without altogether.
template <class Drop>
SmallerRequest without(const Job& job, const char* option, Drop drop) {
    return {.most = 1,
            .with = [job, drop](std::uint64_t) { return changed(job, [&](Job&, JobSpec& spec) { drop(spec); }); },
            .option = [option](std::uint64_t) { return fmt::format("no {}", option); },
            .difference = [option](std::uint64_t) { return fmt::format("without {}", option); }};
}

}  // namespace

std::vector<SmallerRequest> smaller_requests(const Job& job) {
    const auto& spec = *job.spec;
    std::vector<SmallerRequest> found;
    if (spec.min_nodes.value_or(1) > 1) found.push_back(fewer_nodes(job));
    if (spec.tasks.value_or(1) > 1) found.push_back(fewer(job, &JobSpec::tasks, "--ntasks", "task"));
    if (spec.cpus_per_task.value_or(1) > 1)
        found.push_back(fewer(job, &JobSpec::cpus_per_task, "--cpus-per-task", "CPU per task"));
    add_gres(job, job.request->gres_per_node, &JobSpec::gres_per_node, "--gres", found);
    add_gres(job, job.request->gres_per_job, &JobSpec::gres_per_job, "--gpus", found);
    add_gres(job, job.request->gres_per_task, &JobSpec::gres_per_task, "--gpus-per-task", found);
    if (spec.mem_per_node_mib.value_or(0) > 1) found.push_back(less_memory(job, &JobSpec::mem_per_node_mib, "--mem"));
    if (spec.mem_per_cpu_mib.value_or(0) > 1)
        found.push_back(less_memory(job, &JobSpec::mem_per_cpu_mib, "--mem-per-cpu"));
    if (job.time_limit_min > 1) found.push_back(less_time(job));
    if (spec.exclusive.value_or(Exclusive::no) == Exclusive::node)
        found.push_back(without(job, "--exclusive", [](JobSpec& smaller) { smaller.exclusive.reset(); }));
    if (!spec.node_list.empty())
        found.push_back(without(job, "--nodelist", [](JobSpec& smaller) { smaller.node_list = {}; }));
    if (!spec.features.empty())
        found.push_back(without(job, "--constraint", [](JobSpec& smaller) { smaller.features = {}; }));
    return found;
}

}  // namespace spur::ctld
