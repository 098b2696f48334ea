// What a step used, in the words of sstat and sacct: MaxRSS, AveCPU, TRESUsageInMax and the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/step_usage.hpp"
#include "spur/v1/job.pb.h"

namespace spur::records {

struct UsageStyle {
    // sacct has disk columns in M and tasks as numbers; sstat has bytes, and the task of the most CPU time as a time.
    enum class Of : std::uint8_t { sacct, sstat };
    Of command{Of::sacct};
    std::optional<char> units{};  // 'K', 'M'...: of every size; '\0': bytes; nullopt: the largest that divides it
};

enum class UsageField : std::uint8_t {};  // a field that is about usage

std::optional<UsageField> find_usage_field(std::string_view name);  // Slurm's, in any case
std::string usage_text(UsageField field, const v1::StepUsage& usage, const UsageStyle& style);

void usage_to_wire(const StepUsage& usage, const std::function<std::string(NodeId)>& node_name, v1::StepUsage& wire);

std::string size_text(std::uint64_t bytes, std::optional<char> units);

}  // namespace spur::records
