// priority/fairshare, the boundary. The factors are in factors.hpp, the account tree in tree.hpp.
#include <spur/plugin/priority.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "core/version.hpp"
#include "factors.hpp"

namespace {

using namespace spur::plugin;
using spur::fairshare::Scorer;
using spur::fairshare::Settings;

double weight(const spur_config* config, const char* key) { return static_cast<double>(option(config, key).integer); }

Settings settings_from(const spur_config* config) {
    Settings settings;
    settings.age = weight(config, "weight_age");
    settings.fairshare = weight(config, "weight_fairshare");
    settings.job_size = weight(config, "weight_job_size");
    settings.partition = weight(config, "weight_partition");
    settings.qos = weight(config, "weight_qos");
    settings.association = weight(config, "weight_association");
    const auto& tres = option(config, "weight_tres");
    for (std::uint32_t i = 0; i < tres.list_count; ++i) try {
            settings.tres.push_back(spur::fairshare::parse_tres_weight(tres.list[i]));
        } catch (const std::invalid_argument& wrong) {
            throw Failure(SPUR_E_INVALID, wrong.what());
        }
    settings.max_age_s = static_cast<double>(option(config, "max_age").integer);
    settings.half_life_s = static_cast<double>(option(config, "half_life").integer);
    settings.favor_small = option(config, "favor_small").integer != 0;
    settings.small_relative_to_time = option(config, "small_relative_to_time").integer != 0;
    settings.fair_tree = std::string_view{option(config, "algorithm").text} == "fair_tree";
    settings.dampening = static_cast<double>(option(config, "dampening").integer);
    return settings;
}

struct Instance : Scorer {
    Instance(const spur_host*, const spur_config* config) : Scorer{settings_from(config)} {}
};

spur_status score(spur_plugin* self, const spur_cluster_view* view, spur_span queries, const spur_scores* out,
                  spur_error* err) {
    return guard(err, [&] {
        auto& scorer = self_cast<Instance>(self);
        scorer.set_view(*view);
        std::size_t i = 0;
        for (const auto& query : Records<spur_priority_query>{queries}) {
            const auto& answer = scorer.score(query);
            spur_put_score(out, i++, &answer.priority, answer.raw.data(), answer.weighted.data(),
                           static_cast<std::uint32_t>(answer.raw.size()));
        }
        return SPUR_OK;
    });
}

double decay(spur_plugin* self, std::int64_t from, std::int64_t to) {
    return self_cast<Instance>(self).decay(from, to);
}

spur_status factors(spur_plugin* self, const spur_factor_sink* sink, spur_error* err) {
    return guard(err, [&] {
        for (const auto& factor : self_cast<Instance>(self).factors())
            if (const auto told = spur_push_factor(sink, str(factor.name), factor.weight); told != SPUR_OK) return told;
        return SPUR_OK;
    });
}

spur_status shares(spur_plugin* self, const spur_cluster_view* view, spur_share* out, std::uint32_t stride,
                   spur_error* err) {
    return guard(err, [&] {
        auto& scorer = self_cast<Instance>(self);
        scorer.set_view(*view);
        std::size_t i = 0;
        for (const auto& share : scorer.shares())
            put_at(out, stride, i++,
                   {share.normalised_shares, share.normalised_usage, share.effective_usage, share.level, share.factor});
        return SPUR_OK;
    });
}

constexpr spur_priority_ops ops{.size = sizeof(spur_priority_ops),
                                .reserved = 0,
                                .score = score,
                                .decay = decay,
                                .factors = factors,
                                .shares = shares};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_PRIORITY_IFACE ? &ops : nullptr; }

constexpr std::int64_t most = 4'000'000'000;
constexpr spur_option options[] = {
    {"weight_age", SPUR_OPTION_INT, 0, "1000", "what a job that has waited for max_age gets", nullptr, 0, most},
    {"weight_fairshare", SPUR_OPTION_INT, 0, "10000", "what the users come to that used least of their share", nullptr,
     0, most},
    {"weight_job_size", SPUR_OPTION_INT, 0, "0", "what a job of the whole cluster gets", nullptr, 0, most},
    {"weight_partition", SPUR_OPTION_INT, 0, "1000",
     "what jobs get in the partition of the highest priority_job_factor", nullptr, 0, most},
    {"weight_qos", SPUR_OPTION_INT, 0, "10000", "what jobs of the QOS of the highest priority get", nullptr, 0, most},
    {"weight_tres", SPUR_OPTION_LIST, 0, nullptr,
     "what a job gets that asks for all of its partition: [\"cpu=1000\", \"gres/gpu=3000\"]", nullptr, 0, 0},
    {"weight_association", SPUR_OPTION_INT, 0, "1000", "what jobs of the association of the highest priority get",
     nullptr, 0, most},
    {"max_age", SPUR_OPTION_DURATION, 0, "7-00:00:00", "age at which the age factor is 1 and stops growing", nullptr, 1,
     3'153'600'000},
    {"half_life", SPUR_OPTION_DURATION, 0, "7-00:00:00",
     "time in which past usage loses half its weight, 0: never; spur.conf's fairshare_halflife_days unless given",
     nullptr, 0, 3'153'600'000},
    {"favor_small", SPUR_OPTION_BOOL, 0, "false", "small jobs get the job size factor, not large ones", nullptr, 0, 0},
    {"small_relative_to_time", SPUR_OPTION_BOOL, 0, "false", "the job size is its nodes over the minutes of its limit",
     nullptr, 0, 0},
    {"algorithm", SPUR_OPTION_CHOICE, 0, "fair_tree", "how shares and usage become a factor", "fair_tree|classic", 0,
     0},
    {"dampening", SPUR_OPTION_INT, 0, "1", "classic: divides the effect of usage", nullptr, 1, 65'533},
};
constexpr const char* interfaces[] = {SPUR_PRIORITY_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "priority/fairshare",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Age, fair-share, size, partition, QOS and TRES, each with a weight",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
