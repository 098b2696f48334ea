// What of a job's record has to be put together.
#include "daemons/common/records/job_values.hpp"

#include <algorithm>

#include "core/slurm/mail_type.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/timefmt.hpp"

namespace spur::records::job_value {

static std::string or_star(bool is_there, std::uint32_t value) { return is_there ? fmt::format("{}", value) : "*"; }
bool is_pending(const JobView& view) { return job_state(view.job).state == JobState::pending; }

Value array_tasks_of(const JobView& view) { return array_task_text(view.job, view.in.array_text_limit); }

Value state_of(const JobView& view) {
    const auto now = job_state(view.job);
    return display_state(now.state, now.flags);
}
Value compact_state_of(const JobView& view) {
    const auto now = job_state(view.job);
    return display_compact_state(now.state, now.flags);
}

Value nodes_or_reason_of(const JobView& view) {
    switch (job_state(view.job).state) {
        case JobState::pending:
        case JobState::failed:
        case JobState::timeout:
        case JobState::deadline:
        case JobState::out_of_memory:
            return fmt::format("({})", reason_text(view.job));
        default:
            return view->node_list();
    }
}

Value time_left_of(const JobView& view) {
    const auto limit = view->time_limit_min();
    if (limit == unlimited || limit == no_value) return print_limit(limit);
    return std::int64_t{limit} * 60 - run_time_s(view.job, view.in.now);
}
Value time_left_key(const JobView& view) {
    if (view->time_limit_min() == unlimited) return std::int64_t{1} << 40;
    return std::int64_t{view->time_limit_min()} * 60 - run_time_s(view.job, view.in.now);
}

Value sockets_cores_threads_of(const JobView& view) {
    const auto& spec = view.spec();
    return fmt::format("{}:{}:{}", or_star(spec.has_sockets_per_node(), spec.sockets_per_node()),
                       or_star(spec.has_cores_per_socket(), spec.cores_per_socket()),
                       or_star(spec.has_threads_per_core(), spec.threads_per_core()));
}

Value pending_time_of(const JobView& view) {
    const auto until = view->start_time() != 0 && !is_pending(view) ? view->start_time() : view.in.now;
    return std::max<std::int64_t>(0, until - view->submit_time());
}

Value node_range_of(const JobView& view) {
    const auto& spec = view.spec();
    const auto least = node_count(view.job);
    if (is_pending(view) && spec.has_max_nodes() && spec.has_min_nodes() && spec.max_nodes() != spec.min_nodes())
        return fmt::format("{}-{}", least, spec.max_nodes());
    return least;
}

Value tasks_per_of(const JobView& view) {
    const auto& spec = view.spec();
    return fmt::format("{}:0:{}:{}", spec.tasks_per_node(),
                       or_star(spec.has_tasks_per_socket(), spec.tasks_per_socket()),
                       or_star(spec.has_tasks_per_core(), spec.tasks_per_core()));
}

Value tres_of(const JobView& view) {
    return view->tres_allocated().empty() ? Value{view->tres_requested()} : Value{view->tres_allocated()};
}

Value mail_types_of(const JobView& view) {
    std::string text;
    for (const auto& type : mail_types)
        if (view.spec().mail_type() & type.bit) text.append(text.empty() ? "" : ",").append(type.name);
    return text.empty() && view.spec().mail_type() != 0 ? "NONE" : text;
}

Value alloc_node_sid_of(const JobView& view) {
    const auto& node = view.spec().alloc_node();
    return fmt::format("{}:{}", node.empty() ? "(null)" : node, view.spec().alloc_sid());
}

Value cpus_per_tres_of(const JobView& view) {
    return present(view.spec().has_cpus_per_gpu(), fmt::format("gres:gpu:{}", view.spec().cpus_per_gpu()));
}

Value memory_per_tres_of(const JobView& view) {
    return present(view.spec().has_mem_per_gpu_mib(), fmt::format("gres:gpu:{}", view.spec().mem_per_gpu_mib()));
}

Value gres_enforce_bind_of(const JobView& view) {
    return view.spec().gres_flags().find("enforce-binding") != std::string::npos ? "Yes" : "";
}

Value kill_on_invalid_dependency_of(const JobView& view) {
    const auto& spec = view.spec();
    return present(spec.has_kill_on_invalid_dependency(), spec.kill_on_invalid_dependency() ? "Yes" : "No");
}

Value mail_user_of(const JobView& view) {
    if (view.spec().mail_type() == 0) return {};
    return view.spec().mail_user().empty() ? Value{user_name(view.job)} : Value{view.spec().mail_user()};
}

Value max_nodes_of(const JobView& view) {
    const auto nodes = node_count(view.job);
    return is_pending(view) ? std::max(view.spec().max_nodes(), nodes) : nodes;
}

Value priority_share_of(const JobView& view) {
    return fmt::format("{:.14f}", static_cast<double>(view->priority()) / static_cast<double>(unlimited));
}

Value requested_sct_of(const JobView& view) {
    const auto& spec = view.spec();
    return fmt::format("0:0:{}:{}", or_star(spec.has_cores_per_socket(), spec.cores_per_socket()),
                       or_star(spec.has_threads_per_core(), spec.threads_per_core()));
}

Value switches_of(const JobView& view) {
    const auto& spec = view.spec();
    return present(spec.has_switches(),
                   fmt::format("{}@{}", spec.switches(), print_long_duration(spec.switches_wait_s())));
}

// ---- setters that do more than fill one member ----------------------------------------------------------------------

// "+10", "-5", "1:00:00": relative to what it is now where a sign says so.
Result<void> set_time_limit(JobChange& to, const Setting& setting) {
    const auto text = setting.value;
    const auto present = to.job.time_limit_min;
    const char sign = text.empty() ? '\0' : text.front();
    SPUR_TRY(const auto minutes, parse_limit_min(sign == '+' || sign == '-' ? text.substr(1) : text));
    if (sign != '+' && sign != '-') {
        to.changes.time_limit_min = minutes;
        return {};
    }
    if (present == unlimited) return fail(ErrorCode::invalid, "TimeLimit: there is no limit to change by {}", text);
    if (sign == '-' && minutes > present)
        return fail(ErrorCode::invalid, "TimeLimit: the limit is only {} minutes", present);
    to.changes.time_limit_min = sign == '+' ? present + minutes : present - minutes;
    return {};
}

// A running job keeps the first so many.
Result<void> set_node_count(JobChange& to, const Setting& setting) {
    SPUR_TRY(const auto count, NodeCount::parse(setting.value));
    if (to.job.is_pending() || !to.job.allocation) {
        to.changes.min_nodes = count.min;
        to.changes.max_nodes = count.max;
        return {};
    }
    const auto& shares = to.job.allocation->shares;
    if (count.min > shares.size()) return fail(refusal::not_supported);
    to.changes.keep_nodes.emplace();
    for (std::size_t i = 0; i < count.min; ++i) to.changes.keep_nodes->push_back(shares[i].node);
    return {};
}

Result<void> set_nodes(JobChange& to, const Setting& setting) {
    if (to.job.is_pending()) return set_text<&JobChanges::node_list>(to, setting);
    SPUR_TRY(to.changes.keep_nodes, to.nodes(setting.value));
    return {};
}

// "1@5": at most one switch, wait five minutes for that.
Result<void> set_switches(JobChange& to, const Setting& setting) {
    const auto at = setting.value.find('@');
    SPUR_TRY(to.changes.switches, read_count({setting.key, setting.value.substr(0, at)}));
    if (at == std::string_view::npos) return {};
    SPUR_TRY(to.changes.switches_wait_s, read_seconds({setting.key, setting.value.substr(at + 1)}));
    return {};
}

Result<void> set_reset_accrue_time(JobChange& to, const Setting&) {
    to.changes.reset_accrue_time = true;
    return {};
}

}  // namespace spur::records::job_value
