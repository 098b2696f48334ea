// File names with patterns, as --output takes them: slurm-%A_%a.out, %x-%4j.%N.log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spur {

struct PatternValues {
    std::uint32_t job{};                      // %j, and the first half of %J
    std::optional<std::uint32_t> array_job;   // %A; the job id where there is no array
    std::optional<std::uint32_t> array_task;  // %a, %b; Slurm's 4294967294 where there is no array
    std::optional<std::uint32_t> step;        // %s and %J; none in a batch script: %s is "batch" and %J is %j
    std::string node;                         // %N: short host name
    std::uint32_t node_index{};               // %n
    std::uint32_t task{};                     // %t
    std::string user;                         // %u
    std::string job_name;                     // %x
};

// The file name for these values; %4j pads numbers with zeros. A backslash anywhere turns patterns off, as in sbatch;
// it is then removed and the character after it stays. Unknown patterns stay as they are.
std::string expand_pattern(std::string_view pattern, const PatternValues& values);

// The same, made absolute: a relative name belongs to `work_dir`.
std::string expand_path(std::string_view pattern, const PatternValues& values, std::string_view work_dir);

// Whether each task, or each node, gets a file of its own: such files are written where the task runs.
bool differs_by_task(std::string_view pattern);
bool differs_by_node(std::string_view pattern);

}  // namespace spur
