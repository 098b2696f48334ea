// Taking jobs into the queue.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/request_limits.hpp"
#include "core/slurm/refusal.hpp"
#include "core/store/fields.hpp"

namespace spur {

namespace {

constexpr std::int64_t request_memory_s = 600;  // how long a client may take to ask again after a lost answer

// Points equal texts of `spec` at those of `model`, so that a user's many jobs keep one copy of each.
void share_texts(JobSpec& spec, const JobSpec& model) {
    const auto share = [&](const auto& entry) {
        auto& mine = spec.*(entry.member);
        const auto& other = model.*(entry.member);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(mine)>, Text>) {
            if (mine == other) mine = other;
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(mine)>, std::vector<Text>>) {
            for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i)
                if (mine[i] == other[i]) mine[i] = other[i];
        }
    };
    archive::fields_of<JobSpec>.apply([&](const auto&... entry) { (share(entry), ...); });
}

}  // namespace

// Everything of a job but its number. Refuses what the state could not hold.
Result<Job> ClusterOps::make_job(JobSpec spec, const Actor& actor) const {
    if (spec.partitions.empty()) {
        const auto* standard = c.default_partition();
        if (!standard) return fail(refusal::no_default_partition);
        spec.partitions = {standard->name};
    }
    for (const auto& name : spec.partitions)
        if (!c.find_partition(name)) return fail(refusal::invalid_partition);
    SPUR_CHECK(parse_licenses(spec.licenses));
    Job job;
    if (!spec.dependency.empty()) {
        auto list = DependencyList::parse(spec.dependency);
        if (!list) return fail(refusal::dependency_problem);
        job.dependencies = *std::move(list);
    }
    if (!spec.array.empty()) {
        auto array = ArraySpec::parse_accepted(spec.array, c.policies_.max_array_size);
        if (!array) return fail(refusal::invalid_array);
        job.array_pending = std::make_shared<TaskSet>(std::move(array->tasks));
        job.array_limit = array->max_running;
    }
    if (const auto* association = c.find_association(spec.account, spec.user_name, spec.partitions.front()))
        job.association = association->id;
    job.request = std::make_shared<const Request>(Request::of(spec));
    SPUR_CHECK(check_submit_limits(spec, *job.request, job.association, static_cast<std::uint32_t>(job.task_count())));

    const auto& first = *c.find_partition(spec.partitions.front());
    job.time_limit_min =
        spec.time_limit_min.value_or(first.default_time_min ? first.default_time_min : first.max_time_min);
    spec.time_limit_min = job.time_limit_min;
    job.submit_time = at;
    job.priority = spec.priority.value_or(1);
    job.priority_set = spec.priority && *spec.priority != 0;
    if (spec.hold.value_or(false) || job.priority == 0) {
        job.hold = actor.is_operator() && !spec.hold.value_or(false) ? Hold::admin : Hold::user;
        job.priority = 0;
    }
    job.spec = std::make_shared<JobSpec>(std::move(spec));
    return job;
}

void ClusterOps::enqueue(Job job) {
    auto& [remembered, request] = index().last_asked[job.spec->uid];
    if (request && *request == *job.request) job.request = request;
    request = job.request;
    if (remembered && *remembered == *job.spec) {
        job.spec = remembered;
        c.blobs_.add(job.spec->script, job.spec->uid);
        c.blobs_.add(job.spec->environment, job.spec->uid);
    } else {
        auto spec = std::const_pointer_cast<JobSpec>(job.spec);  // make_job's, and nobody else's yet
        if (remembered) share_texts(*spec, *remembered);
        spec->script = c.blobs_.add(spec->script, spec->uid);
        spec->environment = c.blobs_.add(spec->environment, spec->uid);
        job.spec = remembered = std::move(spec);
    }
    for (auto& entry : job.dependencies.entries)
        if (!entry.task && c.find_array(JobId{entry.job})) entry.all_tasks = true;
    if (job.array_pending) {
        job.array_job = job.id;
        c.arrays_[job.id] = {job.id, job.array_limit, static_cast<std::uint32_t>(job.array_pending->size()), 0, 0,
                             0,      version};
    }
    auto& queued = add_job(std::move(job));
    events.push_back(JobQueued{queued.id});
    count_submitted(queued, static_cast<std::int64_t>(queued.task_count()));
    if (!queued.dependencies.empty()) {
        if (queued.array_pending) update_corresponding(queued, std::nullopt);
        update_dependencies(queued);
    }
    refresh(queued);
}

// Would `jobs` make their owner keep more in the state than one user may? Scripts and environments count once.
Result<void> ClusterOps::check_stored(const std::vector<Job>& jobs, const Actor& actor) const {
    const auto most = c.policies_.max_stored_per_user_mib << 20;
    if (most == 0 || actor.is_operator()) return {};
    const auto uid = jobs.front().spec->uid;
    std::uint64_t total = c.stored_bytes(uid);
    for (const auto& job : jobs) {
        total += job.spec->script.size() + job.spec->environment.size();
        total += std::max(text_bytes(*job.spec), request_limit::free_text_bytes) - request_limit::free_text_bytes;
    }
    if (total <= most) return {};
    for (const auto& job : jobs)
        for (const auto* blob : {&job.spec->script, &job.spec->environment})
            if (c.blobs_.has(*blob, uid)) total -= blob->size();
    if (total <= most) return {};
    return fail(refusal::policy.with(
        "\nThe scripts, environments and long texts of your jobs would take {} MiB, at most {} are kept for one "
        "user (max_stored_per_user); wait until some of your jobs have ended, or send less with each",
        (total >> 20) + 1, c.policies_.max_stored_per_user_mib));
}

Result<void> ClusterOps::on(const SubmitJob& cmd) {
    if (cmd.components.empty()) return fail(refusal::no_record);
    if (!cmd.request_id.empty())
        if (const auto place = c.requests_.find(cmd.request_id); place != c.requests_.end()) {
            events.push_back(JobQueued{place->second.first, true});
            return {};
        }
    std::vector<Job> jobs;
    std::uint64_t tasks = 0;
    for (const auto& spec : cmd.components) {
        SPUR_TRY(auto job, make_job(spec, cmd.actor));
        tasks += job.task_count();
        jobs.push_back(std::move(job));
    }
    const bool heterogeneous = jobs.size() > 1;
    if (heterogeneous && std::ranges::any_of(jobs, [](const Job& job) { return job.array_pending != nullptr; }))
        return fail(refusal::invalid_array);
    if (index().task_total + tasks > c.policies_.max_job_count) return fail(refusal::no_record.as(ErrorCode::limit));
    SPUR_CHECK(check_stored(jobs, cmd.actor));

    for (std::uint32_t i = 0; i < jobs.size(); ++i) jobs[i].id = JobId{new_job_id()};
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        if (heterogeneous) {
            jobs[i].het_job = jobs.front().id;
            jobs[i].het_offset = i;
        }
    }
    const auto first = jobs.front().id;
    for (auto& job : jobs) enqueue(std::move(job));
    if (!cmd.request_id.empty()) {
        auto& times = index().request_times;
        while (!times.empty() && times.begin()->first + request_memory_s < at) {
            c.requests_.erase(times.begin()->second);
            times.erase(times.begin());
        }
        c.requests_[cmd.request_id] = {first, at};
        times.insert({at, cmd.request_id});
    }
    return {};
}

}  // namespace spur
