// Requests, allocations, steps, nodes and partitions as trackable resources:
// "cpu=4,mem=16G,node=2,billing=4,gres/gpu=2".
#pragma once

#include "core/model/gres.hpp"
#include "core/model/picture.hpp"
#include "core/model/request.hpp"
#include "core/model/step.hpp"

namespace spur {

// What a pending job asks for, as squeue shows it and as limits count it.
TresList requested_tres(const Picture& picture, const JobSpec& spec, const Request& request);
inline TresList requested_tres(const Picture& picture, const Job& job) {
    return requested_tres(picture, *job.spec, *job.request);
}
TresList allocated_tres(const Picture& picture, const Allocation& allocation);
TresList step_tres(const Step& step);
TresList configured_tres(const Node& node);
TresList used_tres(const Node& node);
TresList partition_tres(const Picture& picture, const Partition& partition);

// What a second of these resources is billed in `partition`: its weights times the counts, cut to whole units, or cpus
// where it has none. Of resources that belong to nodes, `highest_only` bills the dearest alone; licences come on top.
std::uint64_t billing_of(const Partition* partition, const TresList& tres, bool highest_only);

}  // namespace spur
