// Job arrays (--array=0-15:4%3) and the ids users type: 123_[4-9], 123_4.0, 123+1, 123.batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

#include "core/base/ids.hpp"

namespace spur {

inline constexpr std::uint32_t default_max_array_size = 1'001;      // task ids are below this
inline constexpr std::uint32_t highest_max_array_size = 4'000'001;  // what MaxArraySize may be set to
inline constexpr std::size_t max_job_ref_bytes = 64U << 10;         // "123_[4-9,12]"
inline constexpr std::size_t mixed_tasks_per_byte = 64;             // see ArraySpec::parse

// A set of array task ids, as few arithmetic progressions as a left-to-right reading gives: 0-99999:7 is one of them.
class TaskSet {
public:
    struct Run {
        std::uint32_t first{};
        std::uint32_t last{};   // a member
        std::uint32_t step{1};  // 1 for a single id
        bool operator==(const Run&) const = default;
    };

    TaskSet() = default;
    static TaskSet range(std::uint32_t first, std::uint32_t last, std::uint32_t step = 1);
    static TaskSet of(std::vector<std::uint32_t> ids);               // any order, repeats allowed
    static std::optional<TaskSet> from_runs(std::vector<Run> runs);  // stored form; empty if not increasing
    // All members of `runs`, in any order and overlapping as they like. Nothing: runs of different steps have more than
    // `most_mixed` members where they overlap, or would be cut into more pieces than that.
    static std::optional<TaskSet> united(std::vector<Run> runs, std::size_t most_mixed);

    bool empty() const { return runs_.empty(); }
    std::size_t size() const;
    bool contains(std::uint32_t id) const;
    std::optional<std::uint32_t> first() const { return next(0); }
    std::optional<std::uint32_t> last() const;
    std::optional<std::uint32_t> next(std::uint32_t from) const;  // the smallest member >= from
    bool insert(std::uint32_t id);                                // false: was there already
    bool remove(std::uint32_t id);                                // false: was not there
    bool intersects(const TaskSet& other) const;                  // costs what the runs cost, not what they hold
    TaskSet operator&(const TaskSet& other) const;
    TaskSet operator-(const TaskSet& other) const;
    TaskSet operator|(const TaskSet& other) const;
    bool operator==(const TaskSet& other) const;
    const std::vector<Run>& runs() const { return runs_; }
    std::vector<std::uint32_t> ids() const;

    std::string str() const;                         // "0-3,5", and "0-994:7" where Slurm prefers that
    std::optional<std::string> progression() const;  // "0-994:7" if it is one that Slurm would write so
    std::string ranges(std::size_t enough) const;    // "0-3,5": cut somewhere after `enough` characters

private:
    std::vector<Run> runs_;  // increasing: each run lies wholly after the one before
};

struct ArraySpec {
    TaskSet tasks;
    std::uint32_t max_running{};  // %3; 0: no limit
    bool operator==(const ArraySpec&) const = default;

    // `max_size` is MaxArraySize: every task id must be below it. Ranges of different steps that overlap
    // (0-99:2,0-99:3) must be listed one by one: no more of them are taken than in proportion to the text, so that a
    // short text never costs much.
    static Result<ArraySpec> parse(std::string_view text, std::uint32_t max_size = default_max_array_size);
    // The same for a text that was accepted once, whatever it costs.
    static Result<ArraySpec> parse_accepted(std::string_view text, std::uint32_t max_size);
    std::string str() const;  // "0-3,5%2"

    // As squeue shows it between the brackets: cut short with "..." where the task ids need more than `room` leaves
    // them. Slurm's default is 64, SLURM_BITSTR_LEN changes it and 0 means no limit.
    std::string elided(std::size_t room = 64) const;
};

// ---- the ids users type --------------------------------------------------------------------------------------------

std::string print_step_id(std::uint32_t step);                     // "0", "batch", "extern", "interactive"
std::optional<std::uint32_t> find_step_id(std::string_view text);  // the reverse

struct JobRef {
    std::uint32_t job{};
    bool all_tasks{};                        // 123_*
    TaskSet tasks;                           // 123_4, 123_[4-9,12]
    std::optional<std::uint32_t> component;  // 123+1
    std::optional<std::uint32_t> step;       // 123.0, 123.batch

    bool has_tasks() const { return all_tasks || !tasks.empty(); }
    bool operator==(const JobRef&) const = default;

    static Result<JobRef> parse(std::string_view text);
    std::string str() const;
};

// "12,13_[1-3],14.0": commas inside brackets do not separate.
Result<std::vector<JobRef>> parse_job_refs(std::string_view text);

}  // namespace spur
