// Runs of jobs as sacct prints them: in order, as a table, as JSON, their scripts. No I/O.
#pragma once

#include "cli/sacct/fields.hpp"
#include "cli/sacct/options.hpp"

#include <string>
#include <vector>

namespace spur::cli::sacct {

struct Column {
    const SacctField* field;
    int width;
};
Result<std::vector<Column>> columns_of(const std::string& format);
std::string help_format();

using Runs = std::vector<v1::HistoryJob>;

// In the order of submission, an array's tasks by number. Without `duplicates` only the last run of a job.
void put_in_order(Runs& runs, bool duplicates);
// --array: a run for each task that still waits in one record.
void expand_arrays(Runs& runs);
// -T: only what lies within the window counts.
void clip(v1::Job& job, const Window& window);

std::string table_of(const Runs& runs, const Options& options, const std::vector<Column>& columns, const Look& look,
                     UnixSeconds now);
std::string json_of(const Runs& runs, UnixSeconds now);
// --batch-script and --env-vars.
std::string scripts_of(const Runs& runs, Show what);

}  // namespace spur::cli::sacct
