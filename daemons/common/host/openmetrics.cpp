// Metrics as OpenMetrics text, which every collector of time series reads.
#include <fmt/format.h>

#include "daemons/common/host/metrics.hpp"

namespace spur::host {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

// {device="0",le="4"}; nothing where there is none. `last` is a label of the format's own.
std::string labels_text(const Metric& metric, const MetricSeries& series, const std::string& last = {}) {
    std::string inside;
    for (std::size_t i = 0; i < metric.labels.size(); ++i)
        inside += fmt::format("{}{}=\"{}\"", i == 0 ? "" : ",", metric.labels[i], escaped(series.labels[i]));
    if (!last.empty()) inside += (inside.empty() ? "" : ",") + last;
    return inside.empty() ? inside : "{" + inside + "}";
}

void write_histogram(std::string& out, const std::string& family, const Metric& metric, const MetricSeries& series) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < series.buckets.size(); ++i) {
        below += series.buckets[i];
        const auto end =
            i < metric.bounds.size() ? fmt::format("le=\"{}\"", metric.bounds[i]) : std::string{"le=\"+Inf\""};
        out += fmt::format("{}_bucket{} {}\n", family, labels_text(metric, series, end), below);
    }
    out += fmt::format("{}_count{} {}\n", family, labels_text(metric, series), series.count);
    out += fmt::format("{}_sum{} {}\n", family, labels_text(metric, series), series.value);
}

}  // namespace

std::string openmetrics_text(const std::vector<Metric>& metrics) {
    std::string out;
    for (const auto& metric : metrics) {
        constexpr std::string_view total = "_total";
        const bool is_counter = metric.kind == SPUR_METRIC_COUNTER;
        auto family = metric.name;
        if (is_counter && family.ends_with(total)) family.resize(family.size() - total.size());
        const char* const kind = is_counter                              ? "counter"
                                 : metric.kind == SPUR_METRIC_HISTOGRAM ? "histogram"
                                                                        : "gauge";
        out += fmt::format("# TYPE {} {}\n", family, kind);
        if (!metric.help.empty()) out += fmt::format("# HELP {} {}\n", family, escaped(metric.help));
        for (const auto& series : metric.series) {
            if (metric.kind == SPUR_METRIC_HISTOGRAM)
                write_histogram(out, family, metric, series);
            else
                out += fmt::format("{}{}{} {}\n", family, is_counter ? total : "", labels_text(metric, series),
                                   series.value);
        }
    }
    return out + "# EOF\n";
}

}  // namespace spur::host
