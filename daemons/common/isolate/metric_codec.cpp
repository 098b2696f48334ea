// Metrics as bytes.
#include "daemons/common/isolate/metric_codec.hpp"

namespace spur::isolate {
namespace {

// Each list is its length and its entries; `one` writes or reads an entry.
template <class T, class One>
void pack_list(Pack& out, const std::vector<T>& list, const One& one) {
    out.raw(std::uint64_t{list.size()});
    for (const auto& each : list) one(each);
}
template <class T, class One>
void unpack_list(Unpack& in, std::vector<T>& list, const One& one) {
    for (auto left = in.get<std::uint64_t>(); left > 0 && in.good(); --left) list.push_back(one());
}

void pack_texts(Pack& out, const std::vector<std::string>& texts) {
    pack_list(out, texts, [&](const std::string& text) { out.text(text); });
}
void unpack_texts(Unpack& in, std::vector<std::string>& texts) {
    unpack_list(in, texts, [&] { return std::string{in.text()}; });
}

}  // namespace

void pack(Pack& out, const std::vector<host::Metric>& metrics) {
    pack_list(out, metrics, [&](const host::Metric& metric) {
        out.text(metric.name);
        out.text(metric.help);
        out.raw(metric.kind);
        pack_texts(out, metric.labels);
        pack_list(out, metric.bounds, [&](double bound) { out.raw(bound); });
        pack_list(out, metric.series, [&](const host::MetricSeries& series) {
            pack_texts(out, series.labels);
            out.raw(series.value);
            out.raw(series.count);
            pack_list(out, series.buckets, [&](std::uint64_t bucket) { out.raw(bucket); });
        });
    });
}

std::optional<std::vector<host::Metric>> unpack_metrics(std::string_view bytes) {
    Unpack in{bytes};
    std::vector<host::Metric> metrics;
    unpack_list(in, metrics, [&] {
        host::Metric metric;
        metric.name = in.text();
        metric.help = in.text();
        in.raw(metric.kind);
        unpack_texts(in, metric.labels);
        unpack_list(in, metric.bounds, [&] { return in.get<double>(); });
        unpack_list(in, metric.series, [&] {
            host::MetricSeries series;
            unpack_texts(in, series.labels);
            in.raw(series.value);
            in.raw(series.count);
            unpack_list(in, series.buckets, [&] { return in.get<std::uint64_t>(); });
            return series;
        });
        return metric;
    });
    if (!in.good()) return std::nullopt;
    return metrics;
}

}  // namespace spur::isolate
