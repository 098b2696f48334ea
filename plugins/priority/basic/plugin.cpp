// priority/basic: submission order. The whole policy is one subtraction, so it lives here.
#include <spur/plugin/priority.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

constexpr std::int64_t first_priority = 4294901760;  // Slurm's: what job 0 would have

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

spur_status score(spur_plugin*, const spur_cluster_view* view, spur_span queries, const spur_scores* out,
                  spur_error* err) {
    return guard(err, [&] {
        std::size_t i = 0;
        for (const auto& query : Records<spur_priority_query>{queries}) {
            const auto* job = SPUR_AT(spur_job_view, view->pending, query.job);
            const auto points = std::max<std::int64_t>(1, first_priority - job->id - query.nice + query.site_factor);
            const spur_priority answer{.total = static_cast<std::uint64_t>(points),
                                       .exact = static_cast<double>(points)};
            spur_put_score(out, i++, &answer, nullptr, nullptr, 0);
        }
        return SPUR_OK;
    });
}

double decay(spur_plugin*, std::int64_t, std::int64_t) { return 1.0; }

constexpr spur_priority_ops ops{.size = sizeof(spur_priority_ops),
                                .reserved = 0,
                                .score = score,
                                .decay = decay,
                                .factors = nullptr,
                                .shares = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_PRIORITY_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_PRIORITY_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "priority/basic",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Submission order",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
