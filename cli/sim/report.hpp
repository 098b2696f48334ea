// What a simulation tells: as a table, as JSON, as a page.
#pragma once

#include <string>
#include <vector>

#include "cli/sim/metrics.hpp"
#include "cli/sim/outcome.hpp"
#include "cli/sim/trace.hpp"

namespace spur::cli::sim {

// One simulation and its name in comparisons: the configuration's file.
struct Report {
    std::string name;
    Outcome outcome;
    Metrics metrics;
};

std::string print_table(const Report& report, const Trace& trace);
std::string print_comparison(const std::vector<Report>& reports, const Trace& trace);
std::string print_json(const std::vector<Report>& reports, const Trace& trace);
// Self-contained: one file, no other resources.
std::string print_page(const Report& report, const Trace& trace);

// ---- how figures are written
std::string percent(double share);                                                  // "83.1%"
std::string duration(double seconds);                                               // "12.0 s", "1:02:03", "2-00:15:00"
std::string job_name(const Report& report, const Trace& trace, std::uint32_t job);  // "12", "12_3"

std::string moment(UnixSeconds time);  // "2026-01-05 00:00:00", in UTC
std::string heading(const Report& report, const Trace& trace);
std::string remarks(const Report& report, const Trace& trace);  // what was left out, refused, or went wrong

// The figures of a report in the order they are shown; tables, comparisons and pages are made of these.
struct Figure {
    std::string group, name;
    double value{};
    std::string text;    // the value as people read it
    int better{};        // 1: more is better, -1: less, 0: neither
    bool timed{false};   // measured in real time: differs from run to run
    bool spread{false};  // one of mean, p50, p90, p99, max of `group`
};
std::vector<Figure> figures_of(const Report& report, const Trace& trace);

}  // namespace spur::cli::sim
