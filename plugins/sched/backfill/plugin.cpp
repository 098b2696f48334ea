// sched/backfill, the boundary. The policy itself is in backfill.hpp.
#include <spur/plugin/plugin.hpp>

#include <charconv>

#include "backfill.hpp"
#include "core/version.hpp"

namespace {

using namespace spur::plugin;
using spur::backfill::Backfill;

std::uint32_t reserve_of(const spur_config_value& value) {
    const std::string_view text = value.text;
    if (text == "all") return SPUR_UNLIMITED;
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number == 0)
        throw Failure(SPUR_E_INVALID, "reserve = \"" + std::string(text.substr(0, 40)) +
                                          "\" is neither a number of jobs above 0 nor \"all\"");
    return number;
}

struct Instance {
    Instance(const spur_host*, const spur_config* config)
        : backfill{{reserve_of(option(config, "reserve")), option(config, "window").integer}} {}
    Backfill backfill;
};

spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                 const spur_plan_sink* sink, spur_error* err) {
    return guard(err, [&] { return self_cast<Instance>(self).backfill.plan(*view, *select, *sink, err); });
}

constexpr spur_sched_ops ops{.size = sizeof(spur_sched_ops),
                             .reserved = 0,
                             .understands = SPUR_WISH_SWITCHES | SPUR_WISH_HET_JOB | SPUR_WISH_TIME_MIN |
                                            SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
                             .plan = plan};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_SCHED_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"reserve", SPUR_OPTION_STRING, 0, "32",
     "how many waiting jobs of each partition are promised a start that nothing may delay: a number, or \"all\"",
     nullptr, 0, 0},
    {"window", SPUR_OPTION_DURATION, 0, "30-00:00:00",
     "how far ahead starts are promised; should be longer than the longest time limit", nullptr, 60,
     std::int64_t{3650} * 86'400},
};

constexpr const char* interfaces[] = {SPUR_SCHED_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "sched/backfill",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Priority order with promised starts; small jobs fill the gaps",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
