// What a job waits for: --dependency=afterok:12:13_4,afterany:5+10, singleton.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur {

enum class DependencyType : std::uint8_t {
    after,
    after_any,
    after_ok,
    after_not_ok,
    after_corr,
    burst_buffer,
    singleton
};
enum class DependencyState : std::uint8_t { unfulfilled, failed, fulfilled };

struct Dependency {
    DependencyType type{};
    std::uint32_t job{};                // 0 for singleton
    std::optional<std::uint32_t> task;  // 13_4
    bool all_tasks{};                   // 13_*: every task of the array
    std::uint32_t delay_min{};          // after:5+10: ten minutes after job 5 started
    DependencyState state{};
    bool operator==(const Dependency&) const = default;
};

struct DependencyList {
    bool any{};  // written with '?': one fulfilled entry is enough; otherwise all are needed
    std::vector<Dependency> entries;
    bool empty() const { return entries.empty(); }
    bool operator==(const DependencyList&) const = default;

    // Types in any case; a bare job id means afterany; 13_[1-3] gives one entry per task, repeats are dropped.
    static Result<DependencyList> parse(std::string_view text);
    std::string str() const;         // as a user may type it: "afterok:12,afterok:13_4,singleton"
    std::string with_state() const;  // as squeue's %E: "afterok:12(unfulfilled),singleton(unfulfilled)"
};

std::string_view dependency_name(DependencyType type);  // "afterok"

}  // namespace spur
