// Metrics of plugins: names, labels, limits, and the text that collectors read.
#include "daemons/common/host/metrics.hpp"

#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <initializer_list>

namespace spur::host {
namespace {

struct Wanted {
    std::string_view name;
    std::uint32_t kind{SPUR_METRIC_GAUGE};
    std::vector<std::string_view> labels{};
    std::vector<double> bounds{};
};

std::vector<spur_str> texts(const std::vector<std::string_view>& all) {
    std::vector<spur_str> out;
    for (const auto text : all) out.push_back(plugin::str(text));
    return out;
}

std::uint32_t define(MetricTable& table, const Wanted& wanted) {
    const auto labels = texts(wanted.labels);
    const spur_metric metric{sizeof(spur_metric),      wanted.kind,
                             plugin::str(wanted.name), plugin::str("help"),
                             plugin::span_of(labels),  plugin::span_of(wanted.bounds)};
    std::string why;
    return table.define(&metric, why);
}

std::uint32_t series(MetricTable& table, std::uint32_t metric, const std::vector<std::string_view>& values) {
    const auto given = texts(values);
    std::string why;
    return table.series(metric, plugin::span_of(given), why);
}

TEST(Metrics, HandlesNamesAndKindsAreChecked) {
    MetricTable table{"spur_gpu_x"};
    const auto counter = define(table, {"devices_total", SPUR_METRIC_COUNTER});
    EXPECT_NE(counter, 0U);
    EXPECT_EQ(define(table, {"devices_total", SPUR_METRIC_COUNTER}), counter);
    EXPECT_EQ(define(table, {"devices_total", SPUR_METRIC_GAUGE}), 0U);
    EXPECT_EQ(define(table, {"Bad Name"}), 0U);
    EXPECT_EQ(define(table, {"bad_label", SPUR_METRIC_GAUGE, {"le"}}), 0U);
    EXPECT_EQ(define(table, {"bad_bounds", SPUR_METRIC_HISTOGRAM, {}, {2, 1}}), 0U);
    std::string why;
    EXPECT_EQ(table.define(nullptr, why), 0U);
    EXPECT_EQ(table.define(reinterpret_cast<const spur_metric*>(0x10), why), 0U);
    table.add(counter, 2);
    table.add(counter, -5);  // a counter only grows
    table.add(0, 1);
    table.add(12345, 1);
    EXPECT_EQ(table.read().at(0).series.at(0).value, 2);
}

TEST(Metrics, AHistogramWithoutBoundsHasPowersOfTwo) {
    MetricTable table{"x"};
    const auto histogram = define(table, {"scan_ns", SPUR_METRIC_HISTOGRAM});
    table.set(histogram, 3);
    table.set(histogram, 1e30);
    const auto metric = table.read().at(0);
    EXPECT_EQ(metric.series[0].count, 2U);
    EXPECT_EQ(metric.bounds.at(12), 4);
    EXPECT_EQ(metric.series[0].buckets.at(12), 1U);  // 2 < 3 <= 4
    EXPECT_EQ(metric.series[0].buckets.back(), 1U);
}

TEST(Metrics, LabelsMakeSeriesThatCanBeForgotten) {
    MetricTable table{"x"};
    const auto busy = define(table, {"busy", SPUR_METRIC_GAUGE, {"device", "kind"}});
    const auto first = series(table, busy, {"0", "a100"}), second = series(table, busy, {"1", "a\"b\\c\nd"});
    EXPECT_EQ(series(table, busy, {"0", "a100"}), first);
    EXPECT_EQ(series(table, busy, {"0"}), 0U);
    EXPECT_EQ(series(table, 77777777, {"0", "a"}), 0U);
    table.set(first, 0.5);
    table.set(second, 0.25);
    EXPECT_EQ(openmetrics_text(table.read()),
              "# TYPE x_busy gauge\n# HELP x_busy help\nx_busy{device=\"0\",kind=\"a100\"} 0.5\n"
              "x_busy{device=\"1\",kind=\"a\\\"b\\\\c\\nd\"} 0.25\n# EOF\n");
    table.forget(first);
    table.set(first, 9);  // too late, and harmless
    EXPECT_EQ(table.read().at(0).series.size(), 1U);
    const auto third = series(table, busy, {"2", "a100"});
    EXPECT_EQ(third, first);
    EXPECT_EQ(table.read().at(0).series.at(1).value, 0);
}

TEST(Metrics, HistogramsAreCumulativeInText) {
    MetricTable table{"x"};
    const auto wait = define(table, {"wait_s", SPUR_METRIC_HISTOGRAM, {}, {0.5, 2}});
    for (const double value : {0.1, 0.5, 1.0, 100.0}) table.set(wait, value);
    EXPECT_EQ(openmetrics_text(table.read()),
              "# TYPE x_wait_s histogram\n# HELP x_wait_s help\nx_wait_s_bucket{le=\"0.5\"} 2\n"
              "x_wait_s_bucket{le=\"2\"} 3\nx_wait_s_bucket{le=\"+Inf\"} 4\nx_wait_s_count 4\nx_wait_s_sum 101.6\n"
              "# EOF\n");
}

TEST(Metrics, ThereIsRoomFor256MetricsAnd4096Series) {
    MetricTable table{"x"};
    const auto family = define(table, {"family", SPUR_METRIC_GAUGE, {"n"}});
    for (int i = 1; i < 256; ++i) EXPECT_NE(define(table, {"m" + std::to_string(i)}), 0U);
    EXPECT_EQ(define(table, {"one_more"}), 0U);
    for (int i = 255; i < 4096; ++i) ASSERT_NE(series(table, family, {std::to_string(i)}), 0U) << i;
    EXPECT_EQ(series(table, family, {"one more"}), 0U);
}

}  // namespace
}  // namespace spur::host
