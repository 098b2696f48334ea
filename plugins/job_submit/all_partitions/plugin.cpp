// job_submit/all_partitions, the whole of it: who names no partition gets the list of them all.
#include <spur/plugin/draft/job_submit.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

// The default first: that is where it would have gone.
std::string list_of(const spur_span& partitions) {
    std::string first, others;
    for (const auto& partition : Records<spur_submit_partition>{partitions}) {
        auto& list = (partition.flags & SPUR_SUBMIT_DEFAULT) != 0 ? first : others;
        list += (list.empty() ? "" : ",") + std::string{view(partition.name)};
    }
    return first.empty() || others.empty() ? first + others : first + "," + others;
}

spur_status submit(spur_plugin*, const spur_submit* submit, const spur_record* job, spur_error* err) {
    return guard(err, [&]() -> spur_status {
        if (spur_record_get(job, str("partition")).kind != SPUR_VALUE_ABSENT) return SPUR_OK;
        const auto all = list_of(submit->partitions);
        if (all.empty()) return SPUR_OK;
        const auto told = spur_record_set_text(job, str("partition"), str(all), err);
        return told == SPUR_OK ? SPUR_OK : fail(err, SPUR_E_UNSUPPORTED, "this host lets nobody set the partition");
    });
}

constexpr spur_job_submit_ops ops{.size = sizeof(spur_job_submit_ops), .reserved = 0, .submit = submit};

const void* query(spur_plugin*, const char* id) {
    return std::string_view{id} == SPUR_JOB_SUBMIT_IFACE ? &ops : nullptr;
}

constexpr const char* interfaces[] = {SPUR_JOB_SUBMIT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "job_submit/all_partitions",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "jobs that name no partition may run in any",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
