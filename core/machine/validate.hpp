// Is a submission acceptable, and what does it mean here? Fills in defaults (partition, account, QOS, time limit,
// memory) and refuses with the sentences sbatch has always printed.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/cluster.hpp"
#include "core/machine/command.hpp"
#include "core/model/job_spec.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

// The spec as it will be stored. Asked before SubmitJob is proposed. apply() checks again only what the state itself
// needs (partitions, limits, what cannot be read), so a later release with stricter rules replays old logs all the
// same.
Result<JobSpec> validate(const Cluster& cluster, JobSpec spec, const Actor& actor, UnixSeconds now,
                         const OwnerGroups& groups = {});
// The same checks for a waiting job's request that somebody below operator wants to change from `before`: whatever his
// change touches must be acceptable as if it were submitted so. What it leaves alone may have become unacceptable
// since.
Result<JobSpec> revalidate(const Cluster& cluster, JobSpec changed, const JobSpec& before, const Actor& actor,
                           UnixSeconds now, const OwnerGroups& groups);

// Is a user of these groups let into the partition (AllowGroups)?
bool admits(const Partition& partition, const OwnerGroups& groups);

// What the spec asks in numbers, with every default in force.
struct Demand {
    std::uint32_t min_nodes{1};
    std::uint32_t max_nodes{1};
    std::uint32_t tasks{1};
    std::uint32_t cpus_per_task{1};
    std::uint32_t min_cpus{1};   // in all
    std::uint64_t memory_mib{};  // in all, as far as known before nodes are chosen
    bool operator==(const Demand&) const = default;
};
Demand demand_of(const JobSpec& spec);
// cpu, mem, node, billing, gres, licences: as squeue shows a pending job's TRES and as limits count it.
TresList requested_tres(const Cluster& cluster, const JobSpec& spec);
TresList requested_tres(const JobSpec& spec, const Partition* partition, bool bill_highest_only);
TresList allocated_tres(const Cluster& cluster, const Allocation& allocation);
// What a second of these resources is billed in `partition`: its weights times the counts, cut to whole units, or cpus
// where it has none. Of resources that belong to nodes, `highest_only` bills the dearest alone; licences come on top.
std::uint64_t billing_of(const Partition* partition, const TresList& tres, bool highest_only);

// "matlab:2,ansys" and "matlab=2"; the name alone is one.
Result<std::vector<LicenseCount>> parse_licenses(std::string_view text);

}  // namespace spur
