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
    // What the launch has in fields of its own is left out here.
    auto& rest = *wire.mutable_job()->mutable_spec();
    rest.clear_uid();
    rest.clear_gid();
    rest.clear_user_name();
    rest.clear_work_dir();
    rest.clear_std_in();
    rest.clear_std_out();
    rest.clear_std_err();
    rest.clear_umask();
    rest.clear_rlimits();
    rest.clear_signal();
}

LaunchBody::LaunchBody(const planning::ReadModel& model, std::shared_ptr<const Job> job, Users::Record owner)
    : job_{std::move(job)}, owner_{std::move(owner)} {
    if (job_->has_script() && job_->allocation->shares.size() == 1) return;  // the script's node has a body of its own
    v1::ControllerMessage message;
    job_launch(model, *job_, *owner_, *message.mutable_start()->mutable_job());
    common_ = message.SerializeAsString();
}

std::string LaunchBody::message(const planning::ReadModel& model, std::size_t index, UnixSeconds now) const {
    const bool runs_script = index == 0 && job_->has_script();
    v1::ControllerMessage own;
    own.set_version(model.version);
    auto& wire = runs_script ? *own.mutable_launch()->mutable_job() : *own.mutable_start()->mutable_job();
    if (runs_script) add_script(model, *own.mutable_launch());
    if (job_->time_limit_min != unlimited && job_->end_time != 0) wire.set_remaining_s(job_->end_time - now);
    wire.set_node_index(static_cast<std::uint32_t>(index));
    share_to_wire(model, job_->allocation->shares[index], *wire.mutable_share());
    if (runs_script) return own.SerializeAsString();
    auto whole = common_;
    own.AppendToString(&whole);
    return whole;
}

// Only the script's environment speaks of the other nodes; a thousand nodes need not hear of each other.
void LaunchBody::add_script(const planning::ReadModel& model, v1::LaunchBatch& batch) const {
    auto& wire = *batch.mutable_job();
    job_launch(model, *job_, *owner_, wire);
    for (const auto& share : job_->allocation->shares) share_to_wire(model, share, *wire.add_shares());
    if (job_->het_job)
        model.for_each_member(
            job_->het_job, [&](const Job& component) { job_to_wire(model, component, bare, *wire.add_components()); });
    batch.set_script(job_->spec->script.str());
    for (const auto& argument : job_->spec->argv) batch.add_argv(argument.str());
    add_environment(job_->spec->environment, batch);
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
