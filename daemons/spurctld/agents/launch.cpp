// Building the messages that start and end a job on a node.
#include "daemons/spurctld/agents/launch.hpp"

#include "daemons/spurctld/service/convert.hpp"

namespace spur::ctld {

namespace {

constexpr JobDetail bare{.spank_environment = true};

void add_environment(std::string_view packed, v1::LaunchBatch& batch) {
    while (!packed.empty()) {
        const auto end = packed.find('\0');
        batch.add_environment(std::string{packed.substr(0, end)});
        packed.remove_prefix(end == std::string_view::npos ? packed.size() : end + 1);
    }
}

std::string why_ending(const Job& job) {
    switch (job.state) {
        case JobState::cancelled:
            return "CANCELLED";
        case JobState::timeout:
            return "DUE TO TIME LIMIT";
        case JobState::preempted:
            return "DUE TO PREEMPTION";
        case JobState::node_fail:
            return "DUE TO NODE FAILURE";
        case JobState::deadline:
            return "DUE TO DEADLINE";
        default:
            return "";
    }
}

}  // namespace

void job_launch(const planning::ReadModel& model, const Job& job, const UserRecord& owner, v1::JobLaunch& wire) {
    const auto& spec = *job.spec;
    wire.set_job_id(job.id.value);
    wire.set_attempt(job.attempt);
    wire.set_uid(spec.uid);
    wire.set_gid(spec.gid);
    wire.set_user_name(spec.user_name.str());
    for (const auto gid : owner.groups) wire.add_groups(gid);
    wire.set_work_dir(spec.work_dir.str());
    wire.set_std_in(spec.std_in.str());
    wire.set_std_out(spec.std_out.str());
    wire.set_std_err(spec.std_err.str());
    wire.set_append(spec.open_mode_append.value_or(false));
    wire.set_umask(spec.umask);
    for (const auto& limit : spec.rlimits) {
        auto& out = *wire.add_rlimits();
        out.set_name(limit.name.str());
        out.set_soft(limit.soft);
        out.set_hard(limit.hard);
    }
    wire.set_end_time(job.time_limit_min == unlimited ? 0 : job.end_time);
    wire.set_signal(spec.signal.str());
    job_to_wire(model, job, bare, *wire.mutable_job());
    wire.mutable_job()->clear_shares();
}

v1::ControllerMessage launch_message(const planning::ReadModel& model, const Job& job, const UserRecord& owner,
                                     std::size_t index, UnixSeconds now) {
    v1::ControllerMessage message;
    const bool runs_script = index == 0 && job.has_script();
    auto& wire = runs_script ? *message.mutable_launch()->mutable_job() : *message.mutable_start()->mutable_job();
    job_launch(model, job, owner, wire);
    if (wire.end_time() != 0) wire.set_remaining_s(wire.end_time() - now);
    wire.set_node_index(static_cast<std::uint32_t>(index));
    share_to_wire(model, job.allocation->shares[index], *wire.mutable_share());
    if (!runs_script) return message;

    // Only the script's environment speaks of the other nodes; a thousand nodes need not hear of each other.
    for (const auto& share : job.allocation->shares) share_to_wire(model, share, *wire.add_shares());
    for (const auto& component : het_components(model, job))
        job_to_wire(model, *component, bare, *wire.add_components());
    auto& batch = *message.mutable_launch();
    batch.set_script(job.spec->script.str());
    for (const auto& argument : job.spec->argv) batch.add_argv(argument.str());
    add_environment(job.spec->environment, batch);
    return message;
}

v1::ControllerMessage end_message(const Job& job, std::string why) {
    v1::ControllerMessage message;
    auto& end = *message.mutable_end();
    end.set_job_id(job.id.value);
    end.set_attempt(job.attempt);
    end.set_why(std::move(why));
    end.set_run_epilog(true);
    end.set_state(std::string{to_string(job.state)});
    return message;
}

v1::ControllerMessage end_message(const Job& job) { return end_message(job, why_ending(job)); }

}  // namespace spur::ctld
