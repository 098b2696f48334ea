// @TYPE@, the boundary. The policy itself is in by_age.hpp.
#include "by_age.hpp"

namespace {

using spur::plugin::guard;
using spur::plugin::option;
using spur::plugin::Records;
using spur::plugin::self_cast;

struct Scorer : ByAge {
    Scorer(const spur_host*, const spur_config* config)
        : ByAge{static_cast<double>(option(config, "weight").integer),
                static_cast<double>(option(config, "max_age").integer),
                static_cast<double>(option(config, "half_life").integer)} {}
};

spur_status score(spur_plugin* self, const spur_cluster_view* view, spur_span queries, spur_priority* out,
                  std::uint32_t out_stride, spur_error* err) {
    return guard(err, [&] {
        std::size_t i = 0;
        for (const auto& query : Records<spur_priority_query>(queries)) {
            const auto& job = *SPUR_AT(spur_job_view, view->pending, query.job);
            // The host's records may be longer or shorter than ours.
            spur::plugin::put_at(out, out_stride, i++, self_cast<Scorer>(self).score(job, view->now, query.nice));
        }
        return SPUR_OK;
    });
}

double decay(spur_plugin* self, double seconds) { return self_cast<Scorer>(self).decay(seconds); }

spur_status weights(spur_plugin* self, double* out, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) out[i] = i == SPUR_FACTOR_AGE ? self_cast<Scorer>(self).weight : 0.0;
    return SPUR_OK;
}

constexpr spur_priority_ops ops{.size = sizeof(spur_priority_ops),
                                .reserved = 0,
                                .score = score,
                                .decay = decay,
                                .shares = nullptr,
                                .weights = weights};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_PRIORITY_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"weight", SPUR_OPTION_INT, 0, "1000", "priority of a job that has waited for max_age", nullptr, 0, 1000000},
    {"max_age", SPUR_OPTION_DURATION, 0, "7-00:00:00", "age at which priority stops growing", nullptr, 0, 0},
    {"half_life", SPUR_OPTION_DURATION, 0, "7-00:00:00", "time in which past usage loses half its weight; 0: never",
     nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_PRIORITY_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "the longer a job has waited, the more it is worth",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = spur::plugin::create<Scorer>,
                                .destroy = spur::plugin::destroy<Scorer>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
