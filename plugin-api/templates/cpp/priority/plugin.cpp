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

spur_status score(spur_plugin* self, const spur_cluster_view* view, spur_span queries, const spur_scores* out,
                  spur_error* err) {
    return guard(err, [&] {
        const auto& scorer = self_cast<Scorer>(self);
        std::size_t i = 0;
        for (const auto& query : Records<spur_priority_query>(queries)) {
            const auto age = scorer.age(*SPUR_AT(spur_job_view, view->pending, query.job), view->now);
            const auto points = scorer.weight * age;
            const auto answer = scorer.total(points, query);
            // The host's records may be longer or shorter than ours.
            spur_put_score(out, i++, &answer, &age, &points, 1);
        }
        return SPUR_OK;
    });
}

double decay(spur_plugin* self, std::int64_t from, std::int64_t to) { return self_cast<Scorer>(self).decay(from, to); }

// One factor. A plugin with several pushes them in the order in which score() writes them.
spur_status factors(spur_plugin* self, const spur_factor_sink* sink, spur_error*) {
    return spur_push_factor(sink, spur::plugin::str(SPUR_FACTOR_AGE), self_cast<Scorer>(self).weight);
}

constexpr spur_priority_ops ops{.size = sizeof(spur_priority_ops),
                                .reserved = 0,
                                .score = score,
                                .decay = decay,
                                .factors = factors,
                                .shares = nullptr};

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
