// Is a submission acceptable, and what does it mean here? Fills in defaults (partition, account, QOS, time limit,
// memory) and refuses with the sentences sbatch has always printed.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/model/picture.hpp"
#include "core/model/request.hpp"
#include "core/model/tres.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

// The spec as it will be stored. Asked of the read model before SubmitJob is proposed, on the caller's thread. apply()
// checks again only what the state itself needs (partitions, limits, what cannot be read), so a later release with
// stricter rules replays old logs all the same.
Result<JobSpec> validate(const Picture& picture, JobSpec spec, const Actor& actor, UnixSeconds now,
                         const OwnerGroups& groups = {});
// The same checks for a waiting job's request that somebody below operator wants to change from `before`: whatever his
// change touches must be acceptable as if it were submitted so. What it leaves alone may have become unacceptable
// since.
Result<JobSpec> revalidate(const Picture& picture, JobSpec changed, const JobSpec& before, const Actor& actor,
                           UnixSeconds now, const OwnerGroups& groups);

// A request with what somebody changes of it; what is not a request's own (an end, nodes to keep) is left aside.
JobSpec with_changes(const JobSpec& spec, const JobChanges& changes);

// Is a user of these groups let into the partition (AllowGroups)?
bool admits(const Partition& partition, const OwnerGroups& groups);

}  // namespace spur
