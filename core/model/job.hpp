// A job as the controller knows it: Slurm's states, flags and times beside what was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/text.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/dependency.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/reason.hpp"
#include "core/model/resources.hpp"

namespace spur {

struct Request;  // core/model/request.hpp

// Slurm's numbers.
enum class JobState : std::uint8_t {
    pending,
    running,
    suspended,
    completed,
    cancelled,
    failed,
    timeout,
    node_fail,
    preempted,
    boot_fail,
    deadline,
    out_of_memory,
};
inline constexpr std::uint8_t job_state_count = 12;

// Slurm's bits: a state and its flags together are the job_state of slurm.h.
namespace job_flag {
inline constexpr std::uint32_t launch_failed = 1U << 8;
inline constexpr std::uint32_t requeued = 1U << 10;      // goes back to pending once its nodes are done
inline constexpr std::uint32_t requeue_hold = 1U << 11;  // ... and is then held
inline constexpr std::uint32_t special_exit = 1U << 12;  // ... and is then held, for a special exit code
inline constexpr std::uint32_t resizing = 1U << 13;
inline constexpr std::uint32_t configuring = 1U << 14;  // allocated; prologs run, nodes boot
inline constexpr std::uint32_t completing = 1U << 15;   // over, but not every node has cleaned up
inline constexpr std::uint32_t stopped = 1U << 16;
inline constexpr std::uint32_t requeue_fed = 1U << 18;
inline constexpr std::uint32_t revoked = 1U << 19;
inline constexpr std::uint32_t resv_del_hold = 1U << 21;
inline constexpr std::uint32_t signaling = 1U << 22;
inline constexpr std::uint32_t stage_out = 1U << 23;
}  // namespace job_flag

std::string_view to_string(JobState state);                                   // "PENDING"
std::string_view to_compact_string(JobState state);                           // "PD"
std::optional<JobState> find_job_state(std::string_view text);                // either form, any case
std::string_view display_state(JobState state, std::uint32_t flags);          // what squeue %T shows: "COMPLETING"
std::string_view display_compact_state(JobState state, std::uint32_t flags);  // what squeue %t shows: "CG"

// States as squeue --states and scancel --state name them: job states, and the flags that are shown in their place.
class JobStateFilter {
public:
    static JobStateFilter active();                              // of jobs that are not done
    static Result<JobStateFilter> parse(std::string_view list);  // "PD,RUNNING,cg", "all"
    bool accepts(std::uint32_t state_bits) const;

private:
    bool all_{false};
    std::uint32_t states_{};  // bit n: JobState n
    std::uint32_t flags_{};
};

enum class Hold : std::uint8_t { none, user, admin };

// What a job holds while it runs. Shared and immutable: a change makes a new one.
struct Allocation {
    std::vector<NodeShare> shares;  // in node order; the first runs the batch script
    std::vector<LicenseCount> licenses;
    Text partition;
    std::uint32_t cpus{};
    std::uint64_t memory_mib{};
    Sharing sharing;
    Exclusive exclusive{Exclusive::no};  // as granted: the partition may say more than the job
    bool operator==(const Allocation&) const = default;
};

struct Job {
    JobId id;
    std::uint32_t attempt{};  // grows with each start; launches are keyed by (id, attempt)
    JobState state{JobState::pending};
    Hold hold{Hold::none};
    bool eligible{false};      // no hold, begin time and dependency stand in its way
    bool priority_set{false};  // an operator chose it; the priority plugin leaves it alone
    Reason reason{Reason::none};
    std::uint32_t flags{};     // job_flag
    std::uint32_t priority{};  // 0: held
    std::uint32_t restarts{};
    std::uint32_t exit_status{};          // wait status of the batch script or of srun
    std::uint32_t derived_exit_status{};  // the highest of its steps
    std::uint32_t time_limit_min{unlimited};
    std::uint32_t suspended_s{};
    std::uint64_t version{};  // of the cluster when this record last changed

    std::shared_ptr<const JobSpec> spec;
    std::shared_ptr<const Request> request;        // the same, read; both by set_spec()
    std::shared_ptr<const Allocation> allocation;  // kept after the end, for the record
    std::vector<std::uint32_t> open_shares;        // those of allocation->shares whose nodes still hold it

    UnixSeconds submit_time{};
    UnixSeconds eligible_time{};
    UnixSeconds accrue_time{};
    UnixSeconds start_time{};    // while pending: expected, 0 if unknown
    UnixSeconds end_time{};      // while running: when its limit ends it, 0 if never
    UnixSeconds suspend_time{};  // of the last suspend or resume
    UnixSeconds preempt_time{};
    UnixSeconds resize_time{};
    UnixSeconds last_sched_eval{};
    std::int64_t pre_suspend_s{};  // run time before the last suspend

    JobId array_job;  // zero: not of an array
    std::optional<std::uint32_t> array_task;
    std::uint32_t array_limit{};                   // %limit, with array_pending; 0: none
    std::shared_ptr<const TaskSet> array_pending;  // tasks still in this one record; then array_task is empty

    JobId het_job;  // the leader's id; zero: not heterogeneous
    std::uint32_t het_offset{};

    DependencyList dependencies;  // with the state of each; empty once nothing stands in the way
    AssociationId association;
    Uid cancelled_by{nobody};
    NodeId failed_node{unlimited};
    Text reason_text;      // the sentence behind the reason
    Text scheduled_nodes;  // expected, a hostlist
    Text system_comment;
    std::vector<NodeShare> leaving;  // given back by resizing; their nodes still clean up
    std::uint32_t next_step{};       // number of the next step
    bool warned{false};              // --signal has been sent
    bool cores_released{false};      // suspended: it keeps memory and devices, its cores are free for others

    bool is_pending() const { return state == JobState::pending && !(flags & job_flag::completing); }
    bool is_running() const { return state == JobState::running; }
    bool is_active() const { return state == JobState::running || state == JobState::suspended; }
    bool is_completing() const { return flags & job_flag::completing; }
    bool is_finished() const { return state > JobState::suspended; }    // its outcome is known
    bool is_done() const { return is_finished() && !is_completing(); }  // and all is cleaned up
    // Of a heterogeneous job only the first component runs the script, and that on its first node.
    bool has_script() const { return spec->kind == JobKind::batch && het_offset == 0; }
    // The array that it is a task of, or the heterogeneous job that it is a component of, and its number there.
    struct Family {
        JobId id;
        std::uint32_t number{};
    };
    std::optional<Family> family() const {
        if (array_job && array_task) return Family{array_job, *array_task};
        if (het_job) return Family{het_job, het_offset};
        return std::nullopt;
    }
    bool is_array_record() const { return array_pending != nullptr; }
    std::size_t task_count() const { return array_pending ? array_pending->size() : 1; }
    std::uint32_t state_bits() const { return static_cast<std::uint32_t>(state) | flags; }
    // Seconds it has run so far, time suspended left out.
    std::int64_t run_time_s(UnixSeconds now) const;
    // "12", "12_3", "12_[4-9]", "12+1": what users type and see.
    std::string display_id() const;
    bool operator==(const Job&) const = default;  // requests and allocations by identity
};

// What outlives the one record of an array: counts for %limit and for dependencies on the whole of it.
struct Array {
    JobId id;
    std::uint32_t max_running{};  // 0: no limit
    std::uint32_t size{};         // tasks at submission
    std::uint32_t active{};       // running, suspended or completing
    std::uint32_t ended{};        // final
    std::uint32_t failed{};       // of those, not COMPLETED
    std::uint64_t version{};
    bool operator==(const Array&) const = default;
};

}  // namespace spur
