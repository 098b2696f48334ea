// Cluster: one command in, events out; and the finders.
#include "core/machine/cluster.hpp"

#include <algorithm>

#include "core/base/find_in.hpp"
#include "core/machine/cluster_ops.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

Cluster::Cluster() : config_{std::make_unique<ClusterConfig>()}, index_{std::make_unique<Indexes>()} {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

Result<Events> Cluster::apply(const Stamped<Command>& command) {
    // A new leader's clock may be behind; durations must not become negative for that.
    ClusterOps ops{*this, std::max(command.at, now_), version_ + 1, {}};
    SPUR_CHECK(std::visit([&](const auto& body) { return ops.on(body); }, command.what));
    ops.post_jobs();
    ops.follow_reservations();
    ops.post_changes();
    version_ = ops.version;
    now_ = ops.at;
    return std::move(ops.events);
}

UnixSeconds Cluster::next_due() const {
    UnixSeconds next = 0;
    const auto consider = [&](UnixSeconds time) {
        if (time != 0 && (next == 0 || time < next)) next = time;
    };
    if (!index_->due.empty()) consider(index_->due.begin()->first);
    if (!index_->done.empty() && policies_.min_job_age_s)
        consider(index_->done.begin()->first + policies_.min_job_age_s);
    for (const auto& [name, reservation] : reservations_) {
        const bool begun = reservation.has(reservation_flag::begun);
        consider(begun ? reservation.end_time : reservation.start_time);
        if (begun && reservation.has(reservation_flag::purge_comp) && reservation.idle_since != 0)
            consider(reservation.idle_since + (reservation.purge_comp_s ? reservation.purge_comp_s : 300));
    }
    return next;
}

const Job* Cluster::find_job(JobId id) const { return find_in(jobs_, id); }
const Array* Cluster::find_array(JobId id) const { return find_in(arrays_, id); }
const Step* Cluster::find_step(StepKey key) const { return find_in(steps_, key); }
const Node* Cluster::find_node(NodeId id) const { return id.value < nodes_.size() ? &nodes_[id.value] : nullptr; }
const Node* Cluster::find_node(std::string_view name) const {
    const auto* id = find_in(index_->node_by_name, name);
    return id ? find_node(*id) : nullptr;
}
const Partition* Cluster::find_partition(std::string_view name) const { return find_in(partitions_, name); }
const Reservation* Cluster::find_reservation(std::string_view name) const { return find_in(reservations_, name); }
const Job* Cluster::find_member(JobId family, std::uint32_t number) const {
    const auto* members = find_in(index_->families, family);
    const auto* id = members ? find_in(*members, number) : nullptr;
    return id ? find_job(*id) : nullptr;
}
void Cluster::for_each_member(JobId family, const std::function<void(const Job&)>& visit) const {
    if (const auto* members = find_in(index_->families, family))
        for (const auto& [number, id] : *members) visit(*find_job(id));
}
std::size_t Cluster::member_count(JobId family) const {
    const auto* members = find_in(index_->families, family);
    return members ? members->size() : 0;
}
void Cluster::for_each_step(JobId job, const std::function<void(const Step&)>& visit) const {
    for (auto at = steps_.lower_bound({job, {0}}); at != steps_.end() && at->first.job == job; ++at) visit(at->second);
}

const Partition* Cluster::default_partition() const {
    for (const auto& [name, partition] : partitions_)
        if (partition.is_default) return &partition;
    return nullptr;
}

const std::set<JobId>& Cluster::jobs_on(NodeId node) const {
    static const std::set<JobId> none;
    return node.value < index_->jobs_on.size() ? index_->jobs_on[node.value] : none;
}

std::uint64_t Cluster::stored_bytes(Uid owner) const {
    const auto texts = index_->long_texts.find(owner);
    return blobs_.bytes_of(owner) + (texts == index_->long_texts.end() ? 0 : texts->second);
}

// ---- finding, for the handlers -------------------------------------------------------------------------------------

Job* ClusterOps::job(JobId id) {
    const auto place = c.jobs_.find(id);
    return place == c.jobs_.end() ? nullptr : &place->second;
}

Node* ClusterOps::node(NodeId id) { return id.value < c.nodes_.size() ? &c.nodes_[id.value] : nullptr; }

Result<Job*> ClusterOps::job_at(JobId id, std::uint32_t attempt) {
    Job* found = job(id);
    if (!found) return fail(refusal::invalid_job_id);
    if (found->attempt != attempt)
        return fail(ErrorCode::conflict, "job {} is at attempt {}, the report is about attempt {}", id.value,
                    found->attempt, attempt);
    return found;
}

Result<std::vector<ClusterOps::Target>> ClusterOps::targets(const JobRef& ref) {
    SPUR_TRY(auto named, c.resolve(ref));
    std::vector<Target> found;
    for (auto& one : named) found.push_back({job(one.job->id), std::move(one.tasks)});
    return found;
}

Result<std::vector<ClusterOps::Target>> ClusterOps::own_targets(const JobRef& ref, const Actor& actor) {
    SPUR_TRY(auto found, targets(ref));
    for (const auto& target : found)
        if (!c.may_change(actor, *target.job)) return fail(refusal::denied);
    return found;
}

std::vector<Job*> ClusterOps::separate(const Target& target) {
    if (!target.tasks) return {target.job};
    std::vector<Job*> parts;
    for (auto task = target.tasks->first(); task; task = target.tasks->next(*task + 1))
        parts.push_back(&split_task(*target.job, *task));
    return parts;
}

}  // namespace spur
