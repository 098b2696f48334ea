// One row a wish: when a job has it, and what users type for it.
#include "daemons/common/planning/wishes.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace spur::planning {

namespace {

struct Wish {
    std::uint64_t bit;
    const char* option;
    bool (*asked)(const spur_job_view& job);
};

constexpr Wish wishes[] = {
    {SPUR_WISH_CONTIGUOUS, "--contiguous", [](auto& job) { return (job.flags & SPUR_JOB_CONTIGUOUS) != 0; }},
    {SPUR_WISH_SWITCHES, "--switches", [](auto& job) { return job.max_switches != 0; }},
    {SPUR_WISH_ALTERNATIVES, "--constraint=[a|b]", [](auto& job) { return job.alternatives.count != 0; }},
    {SPUR_WISH_QUOTAS, "--constraint with counts", [](auto& job) { return job.quotas.count != 0; }},
    {SPUR_WISH_GRES, "--gres", [](auto& job) { return job.gres.count != 0; }},
    {SPUR_WISH_GRES_PER_SOCKET, "--gpus-per-socket",
     [](auto& job) {
         const plugin::Records<spur_gres_request> all{job.gres};
         return std::any_of(all.begin(), all.end(), [](auto& one) { return one.scope == SPUR_GRES_PER_SOCKET; });
     }},
    {SPUR_WISH_TASKS_PER_SOCKET, "--ntasks-per-socket", [](auto& job) { return job.tasks_per_socket != 0; }},
    {SPUR_WISH_TASKS_PER_CORE, "--ntasks-per-core", [](auto& job) { return job.tasks_per_core != 0; }},
    {SPUR_WISH_TASKS_PER_GPU, "--ntasks-per-gpu", [](auto& job) { return job.tasks_per_gpu != 0; }},
    {SPUR_WISH_CPUS_PER_GPU, "--cpus-per-gpu", [](auto& job) { return job.cpus_per_gpu != 0; }},
    {SPUR_WISH_MEM_PER_GPU, "--mem-per-gpu", [](auto& job) { return job.mem_per_gpu_mib != 0; }},
    {SPUR_WISH_HET_JOB, "heterogeneous jobs", [](auto& job) { return job.het_group != 0; }},
    {SPUR_WISH_TIME_MIN, "--time-min", [](auto& job) { return job.limit_min_s != 0; }},
    {SPUR_WISH_DEADLINE, "--deadline", [](auto& job) { return job.deadline != 0; }},
    {SPUR_WISH_LICENSES, "--licenses", [](auto& job) { return job.licenses.count != 0; }},
    {SPUR_WISH_RESERVATION, "--reservation", [](auto& job) { return job.reservation != SPUR_NONE; }},
};

constexpr std::uint64_t first_of_sched = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t wishes_of(const spur_job_view& job) {
    std::uint64_t found = 0;
    for (const auto& wish : wishes)
        if (wish.asked(job)) found |= wish.bit;
    return found;
}

std::string say_unknown(std::uint64_t unknown, std::string_view select, std::string_view sched) {
    const auto wish = std::ranges::find_if(wishes, [&](const Wish& one) { return (one.bit & unknown) != 0; });
    if (wish == std::end(wishes)) return {};
    return fmt::format("{} does not know {}", wish->bit < first_of_sched ? select : sched, wish->option);
}

}  // namespace spur::planning
