// What of a job's record has to be put together, for its rows in job.cpp.
#pragma once

#include "daemons/common/records/job.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::records::job_value {

inline Value nothing(const JobView&) { return {}; }

template <auto Get>
Value of_job(const JobView& view) {
    return (view.job.*Get)();
}
template <auto Get>
Value of_spec(const JobView& view) {
    return (view.spec().*Get)();
}
template <auto Get>
Value if_any(const JobView& view) {  // zero: none
    return nonzero((view.job.*Get)());
}
template <auto Has, auto Get>
Value if_asked(const JobView& view) {
    return present((view.spec().*Has)(), (view.spec().*Get)());
}
template <auto InForce, auto Asked>
Value in_force(const JobView& view) {
    const std::string& text = (view.job.*InForce)();
    return text.empty() ? Value{(view.spec().*Asked)()} : Value{text};
}
template <auto Function>
Value computed(const JobView& view) {
    return Function(view.job);
}
template <auto Get>
Value typed_gres(const JobView& view) {
    return gres_as_tres((view.spec().*Get)());
}

bool is_pending(const JobView& view);
Value array_tasks_of(const JobView& view);
Value state_of(const JobView& view);
Value compact_state_of(const JobView& view);
Value nodes_or_reason_of(const JobView& view);
Value time_left_of(const JobView& view);
Value time_left_key(const JobView& view);
Value sockets_cores_threads_of(const JobView& view);
Value pending_time_of(const JobView& view);
Value node_range_of(const JobView& view);
Value tasks_per_of(const JobView& view);
Value tres_of(const JobView& view);
Value mail_types_of(const JobView& view);
Value alloc_node_sid_of(const JobView& view);
Value cpus_per_tres_of(const JobView& view);
Value memory_per_tres_of(const JobView& view);
Value gres_enforce_bind_of(const JobView& view);
Value kill_on_invalid_dependency_of(const JobView& view);
Value mail_user_of(const JobView& view);
Value max_nodes_of(const JobView& view);
Value priority_share_of(const JobView& view);
Value requested_sct_of(const JobView& view);
Value switches_of(const JobView& view);

// ---- setters that do more than fill one member

Result<void> set_time_limit(JobChange& to, const Setting& setting);
Result<void> set_node_count(JobChange& to, const Setting& setting);
Result<void> set_nodes(JobChange& to, const Setting& setting);
Result<void> set_switches(JobChange& to, const Setting& setting);
Result<void> set_reset_accrue_time(JobChange& to, const Setting& setting);

}  // namespace spur::records::job_value
