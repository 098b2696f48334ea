// A scorer with one fault, chosen when it is compiled; the rest of it is the template's.
#include "plugin-api/templates/cpp/priority/by_age.hpp"

namespace {

using namespace spur::plugin;

struct Scorer : ByAge {
    Scorer(const spur_host*, const spur_config*) : ByAge{1000, 86400, 86400} {}
};

spur_status score(spur_plugin* self, const spur_cluster_view* view, spur_span queries, const spur_scores* out,
                  spur_error*) {
    const auto& scorer = self_cast<Scorer>(self);
    auto* place = reinterpret_cast<char*>(out->totals);
    std::size_t i = 0;
    for (const auto& query : Records<spur_priority_query>(queries)) {
        const auto& job = *SPUR_AT(spur_job_view, view->pending, query.job);
        double age = scorer.age(job, view->now);
        const double points = scorer.weight * age;
        auto answer = scorer.total(points, query);
#ifdef FAULT_PRIORITY_DIVIDES_BY_ZERO
        age = 0.0 / static_cast<double>(view->number - 1);
#endif
#ifdef FAULT_PRIORITY_FORGETS_THE_OLD
        answer.total = 1'000'000'000 - static_cast<std::uint64_t>(view->now - job.eligible) % 1'000'000'000;
#endif
#ifdef FAULT_PRIORITY_GIVES_ZERO
        answer.total = 0;
#endif
        *reinterpret_cast<spur_priority*>(place) = answer;
#ifdef FAULT_PRIORITY_WRITES_PAST_ITS_RECORD
        std::memset(place + sizeof(spur_priority), 0, 32);
#endif
#ifdef FAULT_PRIORITY_STEPS_BY_SIZEOF
        place += sizeof(spur_priority);
#else
        place += out->total_stride;
#endif
#ifdef FAULT_PRIORITY_TAKES_ITS_OWN_COLUMNS
        out->raw[i] = age, out->weighted[i] = points;
#else
        if (out->factor_count > 0) out->raw[i * out->factor_count] = age, out->weighted[i * out->factor_count] = points;
#endif
        ++i;
    }
    return SPUR_OK;
}

double decay(spur_plugin* self, std::int64_t from, std::int64_t to) {
#ifdef FAULT_PRIORITY_DECAY_GROWS
    return 2 - self_cast<Scorer>(self).decay(from, to);
#else
    return self_cast<Scorer>(self).decay(from, to);
#endif
}

spur_status factors(spur_plugin* self, const spur_factor_sink* sink, spur_error*) {
#ifdef FAULT_PRIORITY_NAMES_TWICE
    if (const auto told = spur_push_factor(sink, str("age"), 1); told != SPUR_OK) return told;
#endif
    return spur_push_factor(sink, str("age"), self_cast<Scorer>(self).weight);
}

constexpr spur_priority_ops ops{.size = sizeof(spur_priority_ops),
                                .reserved = 0,
                                .score = score,
                                .decay = decay,
                                .factors = factors,
                                .shares = nullptr};
const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_PRIORITY_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_PRIORITY_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = FAULT_TYPE,
                                .version = "1.0.0",
                                .vendor = "Spur's tests",
                                .summary = "a scorer with a fault",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Scorer>,
                                .destroy = destroy<Scorer>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
