// Series are made once and never move, so a handle is an index. Families have handles behind those of all series.
#include "daemons/common/host/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/text/lexical.hpp"
#include "daemons/common/host/memory.hpp"
#include "plugin-api/abi/first_sizes.hpp"

namespace spur::host {
namespace {

constexpr std::size_t longest_name = 64, longest_help = 256, longest_label = 128, most_bounds = 64;
constexpr std::uint32_t first_family = 1U << 20;
constexpr int first_power = -10;  // of the buckets of a histogram that has none of its own

bool is_word(std::string_view name) {
    return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
           std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
}

std::optional<std::string> copy_text(const spur_str& text, std::size_t longest) {
    std::string copy(text.length <= longest ? text.length : 0, '\0');
    if (text.length > longest || !copy_memory(copy.data(), text.data, copy.size())) return std::nullopt;
    return copy;
}

// The records of a span that a plugin handed over, by value.
template <class T>
std::optional<std::vector<T>> copy_span(const spur_span& span, std::size_t most) {
    std::vector<T> records(span.count <= most ? span.count : 0);
    if (span.count > most || (span.count > 0 && span.stride < sizeof(T))) return std::nullopt;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (!copy_memory(&records[i], static_cast<const char*>(span.data) + i * span.stride, sizeof(T)))
            return std::nullopt;
    return records;
}

std::optional<std::vector<std::string>> copy_texts(const spur_span& span, std::size_t most, std::size_t longest) {
    const auto records = copy_span<spur_str>(span, most);
    if (!records) return std::nullopt;
    std::vector<std::string> texts;
    for (const auto& record : *records) {
        auto text = copy_text(record, longest);
        if (!text) return std::nullopt;
        texts.push_back(std::move(*text));
    }
    return texts;
}

std::vector<double> powers_of_two() {
    std::vector<double> bounds;
    for (int i = 0; i < static_cast<int>(most_bounds) - 1; ++i) bounds.push_back(std::ldexp(1.0, first_power + i));
    return bounds;
}

}  // namespace

struct MetricTable::Family {
    std::string name, help;
    std::uint32_t kind{};
    std::vector<std::string> labels;
    std::vector<double> bounds;
    std::vector<std::uint32_t> members, free;  // handles of series
};

struct MetricTable::Series {
    const Family* family{nullptr};
    std::vector<std::string> labels;
    std::atomic<double> value{0};
    std::atomic<std::uint64_t> count{0};
    std::unique_ptr<std::atomic<std::uint64_t>[]> buckets;  // one more than there are bounds
};

MetricTable::MetricTable(std::string prefix) : prefix_{std::move(prefix)} {}
MetricTable::~MetricTable() = default;

std::uint32_t MetricTable::define(const spur_metric* metric, std::string& why) {
    const auto size = metric == nullptr ? std::nullopt : copy_value(&metric->size);
    spur_metric given{};
    if (!size || *size < abi::first_size<spur_metric> ||
        !copy_memory(&given, metric, std::min<std::size_t>(*size, sizeof(given))))
        return why = "a metric that cannot be read", 0;
    const auto name = copy_text(given.name, longest_name);
    auto help = copy_text(given.help, longest_help);
    auto labels = copy_texts(given.labels, SPUR_METRICS_MOST_LABELS, longest_name);
    auto bounds = copy_span<double>(given.bounds, most_bounds);
    if (!name || !is_word(*name)) return why = "a metric's name is not in lower_case_words", 0;
    if (given.kind < SPUR_METRIC_COUNTER || given.kind > SPUR_METRIC_HISTOGRAM)
        return why = fmt::format("metric {} is of a kind that is not known here", *name), 0;
    if (!help || !labels || !std::ranges::all_of(*labels, is_word) || std::ranges::count(*labels, "le") != 0)
        return why = fmt::format("the help or the labels of metric {} are not as they should be", *name), 0;
    if (!bounds || !std::ranges::all_of(*bounds, [](double bound) { return std::isfinite(bound); }) ||
        std::ranges::adjacent_find(*bounds, std::ranges::greater_equal{}) != bounds->end())
        return why = fmt::format("the buckets of metric {} do not rise", *name), 0;

    const std::lock_guard lock{defining_};
    const auto handle_of = [&](std::size_t i) {
        return families_[i]->labels.empty() ? families_[i]->members.front()
                                            : first_family + static_cast<std::uint32_t>(i);
    };
    for (std::size_t i = 0; i < families_.size(); ++i) {
        if (families_[i]->name != *name) continue;
        const bool is_same = families_[i]->kind == given.kind && families_[i]->labels == *labels;
        return is_same ? handle_of(i) : (why = fmt::format("metric {} was defined otherwise before", *name), 0);
    }
    if (families_.size() == SPUR_METRICS_MOST) return why = fmt::format("metric {} is one too many", *name), 0;
    auto family = std::make_unique<Family>(Family{*name, std::move(*help), given.kind, std::move(*labels), {}, {}, {}});
    if (given.kind == SPUR_METRIC_HISTOGRAM) family->bounds = bounds->empty() ? powers_of_two() : std::move(*bounds);
    if (family->labels.empty() && add_series(*family, {}) == 0)
        return why = fmt::format("metric {} would be one series too many", *name), 0;
    families_.push_back(std::move(family));
    return handle_of(families_.size() - 1);
}

std::uint32_t MetricTable::add_series(Family& family, std::vector<std::string> labels) {
    if (!family.free.empty()) {
        const auto handle = family.free.back();
        family.free.pop_back();
        auto& again = *find(handle);
        again.labels = std::move(labels);
        again.value = 0;
        again.count = 0;
        for (std::size_t i = 0; again.buckets && i <= family.bounds.size(); ++i) again.buckets[i] = 0;
        family.members.push_back(handle);
        return handle;
    }
    if (made_.size() == slots_.size()) return 0;
    auto fresh = std::make_unique<Series>();
    fresh->family = &family;
    fresh->labels = std::move(labels);
    if (family.kind == SPUR_METRIC_HISTOGRAM)
        fresh->buckets = std::make_unique<std::atomic<std::uint64_t>[]>(family.bounds.size() + 1);
    slots_[made_.size()].store(fresh.get(), std::memory_order_release);
    made_.push_back(std::move(fresh));
    family.members.push_back(static_cast<std::uint32_t>(made_.size()));
    return family.members.back();
}

std::uint32_t MetricTable::series(std::uint32_t metric, const spur_span& values, std::string& why) {
    auto labels = copy_texts(values, SPUR_METRICS_MOST_LABELS, longest_label);
    const std::lock_guard lock{defining_};
    if (metric < first_family && find(metric) != nullptr && values.count == 0) return metric;
    if (metric < first_family || metric - first_family >= families_.size())
        return why = "a series of a metric that was not defined", 0;
    auto& family = *families_[metric - first_family];
    if (!labels || labels->size() != family.labels.size())
        return why = fmt::format("metric {} has {} label(s), and a series of it was given {}", family.name,
                                 family.labels.size(), values.count),
               0;
    for (const auto handle : family.members)
        if (find(handle)->labels == *labels) return handle;
    const auto handle = add_series(family, std::move(*labels));
    if (handle == 0) why = fmt::format("metric {} has one series too many", family.name);
    return handle;
}

void MetricTable::forget(std::uint32_t handle) {
    const std::lock_guard lock{defining_};
    for (const auto& family : families_)
        if (!family->labels.empty() && std::erase(family->members, handle) != 0) family->free.push_back(handle);
}

void MetricTable::add(std::uint32_t handle, double amount) noexcept {
    auto* const series = find(handle);
    if (series == nullptr || series->family->kind == SPUR_METRIC_HISTOGRAM || !std::isfinite(amount)) return;
    if (series->family->kind == SPUR_METRIC_COUNTER && amount < 0) return;
    series->value.fetch_add(amount, std::memory_order_relaxed);
}

void MetricTable::set(std::uint32_t handle, double value) noexcept {
    auto* const series = find(handle);
    if (series == nullptr || series->family->kind == SPUR_METRIC_COUNTER || !std::isfinite(value)) return;
    if (series->family->kind == SPUR_METRIC_GAUGE) return series->value.store(value, std::memory_order_relaxed);
    series->value.fetch_add(value, std::memory_order_relaxed);
    series->count.fetch_add(1, std::memory_order_relaxed);
    const auto& bounds = series->family->bounds;
    const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
    series->buckets[bucket].fetch_add(1, std::memory_order_relaxed);
}

std::vector<Metric> MetricTable::read() const {
    const std::lock_guard lock{defining_};
    std::vector<Metric> metrics;
    for (const auto& family : families_) {
        Metric metric{prefix_ + "_" + family->name, family->help, family->kind, family->labels, family->bounds, {}};
        for (const auto handle : family->members) {
            const auto& from = *find(handle);
            MetricSeries series{from.labels, from.value.load(), from.count.load(), {}};
            for (std::size_t i = 0; from.buckets && i <= family->bounds.size(); ++i)
                series.buckets.push_back(from.buckets[i].load(std::memory_order_relaxed));
            metric.series.push_back(std::move(series));
        }
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

}  // namespace spur::host
