// Entries are made once and never move, so a handle is an index.
#include "daemons/common/host/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/text/lexical.hpp"
#include "daemons/common/host/memory.hpp"

namespace spur::host {
namespace {

constexpr std::size_t longest_name = 64, longest_help = 256;

bool is_metric_name(std::string_view name) {
    return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
           std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
}

std::size_t bucket_of(double value) {
    if (!(value > 0)) return 0;
    int exponent = 0;
    const double mantissa =
        std::frexp(value, &exponent);  // in [0.5, 1): value <= 2^exponent, exactly 2^(exponent-1) at 0.5
    const int power = mantissa == 0.5 ? exponent - 1 : exponent;
    const int index = power - MetricTable::first_bucket;
    return static_cast<std::size_t>(std::clamp(index, 0, static_cast<int>(MetricTable::bucket_count) - 1));
}

}  // namespace

MetricTable::~MetricTable() {
    for (auto& slot : entries_) {
        const std::unique_ptr<Entry> entry{slot.load()};
        if (entry) delete entry->buckets;
    }
}

MetricTable::Entry* MetricTable::find(std::uint32_t handle) noexcept {
    return handle == 0 || handle > most ? nullptr : entries_[handle - 1].load(std::memory_order_acquire);
}

std::uint32_t MetricTable::define(const char* name, std::uint32_t kind, const char* help) {
    const auto wanted = copy_string(name, longest_name);
    if (!wanted || !is_metric_name(*wanted) || kind < SPUR_METRIC_COUNTER || kind > SPUR_METRIC_HISTOGRAM) return 0;
    const std::lock_guard lock{defining_};
    const auto count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* const known = entries_[i].load(std::memory_order_relaxed);
        if (known->name == *wanted) return known->kind == kind ? i + 1 : 0;
    }
    if (count == most) return 0;
    auto* const entry = new Entry;
    entry->name = *wanted;
    entry->help = copy_string(help, longest_help).value_or("");
    entry->kind = kind;
    if (kind == SPUR_METRIC_HISTOGRAM) entry->buckets = new std::array<std::atomic<std::uint64_t>, bucket_count>{};
    entries_[count].store(entry, std::memory_order_release);
    count_.store(count + 1, std::memory_order_release);
    return count + 1;
}

void MetricTable::add(std::uint32_t handle, double amount) noexcept {
    auto* const entry = find(handle);
    if (entry == nullptr || entry->kind == SPUR_METRIC_HISTOGRAM || !std::isfinite(amount)) return;
    if (entry->kind == SPUR_METRIC_COUNTER && amount < 0) return;
    entry->value.fetch_add(amount, std::memory_order_relaxed);
}

void MetricTable::set(std::uint32_t handle, double value) noexcept {
    auto* const entry = find(handle);
    if (entry == nullptr || entry->kind == SPUR_METRIC_COUNTER || !std::isfinite(value)) return;
    if (entry->kind == SPUR_METRIC_GAUGE) return entry->value.store(value, std::memory_order_relaxed);
    entry->value.fetch_add(value, std::memory_order_relaxed);
    entry->count.fetch_add(1, std::memory_order_relaxed);
    (*entry->buckets)[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
}

std::vector<Metric> MetricTable::read() const {
    std::vector<Metric> metrics;
    const auto count = count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& entry = *entries_[i].load(std::memory_order_acquire);
        Metric metric{prefix_ + "_" + entry.name, entry.help, entry.kind, entry.value.load(), entry.count.load(), {}};
        if (entry.buckets != nullptr)
            for (const auto& bucket : *entry.buckets) metric.buckets.push_back(bucket.load(std::memory_order_relaxed));
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

}  // namespace spur::host
