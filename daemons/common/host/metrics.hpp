// The numbers behind "spur.metrics/1": one table per instance, updated without locks.
#pragma once

#include <spur/plugin/metrics.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace spur::host {

struct Metric {
    std::string name;  // "sched_backfill_jobs_total": the plugin's type in front
    std::string help;
    std::uint32_t kind{};   // SPUR_METRIC_*
    double value{};         // counter and gauge; the sum of a histogram
    std::uint64_t count{};  // observations of a histogram
    // Observations of a histogram at most 2^i, i from -10 to 53: each bucket holds those above the one before.
    std::vector<std::uint64_t> buckets;
};

class MetricTable {
public:
    static constexpr std::uint32_t most = 256;
    static constexpr int first_bucket = -10;
    static constexpr std::size_t bucket_count = 64;

    explicit MetricTable(std::string prefix) : prefix_{std::move(prefix)} {}
    MetricTable(const MetricTable&) = delete;
    MetricTable& operator=(const MetricTable&) = delete;
    ~MetricTable();

    std::uint32_t define(const char* name, std::uint32_t kind, const char* help);  // 0: refused
    void add(std::uint32_t handle, double amount) noexcept;
    void set(std::uint32_t handle, double value) noexcept;
    std::vector<Metric> read() const;

private:
    struct Entry {
        std::string name, help;
        std::uint32_t kind{};
        std::atomic<double> value{0};
        std::atomic<std::uint64_t> count{0};
        std::array<std::atomic<std::uint64_t>, bucket_count>* buckets{nullptr};
    };
    Entry* find(std::uint32_t handle) noexcept;

    std::string prefix_;
    mutable std::mutex defining_;
    std::array<std::atomic<Entry*>, most> entries_{};
    std::atomic<std::uint32_t> count_{0};
};

}  // namespace spur::host
