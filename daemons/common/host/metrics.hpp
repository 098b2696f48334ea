// The numbers behind "spur.metrics/1": one table per instance, updated without locks.
#pragma once

#include <spur/plugin/metrics.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spur::host {

struct MetricSeries {
    std::vector<std::string> labels;  // values, in the order of the metric's
    double value{};                   // counter and gauge; the sum of a histogram
    std::uint64_t count{};            // observations of a histogram
    std::vector<std::uint64_t> buckets;  // each holds those above the one before; the last has no upper end
};

struct Metric {
    std::string name;  // "spur_sched_backfill_jobs_total": spur and the plugin's type in front
    std::string help;
    std::uint32_t kind{};  // SPUR_METRIC_*
    std::vector<std::string> labels;
    std::vector<double> bounds;  // upper ends of a histogram's buckets
    std::vector<MetricSeries> series;
};

// What a collector of OpenMetrics reads, "# EOF" at the end.
std::string openmetrics_text(const std::vector<Metric>& metrics);

class MetricTable {
public:
    explicit MetricTable(std::string prefix);
    MetricTable(const MetricTable&) = delete;
    MetricTable& operator=(const MetricTable&) = delete;
    ~MetricTable();

    // With the contracts of metrics.h. 0: refused; `why` says why.
    std::uint32_t define(const spur_metric* metric, std::string& why);
    std::uint32_t series(std::uint32_t metric, const spur_span& values, std::string& why);
    void forget(std::uint32_t series);
    void add(std::uint32_t series, double amount) noexcept;
    void set(std::uint32_t series, double value) noexcept;
    std::vector<Metric> read() const;

private:
    struct Family;
    struct Series;
    Series* find(std::uint32_t handle) const noexcept {
        return handle - 1 < slots_.size() ? slots_[handle - 1].load(std::memory_order_acquire) : nullptr;
    }
    std::uint32_t add_series(Family& family, std::vector<std::string> labels);

    const std::string prefix_;
    mutable std::mutex defining_;
    std::vector<std::unique_ptr<Family>> families_;
    std::vector<std::unique_ptr<Series>> made_;  // never freed while somebody may hold a handle
    std::array<std::atomic<Series*>, SPUR_METRICS_MOST_SERIES> slots_{};
};

}  // namespace spur::host
