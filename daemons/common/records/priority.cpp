// Priorities and shares as sprio's and sshare's users know them. One row a field.
#include "daemons/common/records/priority.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spur::records {
namespace {

double at(const google::protobuf::RepeatedField<double>& list, int i) { return i < list.size() ? list.Get(i) : 0; }

template <int factor>
Value weighted(const PriorityView& view) {
    return fmt::format("{:.0f}", view.job ? at(view.job->weighted(), factor) : at(view.reply.weights(), factor));
}
template <int factor>
Value raw(const PriorityView& view) {
    if (view.job) return fmt::format("{:.7f}", at(view.job->raw(), factor));
    return fmt::format("{:.0f}", at(view.reply.weights(), factor));
}
template <int factor>
Value by_weighted(const PriorityView& view) {
    return at(view.job->weighted(), factor);
}
template <int factor>
Value by_raw(const PriorityView& view) {
    return at(view.job->raw(), factor);
}
template <auto Get>
Value of_job(const PriorityView& view) {
    return view.job ? Value{(view.job->*Get)()} : Value{};
}

std::string parts_text(const google::protobuf::RepeatedPtrField<v1::TresTime>& parts, double whole, int digits) {
    if (parts.empty()) return whole == 0 ? std::string{} : fmt::format("{:.{}f}", whole, digits);
    std::string text;
    for (const auto& part : parts)
        text += fmt::format("{}{}={:.{}f}", text.empty() ? "" : ",", part.name(), part.seconds(), digits);
    return text;
}
Value weighted_tres(const PriorityView& view) {
    if (!view.job) return view.reply.tres_weights();
    return parts_text(view.job->tres_weighted(), at(view.job->weighted(), factor::tres), 0);
}
Value raw_tres(const PriorityView& view) {
    return view.job ? Value{parts_text(view.job->tres_raw(), at(view.job->raw(), factor::tres), 2)} : Value{};
}
Value sum_of(const PriorityView& view) {
    double sum = 0;
    for (const auto value : view.job->weighted()) sum += value;
    sum -= static_cast<double>(view.job->nice());
    return view.job->weighted().empty() || sum < 1 ? static_cast<double>(view.job->total()) : sum;
}
Value normalised_sum(const PriorityView& view) {
    return view.job ? Value{fmt::format("{:.14f}", sum_of(view).real() / 4294967295.0)} : Value{};
}

using P = v1::JobPriority;
constexpr auto cut = Cut::always;

// clang-format off
constexpr PriorityField priorities[] = {
    {.listing = {'i', nullptr, "JOBID", cut, true}, .member = "job_id", .type = Type::count, .absent = {"Weights"},
     .get = of_job<&P::id>},
    {.listing = {'r', nullptr, "PARTITION", cut, true}, .member = "partition", .absent = {""},
     .get = of_job<&P::partition>},
    {.listing = {'u', nullptr, "USER", cut, true}, .member = "user_id", .absent = {""}, .get = of_job<&P::user>},
    {.listing = {'o', nullptr, "ACCOUNT", cut, true}, .absent = {""}, .get = of_job<&P::account>},
    {.listing = {'n', nullptr, "QOSNAME"}, .absent = {""}, .get = of_job<&P::qos>},
    {.listing = {'Y', nullptr, "PRIORITY", cut, true}, .type = Type::count, .absent = {""},
     .get = of_job<&P::total>, .sort = sum_of},
    {.listing = {'y', nullptr, "PRIORITY", cut, true}, .absent = {""}, .get = normalised_sum, .sort = sum_of},
    {.listing = {'S', nullptr, "SITE", cut, true}, .member = "priority_site",
     .get = weighted<factor::site>, .sort = by_weighted<factor::site>},
    {.listing = {'A', nullptr, "AGE", cut, true}, .member = "priority_age",
     .get = weighted<factor::age>, .sort = by_weighted<factor::age>},
    {.listing = {'a', nullptr, "AGE", cut, true}, .get = raw<factor::age>, .sort = by_raw<factor::age>},
    {.listing = {'B', nullptr, "ASSOC", cut, true}, .member = "priority_assoc",
     .get = weighted<factor::association>, .sort = by_weighted<factor::association>},
    {.listing = {'b', nullptr, "ASSOC", cut, true},
     .get = raw<factor::association>, .sort = by_raw<factor::association>},
    {.listing = {'F', nullptr, "FAIRSHARE", cut, true}, .member = "priority_fs",
     .get = weighted<factor::fairshare>, .sort = by_weighted<factor::fairshare>},
    {.listing = {'f', nullptr, "FAIRSHARE", cut, true},
     .get = raw<factor::fairshare>, .sort = by_raw<factor::fairshare>},
    {.listing = {'J', nullptr, "JOBSIZE", cut, true}, .member = "priority_js",
     .get = weighted<factor::job_size>, .sort = by_weighted<factor::job_size>},
    {.listing = {'j', nullptr, "JOBSIZE", cut, true}, .get = raw<factor::job_size>, .sort = by_raw<factor::job_size>},
    {.listing = {'P', nullptr, "PARTITION", cut, true}, .member = "priority_part",
     .get = weighted<factor::partition>, .sort = by_weighted<factor::partition>},
    {.listing = {'p', nullptr, "PARTITION", cut, true},
     .get = raw<factor::partition>, .sort = by_raw<factor::partition>},
    {.listing = {'Q', nullptr, "QOS", cut, true}, .member = "priority_qos",
     .get = weighted<factor::qos>, .sort = by_weighted<factor::qos>},
    {.listing = {'q', nullptr, "QOS", cut, true}, .get = raw<factor::qos>, .sort = by_raw<factor::qos>},
    {.listing = {'N', nullptr, "NICE", cut, true}, .member = "nice", .type = Type::number, .absent = {""},
     .get = of_job<&P::nice>},
    {.listing = {'T', nullptr, "TRES", cut, true}, .member = "priority_tres", .absent = {""},
     .get = weighted_tres, .sort = by_weighted<factor::tres>},
    {.listing = {'t', nullptr, "TRES", cut, true}, .absent = {""}, .get = raw_tres, .sort = by_raw<factor::tres>},
    {.listing = {'c', nullptr, "CLUSTER"}, .member = "cluster_name",
     .get = [](const PriorityView&) -> Value { return {}; }},
};
// clang-format on

// ---- shares --------------------------------------------------------------------------------------------------------

// Every resource that is tracked, in minutes.
std::string minutes_text(const ShareView& view, const google::protobuf::RepeatedPtrField<v1::TresTime>& times) {
    std::string text;
    for (const auto& name : view.reply.tres()) {
        double seconds = 0;
        for (const auto& entry : times)
            if (entry.name() == name) seconds = entry.seconds();
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, static_cast<std::uint64_t>(seconds / 60));
    }
    return text;
}
Value group_minutes(const ShareView& view) {
    std::string text;
    for (const auto& entry : view.association().limits().grp_tres_mins())
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", entry.name(), entry.count());
    return text;
}
Value level_of(const ShareView& view) {
    if (view.is_root() || view.association().shares_parent()) return {};
    return std::isinf(view.share.level()) ? Value{"inf"} : Value{view.share.level()};
}
Value factor_of(const ShareView& view) {
    return view.reply.fair_tree() && view.association().user().empty() ? Value{} : Value{view.share.factor()};
}
Value shares_of(const ShareView& view) {
    if (view.is_root()) return {};
    return view.association().shares_parent() ? Value{"parent"} : Value{view.association().shares()};
}
template <auto Get>
Value of_association(const ShareView& view) {
    return (view.association().*Get)();
}
template <auto Get>
Value of_share(const ShareView& view) {
    return (view.share.*Get)();
}

constexpr Listing column(const char* header, int width) { return {.header = header, .width = width}; }

// clang-format off
constexpr ShareField shares[] = {
    {.listing = column("Account", -20),
     .get = [](const ShareView& view) -> Value { return std::string(view.depth, ' ') + view.association().account(); }},
    {.listing = column("Cluster", 10),
     .get = [](const ShareView& view) -> Value { return view.reply.cluster(); }},
    {.listing = column("EffectvUsage", 13), .type = Type::real,
     .get = of_share<&v1::Share::effective_usage>},
    {.listing = column("FairShare", 10), .type = Type::real, .get = factor_of},
    {.listing = column("GrpTRESMins", 30), .get = group_minutes},
    {.listing = column("GrpTRESRaw", 30),
     .get = [](const ShareView& view) -> Value { return minutes_text(view, view.association().usage().tres_time()); }},
    {.listing = column("ID", 6), .type = Type::count,
     .get = of_association<&v1::Association::id>},
    {.listing = column("LevelFS", 10), .type = Type::real, .get = level_of},
    {.listing = column("NormShares", 11), .type = Type::real,
     .get = of_share<&v1::Share::normalised_shares>},
    {.listing = column("NormUsage", 11), .type = Type::real,
     .get = [](const ShareView& view) { return view.is_root() ? Value{} : Value{view.share.normalised_usage()}; }},
    {.listing = column("Partition", 12), .get = of_association<&v1::Association::partition>},
    {.listing = column("RawShares", 10), .type = Type::count, .get = shares_of},
    {.listing = column("RawUsage", 11), .type = Type::count,
     .get = [](const ShareView& view) -> Value {
         return static_cast<std::uint64_t>(view.association().usage().raw());
     }},
    {.listing = column("TRESRunMins", 30),
     .get = [](const ShareView& view) -> Value { return minutes_text(view, view.association().usage().run_left()); }},
    {.listing = column("User", 10), .get = of_association<&v1::Association::user>},
};
// clang-format on

}  // namespace

std::span<const PriorityField> priority_fields() { return priorities; }
double weight_of(const v1::ListPrioritiesReply& reply, int factor) { return at(reply.weights(), factor); }
std::span<const ShareField> share_fields() { return shares; }

}  // namespace spur::records
