// Fetching what a report is made from.
#pragma once

#include "cli/common/accounting.hpp"
#include "cli/sreport/report.hpp"

namespace spur::cli::sreport {

// Everything that `source` needs; -M and -a decide about the clusters.
Answer<Data> ask(Session& session, wire::Channel& history, const Options& options, const Conditions& conditions,
                 Source source);

// What was used by `step` ("hour", "day", "month"), for drawings.
Answer<std::vector<v1::HistoryRow>> ask_series(wire::Channel& history, const std::string& cluster, UnixSeconds start,
                                               UnixSeconds end, const std::string& step, const Names& tres);

// Every row of a table (SPUR_ROW_*) that overlaps the time; 0: any time.
Answer<std::vector<v1::HistoryRow>> ask_rows(wire::Channel& history, v1::ListRowsRequest request);

UsageLine line_of(const v1::HistoryRow& row);

}  // namespace spur::cli::sreport
