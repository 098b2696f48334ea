// Cluster: one command in, events out; and the finders.
#include "core/machine/cluster.hpp"

#include <algorithm>

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

namespace {
template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> decltype(&map.begin()->second) {
    const auto place = map.find(key);
    return place == map.end() ? nullptr : &place->second;
}
}  // namespace

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
const Account* Cluster::find_account(std::string_view name) const { return find_in(accounts_, name); }
const User* Cluster::find_user(std::string_view name) const { return find_in(users_, name); }
const Association* Cluster::find_association(AssociationId id) const { return find_in(associations_, id); }
const Qos* Cluster::find_qos(std::string_view name) const { return find_in(qos_, name); }

const Partition* Cluster::default_partition() const {
    for (const auto& [name, partition] : partitions_)
        if (partition.is_default) return &partition;
    return nullptr;
}

std::string association_key(std::string_view account, std::string_view user, std::string_view partition) {
    std::string key{account};
    key.append(1, '\0').append(user).append(1, '\0').append(partition);
    return key;
}

const Association* Cluster::find_association(std::string_view account, std::string_view user,
                                             std::string_view partition) const {
    if (associations_.empty()) return nullptr;
    const auto* exact = find_in(index_->association_by_name, association_key(account, user, partition));
    if (!exact && !partition.empty()) exact = find_in(index_->association_by_name, association_key(account, user, {}));
    return exact ? find_association(*exact) : nullptr;
}

const Job* Cluster::find_task(JobId array, std::uint32_t task) const {
    const auto* split = find_in(index_->tasks, array);
    if (const auto* id = split ? find_in(*split, task) : nullptr) return find_job(*id);
    const auto* record = find_job(array);
    return record && record->array_pending && record->array_pending->contains(task) ? record : nullptr;
}

const std::set<JobId>& Cluster::jobs_on(NodeId node) const {
    static const std::set<JobId> none;
    return node.value < index_->jobs_on.size() ? index_->jobs_on[node.value] : none;
}

const std::vector<NodeClass>& Cluster::node_classes(std::string_view partition) const {
    static const std::vector<NodeClass> none;
    const auto* classes = find_in(index_->node_classes, partition);
    return classes ? *classes : none;
}

Result<std::vector<JobId>> Cluster::resolve(const JobRef& ref) const {
    ClusterOps ops{const_cast<Cluster&>(*this), now_, version_, {}};  // targets() only reads
    SPUR_TRY(const auto found, ops.targets(ref));
    std::vector<JobId> ids;
    for (const auto& target : found) ids.push_back(target.job->id);
    return ids;
}

std::uint64_t Cluster::stored_bytes(Uid owner) const {
    const auto texts = index_->long_texts.find(owner);
    return blobs_.bytes_of(owner) + (texts == index_->long_texts.end() ? 0 : texts->second);
}

bool Cluster::may_change(const Actor& actor, const Job& job) const {
    if (actor.is_operator() || actor.uid == job.spec->uid) return true;
    if (actor.name.empty()) return false;
    const auto coordinates = [&](const Text& name) {
        const auto* account = find_account(name);
        return account && std::ranges::find(account->coordinators, actor.name) != account->coordinators.end();
    };
    if (coordinates(job.spec->account)) return true;
    // Of an account above is of this one too.
    for (const auto* up = find_association(job.association); up; up = find_association(up->parent))
        if (coordinates(up->account)) return true;
    return false;
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
    std::vector<Target> found;
    const JobId id{ref.job};
    const auto* array = c.find_array(id);
    if (ref.component) {
        const auto place = index().components.find(id);
        if (place != index().components.end())
            for (const auto member : place->second)
                if (Job* part = job(member); part && part->het_offset == *ref.component) found.push_back({part, {}});
    } else if (array) {
        const bool all = !ref.has_tasks() || ref.all_tasks;
        Job* record = job(id);
        if (record && record->array_pending) {
            auto wanted = all ? *record->array_pending : *record->array_pending & ref.tasks;
            if (all || wanted == *record->array_pending)
                found.push_back({record, {}});
            else if (!wanted.empty())
                found.push_back({record, std::move(wanted)});
        }
        if (const auto split = index().tasks.find(id); split != index().tasks.end())
            for (const auto& [task, member] : split->second)
                if (all || ref.tasks.contains(task)) found.push_back({job(member), {}});
    } else if (ref.has_tasks()) {
        return fail(refusal::invalid_job_id);
    } else if (const auto place = index().components.find(id); place != index().components.end()) {
        for (const auto member : place->second) found.push_back({job(member), {}});
    } else if (Job* one = job(id)) {
        found.push_back({one, {}});
    }
    if (found.empty()) return fail(refusal::invalid_job_id);
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
