// The fields of sstat, and a step as they see it.
#pragma once

#include "cli/sstat/options.hpp"
#include "daemons/common/records/step_usage.hpp"
#include "spur/v1/agent.pb.h"
#include "spur/v1/job.pb.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spur::cli::sstat {

// A step that runs, with what its nodes answered.
struct StepReading {
    std::uint32_t job{};
    v1::Step step;
    std::vector<std::pair<std::string, v1::MeasureStepReply>> nodes;  // by name
};

// A line: a step as a whole, or with -i its part on one node.
struct Line {
    const StepReading& reading;
    const v1::StepUsage& usage;  // of all its nodes
    std::string nodes, pids;
    const records::UsageStyle& style;
};

struct SstatField {
    const char* name;
    int width;                                       // negative: to the left
    std::string (*text)(const Line& line) = nullptr;  // nullptr: records::usage_text() by its name
};
std::span<const SstatField> fields();                 // in the order of --helpformat
const SstatField* find_field(std::string_view name);  // any case; as few letters as tell it apart

struct Column {
    const SstatField* field;
    int width;
};
Result<std::vector<Column>> columns_of(const Options& options);
v1::StepUsage usage_of(const StepReading& reading);
std::string listing_header(const Options& options, const std::vector<Column>& columns);
std::string listing_rows(const StepReading& reading, const Options& options, const std::vector<Column>& columns);
std::string help_format();

}  // namespace spur::cli::sstat
