// job_submit/require_timelimit, the whole of it: no time limit, no job.
#include <spur/plugin/draft/job_submit.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config* config) : message{option(config, "message").text} {}
    std::string message;
};

spur_status submit(spur_plugin* self, const spur_submit*, const spur_record* job, spur_error* err) {
    if (spur_record_get(job, str("time_limit")).kind != SPUR_VALUE_ABSENT) return SPUR_OK;
    return fail(err, SPUR_SUBMIT_REFUSED, self_cast<Instance>(self).message);
}

constexpr spur_job_submit_ops ops{.size = sizeof(spur_job_submit_ops), .reserved = 0, .submit = submit};

const void* query(spur_plugin*, const char* id) {
    return std::string_view{id} == SPUR_JOB_SUBMIT_IFACE ? &ops : nullptr;
}

constexpr spur_option options[] = {
    {"message", SPUR_OPTION_STRING, 0, "Time limit specification required, but not provided", "what the user reads",
     nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_JOB_SUBMIT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "job_submit/require_timelimit",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "jobs without a time limit are refused",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
