// Usage for people: bars in a terminal, and a page with usage over time. No I/O.
#pragma once

#include "core/base/ids.hpp"
#include "spur/v1/accounting.pb.h"

#include <map>
#include <string>
#include <vector>

namespace spur::cli::sreport {

// One self-contained page; `rows` are of usage, by `step`.
std::string usage_html(const std::string& cluster, const std::string& tres, const std::string& step, UnixSeconds start,
                       UnixSeconds end, const std::vector<v1::HistoryRow>& rows);
// Who used how much, the most first. `in_ascii`: the terminal knows no other characters.
std::string usage_bars(std::string_view title, const std::map<std::string, double>& seconds, bool in_ascii);

}  // namespace spur::cli::sreport
