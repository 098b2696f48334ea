// Keeping the indexes true: every change of a job goes through ClusterOps::Change.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/request_limits.hpp"
#include "core/slurm/signal.hpp"

namespace spur {

namespace {

bool waits_singly(const Job& job) {
    return !job.is_finished() && std::ranges::any_of(job.dependencies.entries, [](const Dependency& entry) {
        return entry.type == DependencyType::singleton;
    });
}

template <class Set, class Item>
void set_member(Set& set, const Item& item, bool member) {
    if (member)
        set.insert(item);
    else
        set.erase(item);
}

template <class Map, class Key>
void set_listed(Map& map, const Key& key, JobId id, bool listed) {
    if (listed) {
        map[key].insert(id);
    } else if (const auto place = map.find(key); place != map.end()) {
        place->second.erase(id);
        if (place->second.empty()) map.erase(place);
    }
}

}  // namespace

ClusterOps::Change::Change(ClusterOps& ops, Job& job)
    : ops_{ops},
      job_{job},
      pending_{job.is_pending()},
      active_{job.is_active() || job.is_completing()},
      done_{job.is_done()},
      unfinished_{!job.is_done()},
      singleton_{waits_singly(job)},
      ended_{job.end_time},
      name_{job.spec->name} {}

ClusterOps::Change::~Change() {
    auto& c = ops_.c;
    auto& index = ops_.index();
    const JobId id = job_.id;
    job_.version = ops_.version;
    if (pending_ != job_.is_pending()) set_member(c.pending_, id, !pending_);
    if (const bool active = job_.is_active() || job_.is_completing(); active != active_)
        set_member(c.active_, id, active);
    if (const bool done = job_.is_done(); done != done_ || (done && ended_ != job_.end_time)) {
        if (done_) index.done.erase({ended_, id});
        if (done) index.done.insert({job_.end_time, id});
    }
    const bool renamed = !(name_ == job_.spec->name);
    if (const bool unfinished = !job_.is_done(); unfinished != unfinished_ || renamed) {
        set_listed(index.unfinished, Cluster::Indexes::NameKey{job_.spec->uid, name_}, id, false);
        if (unfinished)
            set_listed(index.unfinished, Cluster::Indexes::NameKey{job_.spec->uid, job_.spec->name}, id, true);
    }
    if (const bool singleton = waits_singly(job_); singleton != singleton_ || renamed) {
        set_listed(index.singletons, Cluster::Indexes::NameKey{job_.spec->uid, name_}, id, false);
        if (singleton)
            set_listed(index.singletons, Cluster::Indexes::NameKey{job_.spec->uid, job_.spec->name}, id, true);
    }
    ops_.set_due(job_);
}

// A pure function of the records: nothing that is still to be done is dropped because its time has passed.
void ClusterOps::set_due(const Job& job) {
    UnixSeconds due = 0;
    const auto consider = [&](UnixSeconds time) {
        if (due == 0 || time < due) due = time;
    };
    if (job.is_pending()) {
        const auto& spec = *job.spec;
        if (spec.begin && job.reason == Reason::begin_time) consider(*spec.begin);
        if (spec.deadline) {
            const auto shortest = spec.time_min_min.value_or(job.time_limit_min);
            consider(shortest == unlimited ? *spec.deadline : *spec.deadline - std::int64_t{shortest} * 60 + 1);
        }
        for (const auto& entry : job.dependencies.entries)
            if (entry.delay_min)
                if (const auto* other = c.find_job(JobId{entry.job}); other && other->start_time)
                    consider(other->start_time + std::int64_t{entry.delay_min} * 60);
    } else if (job.state == JobState::running) {
        const auto over_s = job.preempt_time != 0 ? 0 : std::int64_t{c.policies_.over_time_limit_min} * 60;
        if (job.end_time) consider(job.end_time + over_s);
        if (job.end_time && !job.warned && !job.spec->signal.empty())
            if (const auto signal = WarningSignal::parse(job.spec->signal)) consider(job.end_time - signal->before_s);
        if (job.spec->deadline) consider(*job.spec->deadline);
    }
    auto& index = *c.index_;
    const auto place = index.due_of.find(job.id);
    const auto before = place == index.due_of.end() ? 0 : place->second;
    if (before == due) return;
    if (before) index.due.erase({before, job.id});
    if (due) {
        index.due.insert({due, job.id});
        index.due_of[job.id] = due;
    } else {
        index.due_of.erase(place);
    }
}

void ClusterOps::index_waiting(const Job& job, bool waits) {
    for (const auto& entry : job.dependencies.entries)
        if (entry.job) set_listed(index().waiters, JobId{entry.job}, job.id, waits);
}

// Everything the records say about a job that is new here: submitted, split from an array, or loaded.
void ClusterOps::index_job(Job& job) {
    auto& index = *c.index_;
    if (job.is_pending()) c.pending_.insert(c.pending_.end(), job.id);
    if (job.is_active() || job.is_completing()) c.active_.insert(job.id);
    if (job.is_done()) {
        index.done.insert({job.end_time, job.id});
    } else {
        set_listed(index.unfinished, Cluster::Indexes::NameKey{job.spec->uid, job.spec->name}, job.id, true);
    }
    if (waits_singly(job))
        set_listed(index.singletons, Cluster::Indexes::NameKey{job.spec->uid, job.spec->name}, job.id, true);
    index_waiting(job, true);
    if (const auto family = job.family()) index.families[family->id][family->number] = job.id;
    if (job.state == JobState::suspended && job.preempt_time != 0) index.suspended_by_preemption.insert(job.id);
    if (job.allocation)
        for (const auto share : job.open_shares) index.jobs_on[job.allocation->shares[share].node.value].insert(job.id);
    for (const auto& share : job.leaving) index.jobs_on[share.node.value].insert(job.id);
    index.task_total += job.task_count();
    count_texts(job, true);
    set_due(job);
}

// A user's jobs may keep so much in the state; ordinary texts are free. Tasks share the texts of their array.
void ClusterOps::count_texts(const Job& job, bool is_new) {
    if (job.array_job && job.array_job != job.id) return;
    const auto bytes = text_bytes(*job.spec);
    if (bytes <= request_limit::free_text_bytes) return;
    auto& all = index().long_texts;
    const auto place = all.try_emplace(job.spec->uid).first;
    const auto counted = bytes - request_limit::free_text_bytes;
    place->second = is_new ? place->second + counted : place->second - std::min<std::uint64_t>(place->second, counted);
    if (place->second == 0) all.erase(place);
}

Job& ClusterOps::add_job(Job fresh) {
    const auto id = fresh.id;
    fresh.version = version;
    auto& job = c.jobs_.insert_or_assign(c.jobs_.end(), id, std::move(fresh))->second;
    index_job(job);
    return job;
}

void ClusterOps::forget(JobId id) {
    Job* old = job(id);
    if (!old) return;
    auto& index = *c.index_;
    index.done.erase({old->end_time, id});
    index_waiting(*old, false);
    if (const auto place = index.due_of.find(id); place != index.due_of.end()) {
        index.due.erase({place->second, id});
        index.due_of.erase(place);
    }
    index.task_total -= old->task_count();
    count_texts(*old, false);
    if (const auto family = old->family()) {
        auto& members = index.families[family->id];
        members.erase(family->number);
        if (members.empty()) index.families.erase(family->id);
    }
    if (old->array_job) {
        const Job* record = old->array_pending ? nullptr : job(old->array_job);
        const bool waiting = record && record->array_pending;
        if (c.member_count(old->array_job) == 0 && !waiting) c.arrays_.erase(old->array_job);
    }
    c.steps_.erase(c.steps_.lower_bound({id, {0}}), c.steps_.upper_bound({id, {UINT32_MAX}}));
    c.blobs_.drop(old->spec->script, old->spec->uid);
    c.blobs_.drop(old->spec->environment, old->spec->uid);
    c.jobs_.erase(id);
    events.push_back(JobForgotten{id});
}

bool ClusterOps::is_id_used(JobId id) const {
    return c.jobs_.contains(id) || c.arrays_.contains(id) || c.index_->families.contains(id);
}

std::uint32_t ClusterOps::new_job_id() {
    const auto& policies = c.policies_;
    for (;;) {
        if (c.next_job_id_ < policies.first_job_id || c.next_job_id_ > policies.max_job_id)
            c.next_job_id_ = policies.first_job_id;
        const auto id = c.next_job_id_++;
        if (!is_id_used(JobId{id})) return id;
    }
}

}  // namespace spur
