// How large one request may be. Everything a user sends is kept in the state, in the log and in every snapshot, and
// most of it travels to the nodes: what would burden those is refused at the door, with a sentence that names the part
// and the limit. docs/limits.md shows these tables to users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/step.hpp"

namespace spur {

namespace request_limit {
inline constexpr std::size_t script_bytes = 4U << 20;
inline constexpr std::size_t environment_bytes = 4U << 20;
inline constexpr std::size_t arguments_bytes = 2U << 20;       // argv and spank_environment, together
inline constexpr std::size_t one_argument_bytes = 128U << 10;  // as in Linux: no program could be given a longer one
inline constexpr std::size_t list_items = 64U << 10;           // of each list; partitions and rlimits: see below
inline constexpr std::size_t partitions = 256;
inline constexpr std::size_t rlimits = 64;
inline constexpr std::size_t components = 128;              // of a heterogeneous job
inline constexpr std::size_t submission_bytes = 16U << 20;  // all components together
inline constexpr std::size_t free_text_bytes = 4U << 10;    // of a job's texts: not counted against its user
inline constexpr std::size_t job_ids = 100'000;             // of one squeue -j, scancel or scontrol
}  // namespace request_limit

template <class Spec>
struct TextLimit {
    std::string_view field;
    Text Spec::*text;
    std::size_t bytes;
};
template <class Spec>
struct NumberLimit {
    std::string_view field;
    std::optional<std::uint32_t> Spec::*number;
    std::uint32_t most;
};
std::span<const TextLimit<JobSpec>> job_text_limits();  // every text but script and environment
std::span<const NumberLimit<JobSpec>> job_number_limits();
std::span<const TextLimit<StepSpec>> step_text_limits();
std::span<const NumberLimit<StepSpec>> step_number_limits();

// Is every part of it within these limits?
Result<void> check_size(const JobSpec& spec);
Result<void> check_size(const StepSpec& spec);
Result<void> check_size(std::span<const JobSpec> components);  // each, and all of them together

// What a job's texts and lists take, without script and environment.
std::size_t text_bytes(const JobSpec& spec);

}  // namespace spur
