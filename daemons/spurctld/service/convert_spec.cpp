// A job's or step's request between the core's values and the wire's messages.
#include <string_view>

#include "core/machine/request_limits.hpp"
#include "core/text/quote.hpp"
#include "daemons/spurctld/service/convert.hpp"

// Each field once, for both directions.
#define SPUR_SPEC_TEXTS(X)                                                                                           \
    X(name)                                                                                                          \
    X(script)                                                                                                        \
    X(work_dir)                                                                                                      \
    X(std_in) X(std_out) X(std_err) X(account) X(qos) X(reservation) X(features) X(prefer) X(node_list)              \
        X(exclude_nodes) X(licenses) X(wckey) X(comment) X(admin_comment) X(alloc_node) X(gres_per_node)             \
            X(gres_per_job) X(gres_per_task) X(gres_per_socket) X(tres_per_task) X(distribution) X(hint) X(cpu_bind) \
                X(gpu_bind) X(mem_bind) X(dependency) X(array) X(mail_user) X(signal) X(mcs_label) X(burst_buffer)   \
                    X(profile) X(container) X(extra) X(network) X(submit_line) X(std_out_mode) X(command)            \
                        X(gres_flags)

#define SPUR_SPEC_OPTIONALS(X)                                                                                        \
    X(open_mode_append)                                                                                               \
    X(min_nodes)                                                                                                      \
    X(max_nodes)                                                                                                      \
    X(tasks) X(cpus_per_task) X(tasks_per_node) X(tasks_per_socket) X(tasks_per_core) X(tasks_per_gpu)                \
        X(min_cpus_per_node) X(mem_per_node_mib) X(mem_per_cpu_mib) X(mem_per_gpu_mib) X(min_tmp_mib) X(cpus_per_gpu) \
            X(sockets_per_node) X(cores_per_socket) X(threads_per_core) X(oversubscribe) X(overcommit) X(contiguous)  \
                X(spread) X(use_min_nodes) X(core_spec) X(switches) X(switches_wait_s) X(time_limit_min)              \
                    X(time_min_min) X(begin) X(deadline) X(kill_on_invalid_dependency) X(priority) X(nice) X(hold)    \
                        X(requeue) X(reboot) X(immediate_s) X(no_kill) X(wait_all_nodes) X(delay_boot_s)              \
                            X(kill_on_bad_exit)

#define SPUR_STEP_TEXTS(X) \
    X(name)                \
    X(gres_per_node)       \
    X(gres_per_step)       \
    X(gres_per_task) X(node_list) X(exclude_nodes) X(distribution) X(submit_host) X(cpu_bind) X(gpu_bind)
#define SPUR_STEP_OPTIONALS(X) \
    X(min_nodes)               \
    X(max_nodes)               \
    X(tasks)                   \
    X(cpus_per_task) X(tasks_per_node) X(tasks_per_gpu) X(mem_per_node_mib) X(mem_per_cpu_mib) X(time_limit_min)

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

}  // namespace

Result<JobSpec> spec_from_wire(const v1::JobSpec& wire) {
    JobSpec spec;
#define SPUR_TAKE(field)                          \
    SPUR_CHECK(refuse_nul(#field, wire.field())); \
    if (!wire.field().empty()) spec.field = wire.field();
    SPUR_SPEC_TEXTS(SPUR_TAKE)
#undef SPUR_TAKE
#define SPUR_TAKE(field) \
    if (wire.has_##field()) spec.field = wire.field();
    SPUR_SPEC_OPTIONALS(SPUR_TAKE)
#undef SPUR_TAKE
    SPUR_TRY(spec.environment, pack_environment(wire));
    for (const auto& argument : wire.argv()) {
        SPUR_CHECK(refuse_nul("argv", argument));
        spec.argv.emplace_back(argument);
    }
    for (const auto& partition : wire.partitions()) {
        SPUR_CHECK(refuse_nul("partitions", partition));
        spec.partitions.emplace_back(partition);
    }
    for (const auto& pair : wire.spank_environment()) {
        SPUR_CHECK(refuse_nul("spank_environment", pair));
        spec.spank_environment.emplace_back(pair);
    }
    for (const auto& limit : wire.rlimits()) spec.rlimits.push_back({limit.name(), limit.soft(), limit.hard()});
    spec.umask = wire.umask() & 0777;
    spec.uid = wire.uid();
    spec.gid = wire.gid();
    spec.alloc_sid = wire.alloc_sid();
    spec.mail_type = wire.mail_type();
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
#define SPUR_GIVE(field) \
    if (!spec.field.empty()) wire.set_##field(spec.field.str());
    SPUR_SPEC_TEXTS(SPUR_GIVE)
#undef SPUR_GIVE
#define SPUR_GIVE(field) \
    if (spec.field) wire.set_##field(*spec.field);
    SPUR_SPEC_OPTIONALS(SPUR_GIVE)
#undef SPUR_GIVE
    if (!detail.script) wire.clear_script();
    if (detail.environment) unpack_environment(spec.environment, wire);
    for (const auto& argument : spec.argv) wire.add_argv(argument.str());
    for (const auto& partition : spec.partitions) wire.add_partitions(partition.str());
    if (detail.spank_environment)
        for (const auto& pair : spec.spank_environment) wire.add_spank_environment(pair.str());
    for (const auto& limit : spec.rlimits) {
        auto& out = *wire.add_rlimits();
        out.set_name(limit.name.str());
        out.set_soft(limit.soft);
        out.set_hard(limit.hard);
    }
    wire.set_umask(spec.umask);
    wire.set_uid(spec.uid);
    wire.set_gid(spec.gid);
    wire.set_user_name(spec.user_name.str());
    wire.set_alloc_sid(spec.alloc_sid);
    wire.set_mail_type(spec.mail_type);
    if (spec.exclusive) wire.set_exclusive(static_cast<std::uint32_t>(*spec.exclusive));
    wire.set_kind(static_cast<v1::JobSpec::Kind>(spec.kind));
}

Result<StepSpec> step_spec_from_wire(const v1::CreateStepRequest& wire) {
    StepSpec spec;
#define SPUR_TAKE(field)                          \
    SPUR_CHECK(refuse_nul(#field, wire.field())); \
    if (!wire.field().empty()) spec.field = wire.field();
    SPUR_STEP_TEXTS(SPUR_TAKE)
#undef SPUR_TAKE
#define SPUR_TAKE(field) \
    if (wire.has_##field()) spec.field = wire.field();
    SPUR_STEP_OPTIONALS(SPUR_TAKE)
#undef SPUR_TAKE
    if (wire.has_relative()) spec.relative = wire.relative();
    spec.overlap = wire.overlap();
    spec.exact = wire.exact();
    spec.exclusive = wire.exclusive();
    spec.overcommit = wire.overcommit();
    spec.interactive = wire.interactive();
    if (wire.has_step_id()) spec.number = wire.step_id();
    spec.first_task = wire.first_task();
    SPUR_CHECK(check_size(spec));
    return spec;
}

}  // namespace spur::ctld
