// Counting what associations, users and QOS hold, and judging pending jobs by it.
#include "daemons/common/planning/limit_counts.hpp"

#include <spur/plugin/hash.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/model/config.hpp"
#include "core/model/tres.hpp"

namespace spur::planning {

LimitCounts::Key LimitCounts::key_of(const Job& job, const Text& partition) {
    const auto& spec = *job.spec;
    return {job.association, spec.qos, partition, spec.account, spec.uid};
}

void LimitCounts::update(const std::shared_ptr<const ReadModel>& model, const Changes& changes) {
    begin_plan();
    const auto before = std::exchange(model_, model);
    const bool enforced = std::exchange(enforces_, (model->directory->policies.enforce & enforce_flag::limits) != 0);
    // Who counts against what follows from the directory: when it changes, all is counted again. Places point into it.
    const bool is_new = !before || before->directory != model->directory;
    if (changes.everything || changes.directory || is_new || enforced != enforces_) return rebuild();
    if (!enforces_) return;
    for (const auto id : changes.jobs) update_job(id);
    for (const auto id : changes.forgotten) update_job(id);
}

void LimitCounts::rebuild() {
    places_.clear();
    verdicts_.clear();
    running_.clear();
    associations_.clear();
    qos_.clear();
    qos_users_.clear();
    qos_accounts_.clear();
    if (!enforces_) return;
    model_->jobs.for_each([&](std::uint32_t id, const auto&) { update_job(JobId{id}); });
}

void LimitCounts::update_job(JobId id) {
    const auto& job = model_->jobs.get(id.value);
    const bool runs = job && job->is_active() && job->allocation;
    if (const auto known = running_.find(id); known != running_.end()) {
        count(known->second.key, -1, known->second.tres);
        running_.erase(known);
    }
    if (!runs) return;
    Counted counted{key_of(*job, job->allocation->partition), allocated_tres(*model_, *job->allocation)};
    count(counted.key, +1, counted.tres);
    running_.emplace(id, std::move(counted));
}

void LimitCounts::begin_plan() {
    for (const auto& counted : started_) count(counted.key, -1, counted.tres);
    started_.clear();
    verdicts_.clear();
}

LimitCounts::Place& LimitCounts::place_of(const Key& key) {
    auto& made = places_[key];
    if (made) return *made;
    made.reset(new Place{JobLimits{*model_, key.association, key.qos, key.partition,
                                   [&](const Association& entry) { return &associations_[entry.id]; },
                                   [&](const Qos& qos) {
                                       return LimitPlace::Quality{&qos, &qos_[qos.name],
                                                                  &qos_users_[{qos.name, key.uid}],
                                                                  &qos_accounts_[{qos.name, key.account}]};
                                   }},
                         false});
    made->free = has_no_limits(made->limits.place);
    return *made;
}

void LimitCounts::count(const Key& key, int jobs, const TresList& tres) {
    const auto& place = place_of(key).limits.place;
    for (const auto& group : place.chain) count_usage(associations_[group.association->id], jobs, 0, tres);
    for (const auto& quality : place.qualities) {
        const auto& name = quality.qos->name;
        count_usage(qos_[name], jobs, 0, tres);
        count_usage(qos_users_[{name, key.uid}], jobs, 0, tres);
        count_usage(qos_accounts_[{name, key.account}], jobs, 0, tres);
    }
}

std::uint64_t LimitCounts::run_minutes(const LimitPlace::Group* group, const LimitPlace::Quality* quality,
                                       std::string_view tres) const {
    const auto counts = [&](const Key& key) {
        return group ? model_->is_below(key.association, group->association->id) : key.qos == quality->qos->name;
    };
    std::uint64_t sum = 0;
    for (const auto& [id, counted] : running_) {
        const auto& job = model_->jobs.get(id.value);
        if (!job || !counts(counted.key)) continue;
        const auto left_s = job->end_time ? std::max<std::int64_t>(job->end_time - model_->now, 0) : 0;
        sum += counted.tres.get(tres) * static_cast<std::uint64_t>(left_s / 60);
    }
    return sum;
}

Reason LimitCounts::judge(Place& place, const Job& job, const TresList& wanted) {
    return judge_limits(place.limits.place, wanted, job.time_limit_min,
                        [&](const auto* group, const auto* quality, std::string_view tres) {
                            return run_minutes(group, quality, tres);
                        });
}

// EnforceUsageThreshold: who has used so much that his fair-share factor is below it waits.
bool LimitCounts::is_below_threshold(const Job& job) const {
    const auto* qos = model_->find_qos(job.spec->qos);
    if (!qos || !qos->usage_threshold || !shares_) return false;
    if ((qos->flags & qos_flag::enforce_usage_threshold) == 0) return false;
    const auto share = shares_->find(job.association);
    return share != shares_->end() && share->second.factor < *qos->usage_threshold;
}

Reason LimitCounts::judge(const Job& job, const spur_job_view& view, const Text& partition) {
    if (!enforces_) return Reason::none;
    if (is_below_threshold(job)) return Reason::qos_usage_threshold;
    plugin::Hash look;
    look(view.klass, view.association, view.qos, view.uid, std::hash<std::string_view>{}(partition.view()),
         view.limit_s);
    if (view.association == SPUR_NONE) look(std::hash<std::string_view>{}(job.spec->account.view()));

    // Within a plan things only get tighter: a no stays a no. A yes holds until the plan starts something more.
    auto& verdict = verdicts_[look.value()];
    const auto now = started_.size() + 1;
    if (verdict.free || verdict.reason != Reason::none || verdict.found_at == now) return verdict.reason;
    auto& place = place_of(key_of(job, partition));
    verdict = {Reason::none, now, place.free};
    if (!place.free) verdict.reason = judge(place, job, requested_tres(*model_, job));
    return verdict.reason;
}

Reason LimitCounts::judge(const Job& job, const TresList& would_use, const Text& partition) {
    if (!enforces_) return Reason::none;
    auto& place = place_of(key_of(job, partition));
    return place.free ? Reason::none : judge(place, job, would_use);
}

LimitHit LimitCounts::find(const Job& job) {
    if (!enforces_) return {};
    const auto& partitions = job.spec->partitions;
    return find_limit(place_of(key_of(job, partitions.empty() ? Text{} : partitions.front())).limits.place,
                      requested_tres(*model_, job), job.time_limit_min,
                      [&](const auto* group, const auto* quality, std::string_view tres) {
                          return run_minutes(group, quality, tres);
                      });
}

void LimitCounts::start(const Job& job, const TresList& uses, const Text& partition) {
    if (!enforces_) return;
    started_.push_back({key_of(job, partition), uses});
    count(started_.back().key, +1, uses);
}

}  // namespace spur::planning
