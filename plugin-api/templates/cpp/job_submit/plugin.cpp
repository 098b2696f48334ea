// @TYPE@, all of it: jobs say how long they may run; long ones go to a partition of their own.
#include <spur/plugin/draft/job_submit.h>
#include <spur/plugin/plugin.hpp>

#include <string>

namespace {

using namespace spur::plugin;

// Called on several threads at once: nothing here changes after create().
struct Gate {
    Gate(const spur_host*, const spur_config* config)
        : longest_s(option(config, "longest").integer), long_partition(option(config, "long_partition").text) {}
    const std::int64_t longest_s;
    const std::string long_partition;
};

spur_status submit(spur_plugin* self, const spur_submit* submit, const spur_record* job, spur_error* err) {
    return guard(err, [&]() -> spur_status {
        const auto& gate = self_cast<Gate>(self);
        const auto limit = spur_record_get(job, str("time_limit"));
        if (limit.kind == SPUR_VALUE_ABSENT)
            return fail(err, SPUR_SUBMIT_REFUSED, "Say how long the job may run: --time");
        if (limit.number <= gate.longest_s || gate.long_partition.empty()) return SPUR_OK;
        if (spur_record_set_text(job, str("partition"), str(gate.long_partition), err) != SPUR_OK)
            return SPUR_E_UNSUPPORTED;
        return push(submit->notes, "The job runs long and goes to another partition.\n");
    });
}

constexpr spur_job_submit_ops ops{.size = sizeof(spur_job_submit_ops), .reserved = 0, .submit = submit};

const void* query(spur_plugin*, const char* id) {
    return std::string_view(id) == SPUR_JOB_SUBMIT_IFACE ? &ops : nullptr;
}

constexpr spur_option options[] = {
    {"longest", SPUR_OPTION_DURATION, 0, "1-00:00:00", "jobs above it are long", nullptr, 0, 0},
    {"long_partition", SPUR_OPTION_STRING, 0, "", "where long jobs go; empty: where they like", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_JOB_SUBMIT_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "jobs say how long they may run",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Gate>,
                                .destroy = destroy<Gate>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
