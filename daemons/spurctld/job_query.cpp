#include "daemons/spurctld/job_query.hpp"

#include <algorithm>
#include <cctype>

#include "core/hostlist.hpp"

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

bool has_task(const Job& job, const JobRef& ref) {
    if (ref.all_tasks) return true;
    if (job.array_task) return ref.tasks.contains(*job.array_task);
    return job.array_pending && !(*job.array_pending & ref.tasks).empty();
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

Jobs find_jobs(const ReadModel& model, const JobRef& ref) {
    Jobs found;
    const auto& direct = model.jobs.get(ref.job);
    const bool is_array = (direct && direct->array_job.value == ref.job) || model.arrays.get(ref.job);
    const bool is_het = direct && direct->het_job.value == ref.job;
    if (!is_array && !is_het) {
        if (direct && !ref.has_tasks() && !ref.component) found.push_back(direct);
        return found;
    }
    model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
        if (is_array && job->array_job.value == ref.job && (!ref.has_tasks() || has_task(*job, ref)))
            found.push_back(job);
        if (is_het && job->het_job.value == ref.job && (!ref.component || *ref.component == job->het_offset))
            found.push_back(job);
    });
    return found;
}

Result<Jobs> select_jobs(const ReadModel& model, const v1::ListJobsRequest& request) {
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
    bool known = false;
    for (const auto& text : request.ids()) {
        SPUR_TRY(const auto ref, JobRef::parse(text));
        const auto found = find_jobs(model, ref);
        known = known || !found.empty();
        for (const auto& job : found) keep(job);
    }
    // As Slurm: one unknown id is an error, a list of them is an empty answer.
    if (!known && request.ids().size() == 1) return fail(ErrorCode::not_found, "Invalid job id specified");
    std::ranges::sort(selected, {}, [](const auto& job) { return job->id; });
    const auto repeated = std::ranges::unique(selected);
    selected.erase(repeated.begin(), repeated.end());
    return selected;
}

Result<Jobs> select_jobs(const ReadModel& model, const v1::SignalJobsRequest& request) {
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
