// Why a job may not start yet: holds, dependencies and begin times. The scheduler adds the rest through SetPending.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"

namespace spur {

namespace {

// Reasons this file gives; any other is the scheduler's and stays until it says otherwise.
bool is_ours(Reason reason) {
    return reason == Reason::job_held_admin || reason == Reason::job_held_user || reason == Reason::dependency ||
           reason == Reason::dependency_never_satisfied || reason == Reason::begin_time ||
           reason == Reason::reservation_deleted;
}

DependencyState done_state(bool good) { return good ? DependencyState::fulfilled : DependencyState::failed; }

// One job against a kind of dependency that looks at how it ended.
DependencyState judge_end(const Job& other, DependencyType type) {
    if (!other.is_done()) return DependencyState::unfulfilled;
    const bool ok = other.state == JobState::completed;
    if (type == DependencyType::after_ok || type == DependencyType::after_corr) return done_state(ok);
    if (type == DependencyType::after_not_ok) return done_state(!ok);
    return DependencyState::fulfilled;
}

DependencyState judge_array(const Array& array, DependencyType type) {
    if (type == DependencyType::after)
        return array.active + array.ended >= array.size ? DependencyState::fulfilled : DependencyState::unfulfilled;
    if (array.ended < array.size) return DependencyState::unfulfilled;
    if (type == DependencyType::after_ok || type == DependencyType::after_corr) return done_state(array.failed == 0);
    if (type == DependencyType::after_not_ok) return done_state(array.failed != 0);
    return DependencyState::fulfilled;
}

}  // namespace

DependencyState ClusterOps::judge(const Job& waiter, const Dependency& dependency) const {
    if (dependency.type == DependencyType::singleton) {
        const auto place = c.index_->unfinished.find({waiter.spec->uid, waiter.spec->name});
        if (place == c.index_->unfinished.end()) return DependencyState::fulfilled;
        const auto own = waiter.array_job ? waiter.array_job : waiter.id;
        const Job* first = c.find_job(*place->second.begin());
        const auto first_own = first && first->array_job ? first->array_job : *place->second.begin();
        return first_own < own ? DependencyState::unfulfilled : DependencyState::fulfilled;
    }
    const JobId id{dependency.job};
    const Array* array = c.find_array(id);
    if (array && !dependency.task) {
        if (dependency.type == DependencyType::after_corr && waiter.array_job) {
            const Job* partner = waiter.array_task ? c.find_task(id, *waiter.array_task) : nullptr;
            if (partner) return judge_end(*partner, dependency.type);
            return array->ended < array->size ? DependencyState::unfulfilled : DependencyState::failed;
        }
        return judge_array(*array, dependency.type);
    }
    const Job* other = array ? c.find_task(id, *dependency.task) : c.find_job(id);
    if (!other) return DependencyState::fulfilled;  // long gone, or never was: nothing to wait for
    if (dependency.type != DependencyType::after) return judge_end(*other, dependency.type);
    const bool begun = other->state != JobState::pending && other->start_time != 0;
    if (!begun && !other->is_finished()) return DependencyState::unfulfilled;
    const auto due = begun ? other->start_time + std::int64_t{dependency.delay_min} * 60 : at;
    return at >= due ? DependencyState::fulfilled : DependencyState::unfulfilled;
}

void ClusterOps::update_dependencies(Job& job) {
    auto& list = job.dependencies;
    if (list.empty()) return;
    auto left = list;
    bool any_fulfilled = false;
    std::erase_if(left.entries, [&](Dependency& entry) {
        entry.state = judge(job, entry);
        any_fulfilled |= entry.state == DependencyState::fulfilled;
        return entry.state == DependencyState::fulfilled;
    });
    if (list.any && any_fulfilled) left.entries.clear();
    if (left == list) return;
    index_waiting(job, false);
    Change change{*this, job};
    list = std::move(left);
    index_waiting(job, true);
    events.push_back(JobChanged{job.id});
}

// aftercorr between two arrays: each task waits for its partner, so tasks leave the record one by one.
void ClusterOps::update_corresponding(Job& record, std::optional<std::uint32_t> ended_task) {
    const auto corresponds = std::ranges::find_if(record.dependencies.entries, [&](const Dependency& entry) {
        return entry.type == DependencyType::after_corr && !entry.task && c.find_array(JobId{entry.job});
    });
    if (corresponds == record.dependencies.entries.end()) return;
    const JobId other{corresponds->job};
    std::vector<std::uint32_t> ready;
    const auto consider = [&](std::uint32_t task) {
        const Job* partner = c.find_task(other, task);
        if (partner && partner->is_done()) ready.push_back(task);
    };
    if (ended_task) {
        if (record.array_pending->contains(*ended_task)) consider(*ended_task);
    } else {
        for (auto task = record.array_pending->first(); task; task = record.array_pending->next(*task + 1))
            consider(*task);
    }
    for (const auto task : ready) {
        const bool last = record.array_pending->size() == 1;
        Job& part = split_task(record, task);
        update_dependencies(part);
        refresh(part);
        if (last) return;
    }
}

void ClusterOps::refresh(Job& job) {
    if (!job.is_pending()) return;
    const auto& list = job.dependencies;
    const auto failed = [](const Dependency& entry) { return entry.state == DependencyState::failed; };
    const bool never = !list.empty() && (list.any ? std::ranges::all_of(list.entries, failed)
                                                  : std::ranges::any_of(list.entries, failed));
    if (never && job.spec->kill_on_invalid_dependency.value_or(c.policies_.kill_on_invalid_dependency)) {
        end_pending(job, JobState::cancelled, Reason::dependency_never_satisfied);
        return;
    }
    Reason reason = Reason::none;
    if (never)
        reason = Reason::dependency_never_satisfied;
    else if (job.hold == Hold::admin)
        reason = job.flags & job_flag::resv_del_hold ? Reason::reservation_deleted : Reason::job_held_admin;
    else if (job.hold == Hold::user)
        reason = Reason::job_held_user;
    else if (!list.empty())
        reason = Reason::dependency;
    else if (job.spec->begin && *job.spec->begin > at)
        reason = Reason::begin_time;

    const bool eligible = reason == Reason::none;
    const bool keeps_reason = eligible ? !is_ours(job.reason) : job.reason == reason;
    if (eligible == job.eligible && keeps_reason) {
        set_due(job);
        return;
    }
    Change change{*this, job};
    if (!keeps_reason) {
        job.reason = reason;
        job.reason_text = {};
    }
    if (eligible && !job.eligible) {
        job.eligible_time = std::max(at, job.spec->begin.value_or(0));
        job.accrue_time = may_get_older(job) ? job.eligible_time : 0;
    }
    job.eligible = eligible;
    events.push_back(JobChanged{job.id});
}

void ClusterOps::wake_waiters(const Job& job) {
    std::set<JobId> woken;
    const auto gather = [&](JobId id) {
        if (const auto place = index().waiters.find(id); place != index().waiters.end())
            woken.insert(place->second.begin(), place->second.end());
    };
    gather(job.id);
    if (job.array_job && job.array_job != job.id) gather(job.array_job);
    if (job.is_done()) {
        const auto place = index().singletons.find({job.spec->uid, job.spec->name});
        if (place != index().singletons.end()) woken.insert(*place->second.begin());
    }
    for (const auto id : woken) {
        Job* waiter = this->job(id);
        if (!waiter || !waiter->is_pending()) continue;
        if (waiter->array_pending && job.is_done()) update_corresponding(*waiter, job.array_task);
        update_dependencies(*waiter);
        refresh(*waiter);
    }
}

}  // namespace spur
