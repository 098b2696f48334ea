// Reading job ids and filters, and finding the jobs they mean.
#include "daemons/spurctld/service/job_query.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/machine/request_limits.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"

namespace spur::ctld {

namespace {

using Jobs = std::vector<std::shared_ptr<const Job>>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

struct FlagName {
    std::string_view long_name, short_name;
    std::uint32_t flag;
};
constexpr FlagName flag_names[] = {
    {"COMPLETING", "CG", job_flag::completing},
    {"CONFIGURING", "CF", job_flag::configuring},
    {"RESIZING", "RS", job_flag::resizing},
    {"REQUEUED", "RQ", job_flag::requeued},
    {"REQUEUE_FED", "RF", 0},
    {"REQUEUE_HOLD", "RH", job_flag::requeue_hold},
    {"RESV_DEL_HOLD", "RD", job_flag::resv_del_hold},
    {"REVOKED", "RV", job_flag::revoked},
    {"SIGNALING", "SI", job_flag::signaling},
    {"SPECIAL_EXIT", "SE", job_flag::special_exit},
    {"STAGE_OUT", "SO", job_flag::stage_out},
    {"STOPPED", "ST", job_flag::stopped},
};

std::string upper(std::string_view text) {
    std::string result{text};
    for (auto& letter : result) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return result;
}

bool any(const Names& names, std::string_view text) {
    return names.empty() || std::ranges::any_of(names, [&](const std::string& name) { return name == text; });
}

bool in_any_partition(const Names& names, const Job& job) {
    if (names.empty()) return true;
    if (job.allocation) return any(names, job.allocation->partition);
    return std::ranges::any_of(job.spec->partitions, [&](const Text& partition) { return any(names, partition); });
}

bool of_any_user(const Names& names, const Job& job) {
    return any(names, job.spec->user_name) || any(names, std::to_string(job.spec->uid));
}

bool has_task(const Job& job, bool all, const TaskSet& tasks) {
    if (all) return true;
    if (job.array_task) return tasks.contains(*job.array_task);
    return job.array_pending && job.array_pending->intersects(tasks);
}

// All that a list of ids asks of one job, so that each record is looked at once however long the list.
struct Wanted {
    bool all_tasks{false};  // or it names none: the whole array
    bool all_components{false};
    bool itself{false};  // neither tasks nor components
    std::vector<TaskSet::Run> runs;
    TaskSet tasks;  // of these
    std::set<std::uint32_t> components;
    std::size_t bytes{};

    void add(const JobRef& ref, std::size_t text_bytes) {
        all_tasks |= !ref.has_tasks() || ref.all_tasks;
        all_components |= !ref.component;
        itself |= !ref.has_tasks() && !ref.component;
        runs.insert(runs.end(), ref.tasks.runs().begin(), ref.tasks.runs().end());
        if (ref.component) components.insert(*ref.component);
        bytes += text_bytes;
    }
    Result<void> unite(std::uint32_t job) {
        auto all = TaskSet::united(std::move(runs), bytes * mixed_tasks_per_byte);
        if (!all) return fail(ErrorCode::limit, "Invalid job id: {} (its tasks overlap with different steps)", job);
        tasks = *std::move(all);
        return {};
    }
};

using WantedJobs = std::map<std::uint32_t, Wanted>;

Result<WantedJobs> read_ids(const Names& ids) {
    SPUR_CHECK(check_id_count(ids.size()));
    WantedJobs wanted;
    for (const auto& text : ids) {
        SPUR_TRY(const auto ref, JobRef::parse(text));
        wanted[ref.job].add(ref, text.size());
    }
    for (auto& [job, what] : wanted) SPUR_CHECK(what.unite(job));
    return wanted;
}

// What a record belongs to: itself, or the array or heterogeneous job that ids name it by.
bool is_array(const planning::ReadModel& model, std::uint32_t id) {
    const auto& direct = model.jobs.get(id);
    return (direct && direct->array_job.value == id) || model.arrays.get(id);
}
bool is_het(const planning::ReadModel& model, std::uint32_t id) {
    const auto& direct = model.jobs.get(id);
    return direct && direct->het_job.value == id;
}

Jobs find_wanted(const planning::ReadModel& model, const WantedJobs& wanted) {
    Jobs found;
    bool has_families = false;
    for (const auto& [id, what] : wanted) {
        if (is_array(model, id) || is_het(model, id))
            has_families = true;
        else if (const auto& direct = model.jobs.get(id); direct && what.itself)
            found.push_back(direct);
    }
    if (!has_families) return found;
    model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
        if (job->array_job) {
            const auto place = wanted.find(job->array_job.value);
            if (place != wanted.end() && has_task(*job, place->second.all_tasks, place->second.tasks))
                found.push_back(job);
        }
        if (job->het_job) {
            const auto place = wanted.find(job->het_job.value);
            if (place != wanted.end() &&
                (place->second.all_components || place->second.components.contains(job->het_offset)))
                found.push_back(job);
        }
    });
    return found;
}

}  // namespace

Result<StateFilter> StateFilter::parse(const Names& names) {
    StateFilter filter;
    filter.active_only_ = names.empty();
    for (const auto& given : names) {
        const auto name = upper(given);
        if (name == "ALL") {
            filter.all_ = true;
            continue;
        }
        if (const auto state = find_job_state(name)) {
            filter.states_ |= 1U << static_cast<unsigned>(*state);
            continue;
        }
        const auto flag = std::ranges::find_if(
            flag_names, [&](const FlagName& f) { return f.long_name == name || f.short_name == name; });
        if (flag == std::end(flag_names)) return fail(ErrorCode::invalid, "Invalid job state specified: {}", given);
        filter.flags_ |= flag->flag;
    }
    return filter;
}

bool StateFilter::matches(const Job& job) const {
    if (all_) return true;
    if (active_only_) return !job.is_done();
    // A completing job is COMPLETING, whatever its outcome will be called.
    if (job.flags & flags_) return true;
    return !job.is_completing() && (states_ >> static_cast<unsigned>(job.state) & 1U) != 0;
}

Result<void> check_id_count(int count) {
    if (count <= static_cast<int>(request_limit::job_ids)) return {};
    return fail(ErrorCode::invalid, "{} job ids at once are too many: at most {} are taken", count,
                request_limit::job_ids);
}

Jobs JobFinder::find(const JobRef& ref) {
    Jobs found;
    if (!is_array(model_, ref.job) && !is_het(model_, ref.job)) {
        const auto& direct = model_.jobs.get(ref.job);
        if (direct && !ref.has_tasks() && !ref.component) found.push_back(direct);
        return found;
    }
    if (families_.empty())
        model_.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
            if (job->array_job) families_[job->array_job.value].push_back(job);
            if (job->het_job) families_[job->het_job.value].push_back(job);
        });
    for (const auto& job : families_[ref.job]) {
        const bool is_task =
            job->array_job.value == ref.job && has_task(*job, ref.all_tasks || !ref.has_tasks(), ref.tasks);
        const bool is_component =
            job->het_job.value == ref.job && (!ref.component || *ref.component == job->het_offset);
        if (is_task || is_component) found.push_back(job);
    }
    return found;
}

Jobs find_jobs(const planning::ReadModel& model, const JobRef& ref) { return JobFinder{model}.find(ref); }

Result<Jobs> select_jobs(const planning::ReadModel& model, const v1::ListJobsRequest& request) {
    SPUR_TRY(const auto states, StateFilter::parse(request.states()));
    const auto wanted = [&](const Job& job) {
        return states.matches(job) && of_any_user(request.users(), job) && in_any_partition(request.partitions(), job);
    };
    Jobs selected;
    const auto keep = [&](const std::shared_ptr<const Job>& job) {
        if (wanted(*job)) selected.push_back(job);
    };
    if (request.ids().empty()) {
        model.jobs.for_each([&](std::uint32_t, const auto& job) { keep(job); });
        return selected;
    }
    SPUR_TRY(const auto ids, read_ids(request.ids()));
    const auto found = find_wanted(model, ids);
    for (const auto& job : found) keep(job);
    // As Slurm: one unknown id is an error, a list of them is an empty answer.
    if (found.empty() && request.ids().size() == 1) return fail(refusal::invalid_job_id);
    std::ranges::sort(selected, {}, [](const auto& job) { return job->id; });
    const auto repeated = std::ranges::unique(selected);
    selected.erase(repeated.begin(), repeated.end());
    return selected;
}

Result<Jobs> select_jobs(const planning::ReadModel& model, const v1::SignalJobsRequest& request) {
    SPUR_TRY(const auto states, StateFilter::parse(request.states()));
    SPUR_TRY(const auto hosts, HostSet::parse(request.node_list()));
    const auto on_hosts = [&](const Job& job) {
        if (hosts.empty()) return true;
        return job.allocation && std::ranges::any_of(job.allocation->shares, [&](const NodeShare& share) {
                   const auto& node = model.nodes.get(share.node.value);
                   return node && hosts.contains(node->name);
               });
    };
    Jobs selected;
    model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
        const auto& spec = *job->spec;
        if (!job->is_finished() && states.matches(*job) && of_any_user(request.users(), *job) &&
            in_any_partition(request.partitions(), *job) && any(request.names(), spec.name) &&
            any(request.accounts(), spec.account) && any(request.qos(), spec.qos) &&
            any(request.reservations(), spec.reservation) && any(request.wckeys(), spec.wckey) && on_hosts(*job))
            selected.push_back(job);
    });
    return selected;
}

}  // namespace spur::ctld
