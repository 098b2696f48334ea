// A request between the core and the wire. The members and their kinds are listed in core/model/job_spec.hpp.
#include <string_view>
#include <type_traits>

#include "core/base/members.hpp"
#include "core/machine/request_limits.hpp"
#include "core/text/quote.hpp"
#include "daemons/spurctld/service/convert.hpp"

namespace spur::ctld {

namespace {

// KEY=VALUE pairs, each ended by a NUL: one shared block instead of a hundred strings.
Result<Text> pack_environment(const v1::JobSpec& wire) {
    std::string packed;
    for (const auto& pair : wire.environment()) {
        if (pair.find('\0') != std::string::npos || pair.find('=') == std::string::npos)
            return fail(ErrorCode::invalid, "environment entry {} is not KEY=VALUE", quote(pair));
        packed.append(pair).push_back('\0');
    }
    return Text{packed};
}

void unpack_environment(std::string_view packed, v1::JobSpec& wire) {
    while (!packed.empty()) {
        const auto end = packed.find('\0');
        wire.add_environment(std::string{packed.substr(0, end)});
        packed.remove_prefix(end == std::string_view::npos ? packed.size() : end + 1);
    }
}

Result<void> refuse_nul(std::string_view what, std::string_view text) {
    if (text.find('\0') != std::string_view::npos) return fail(ErrorCode::invalid, "{} contains a NUL character", what);
    return {};
}

// One member, whatever its kind; `has` is for those that may be absent.
Result<void> take(std::string_view what, const std::string& wire, bool, Text& to) {
    SPUR_CHECK(refuse_nul(what, wire));
    if (!wire.empty()) to = wire;
    return {};
}
template <class Wire, class T>
Result<void> take(std::string_view, const Wire& wire, bool has, std::optional<T>& to) {
    if (has) to = wire;
    return {};
}
template <class T>
Result<void> take(std::string_view, const T& wire, bool, T& to) {
    to = wire;
    return {};
}
Result<void> take(std::string_view what, const google::protobuf::RepeatedPtrField<std::string>& wire, bool,
                  std::vector<Text>& to) {
    for (const auto& text : wire) {
        SPUR_CHECK(refuse_nul(what, text));
        to.emplace_back(text);
    }
    return {};
}

#define SPUR_TAKE(number, member, ...)                                              \
    {                                                                               \
        bool has = true;                                                            \
        if constexpr (requires { wire.has_##member(); }) has = wire.has_##member(); \
        SPUR_CHECK(take(#member, wire.member(), has, spec.member));                 \
    }
#define SPUR_GIVE(number, member, ...)                                                     \
    if constexpr (std::is_same_v<decltype(spec.member), Text>) {                           \
        if (!spec.member.empty()) wire.set_##member(spec.member.str());                    \
    } else if constexpr (requires { spec.member.has_value(); }) {                          \
        if (spec.member) wire.set_##member(*spec.member);                                  \
    } else if constexpr (requires { spec.member.size(); }) {                               \
        for (const auto& text : spec.member) *wire.mutable_##member()->Add() = text.str(); \
    } else {                                                                               \
        wire.set_##member(spec.member);                                                    \
    }
#define SPUR_BY_HAND(number, member)

template <class Wire>
Result<void> take_all(const Wire& wire, JobSpec& spec) {
    SPUR_JOB_SPEC(SPUR_TAKE, SPUR_TAKE, SPUR_BY_HAND)
    return {};
}

template <class Spec, class Wire>
void give_all(const Spec& spec, Wire& wire) {
    SPUR_JOB_SPEC(SPUR_GIVE, SPUR_GIVE, SPUR_BY_HAND)
}

// clang-format off
#define SPUR_STEP_SPEC(X) \
    X(0, name) X(0, min_nodes) X(0, max_nodes) X(0, tasks) X(0, cpus_per_task) X(0, tasks_per_node) X(0, tasks_per_gpu)   \
    X(0, mem_per_node_mib) X(0, mem_per_cpu_mib) X(0, gres_per_node) X(0, gres_per_step) X(0, gres_per_task)              \
    X(0, node_list) X(0, exclude_nodes) X(0, relative) X(0, distribution) X(0, overlap) X(0, exact) X(0, exclusive)       \
    X(0, overcommit) X(0, interactive) X(0, first_task) X(0, time_limit_min) X(0, submit_host) X(0, srun_pid)             \
    X(0, cpu_bind) X(0, gpu_bind)
// clang-format on
#define SPUR_ONE(...) +1
static_assert(SPUR_STEP_SPEC(SPUR_ONE) + 1 == member_count<StepSpec>(),
              "all but `number`, which the wire calls step_id");
static_assert(SPUR_JOB_SPEC(SPUR_ONE, SPUR_ONE, SPUR_ONE) == member_count<JobSpec>(), "a member is not in the list");

template <class Wire>
Result<void> take_all(const Wire& wire, StepSpec& spec) {
    SPUR_STEP_SPEC(SPUR_TAKE)
    return {};
}

}  // namespace

Result<JobSpec> spec_from_wire(const v1::JobSpec& wire) {
    JobSpec spec;
    SPUR_CHECK(take_all(wire, spec));
    SPUR_CHECK(take("script", wire.script(), true, spec.script));
    SPUR_TRY(spec.environment, pack_environment(wire));
    for (const auto& limit : wire.rlimits()) spec.rlimits.push_back({limit.name(), limit.soft(), limit.hard()});
    spec.umask = wire.umask() & 0777;
    if (wire.has_exclusive()) {
        if (wire.exclusive() > 3)
            return fail(ErrorCode::invalid, "exclusive={} is not one of 0 to 3", wire.exclusive());
        spec.exclusive = static_cast<Exclusive>(wire.exclusive());
    }
    switch (wire.kind()) {
        case v1::JobSpec::BATCH:
            spec.kind = JobKind::batch;
            break;
        case v1::JobSpec::ALLOCATION:
            spec.kind = JobKind::allocation;
            break;
        case v1::JobSpec::STEP_ALLOCATION:
            spec.kind = JobKind::step_allocation;
            break;
        default:
            return fail(ErrorCode::invalid, "job kind {} is unknown to this controller", static_cast<int>(wire.kind()));
    }
    return spec;
}

void spec_to_wire(const JobSpec& spec, const JobDetail& detail, v1::JobSpec& wire) {
    give_all(spec, wire);
    if (detail.script) wire.set_script(spec.script.str());
    if (detail.environment) unpack_environment(spec.environment, wire);
    if (!detail.spank_environment) wire.clear_spank_environment();
    for (const auto& limit : spec.rlimits) {
        auto& out = *wire.add_rlimits();
        out.set_name(limit.name.str());
        out.set_soft(limit.soft);
        out.set_hard(limit.hard);
    }
    wire.set_umask(spec.umask);
    wire.set_user_name(spec.user_name.str());
    if (spec.exclusive) wire.set_exclusive(static_cast<std::uint32_t>(*spec.exclusive));
    wire.set_kind(static_cast<v1::JobSpec::Kind>(spec.kind));
}

Result<StepSpec> step_spec_from_wire(const v1::CreateStepRequest& wire) {
    StepSpec spec;
    SPUR_CHECK(take_all(wire, spec));
    if (wire.has_step_id()) spec.number = wire.step_id();
    SPUR_CHECK(check_size(spec));
    return spec;
}

}  // namespace spur::ctld
