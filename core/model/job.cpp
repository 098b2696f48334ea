// Jobs: how their states and ids are written, and how long they have run.
#include "core/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/lexical.hpp"

namespace spur {

namespace {

struct Names {
    std::string_view full, compact;
};
constexpr std::array<Names, job_state_count> state_names{{{"PENDING", "PD"},
                                                          {"RUNNING", "R"},
                                                          {"SUSPENDED", "S"},
                                                          {"COMPLETED", "CD"},
                                                          {"CANCELLED", "CA"},
                                                          {"FAILED", "F"},
                                                          {"TIMEOUT", "TO"},
                                                          {"NODE_FAIL", "NF"},
                                                          {"PREEMPTED", "PR"},
                                                          {"BOOT_FAIL", "BF"},
                                                          {"DEADLINE", "DL"},
                                                          {"OUT_OF_MEMORY", "OOM"}}};

struct FlagNames {
    std::uint32_t flag;
    Names names;
};
// In the order in which squeue lists them; the first one set is what a job shows instead of its state.
constexpr std::array flag_names{FlagNames{job_flag::completing, {"COMPLETING", "CG"}},
                                FlagNames{job_flag::configuring, {"CONFIGURING", "CF"}},
                                FlagNames{job_flag::resizing, {"RESIZING", "RS"}},
                                FlagNames{job_flag::resv_del_hold, {"RESV_DEL_HOLD", "RD"}},
                                FlagNames{job_flag::requeued, {"REQUEUED", "RQ"}},
                                FlagNames{job_flag::requeue_fed, {"REQUEUE_FED", "RF"}},
                                FlagNames{job_flag::requeue_hold, {"REQUEUE_HOLD", "RH"}},
                                FlagNames{job_flag::revoked, {"REVOKED", "RV"}},
                                FlagNames{job_flag::signaling, {"SIGNALING", "SI"}},
                                FlagNames{job_flag::special_exit, {"SPECIAL_EXIT", "SE"}},
                                FlagNames{job_flag::stage_out, {"STAGE_OUT", "SO"}},
                                FlagNames{job_flag::stopped, {"STOPPED", "ST"}}};

Names display_names(JobState state, std::uint32_t flags) {
    for (const auto& entry : flag_names)
        if (flags & entry.flag) return entry.names;
    const auto index = static_cast<std::size_t>(state);
    return index < state_names.size() ? state_names[index] : Names{"?", "?"};
}

bool means(std::string_view text, const Names& names) {
    return equal_nocase(text, names.full) || equal_nocase(text, names.compact);
}

std::string valid_states() {
    std::string text;
    for (const auto& names : state_names) text += fmt::format("{}{}", text.empty() ? "" : ",", names.full);
    for (const auto& entry : flag_names) text += fmt::format(",{}", entry.names.full);
    return text;
}

}  // namespace

std::string_view to_string(JobState state) { return display_names(state, 0).full; }
std::string_view to_compact_string(JobState state) { return display_names(state, 0).compact; }
std::string_view display_state(JobState state, std::uint32_t flags) { return display_names(state, flags).full; }
std::string_view display_compact_state(JobState state, std::uint32_t flags) {
    return display_names(state, flags).compact;
}

std::optional<JobState> find_job_state(std::string_view text) {
    for (std::size_t i = 0; i < state_names.size(); ++i)
        if (means(text, state_names[i])) return static_cast<JobState>(i);
    return std::nullopt;
}

JobStateFilter JobStateFilter::active() {
    JobStateFilter filter;
    for (const auto state : {JobState::pending, JobState::running, JobState::suspended})
        filter.states_ |= 1U << static_cast<unsigned>(state);
    filter.flags_ = job_flag::completing | job_flag::signaling | job_flag::stage_out;
    return filter;
}

Result<JobStateFilter> JobStateFilter::parse(std::string_view list) {
    JobStateFilter filter;
    for (const auto text : split(list, ',')) {
        if (text.empty()) continue;
        const auto* flag =
            std::ranges::find_if(flag_names, [&](const auto& known) { return means(text, known.names); });
        if (equal_nocase(text, "all"))
            filter.all_ = true;
        else if (const auto state = find_job_state(text))
            filter.states_ |= 1U << static_cast<unsigned>(*state);
        else if (flag != flag_names.end())
            filter.flags_ |= flag->flag;
        else
            return fail(ErrorCode::invalid, "Invalid job state specified: {}\nValid job states include: {}\n", text,
                        valid_states());
    }
    return filter;
}

bool JobStateFilter::accepts(std::uint32_t state_bits) const {
    return all_ || (states_ >> (state_bits & 0x1fU) & 1U) != 0 || (flags_ & state_bits) != 0;
}

std::int64_t Job::run_time_s(UnixSeconds now) const {
    if (start_time == 0 || state == JobState::pending) return 0;
    if (state == JobState::suspended) return pre_suspend_s;
    const auto until = is_finished() ? end_time : now;
    if (suspend_time != 0) return std::max<std::int64_t>(until - suspend_time, 0) + pre_suspend_s;
    return std::max<std::int64_t>(until - start_time, 0);
}

std::string Job::display_id() const {
    if (array_pending) return fmt::format("{}_[{}]", array_job.value, ArraySpec{*array_pending, array_limit}.elided());
    if (array_task) return fmt::format("{}_{}", array_job.value, *array_task);
    if (het_job) return fmt::format("{}+{}", het_job.value, het_offset);
    return fmt::format("{}", id.value);
}

}  // namespace spur
