// Submitting, listing, signalling and changing jobs.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <set>

#include "core/machine/request_limits.hpp"
#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"
#include "core/slurm/signal.hpp"
#include "daemons/spurctld/service/audit.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/job_query.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "daemons/spurctld/service/updates.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t most_request_id_bytes = 256;
constexpr int few_ids = 16;  // answered at once, on the thread that reads requests

Uid owner_of(const v1::JobSpec& wire, const Actor& actor) { return wire.set_uid() ? wire.uid() : actor.uid; }

// The owner is the caller, or whom root or another daemon named: no rights in accounting make anybody somebody else.
Result<void> assign_owner(JobSpec& spec, const v1::JobSpec& wire, const Actor& actor, bool is_daemon,
                          std::uint32_t caller_gid, const Users::Records& owners) {
    const auto& user = owners.at(owner_of(wire, actor));
    if (user->uid == actor.uid) {
        spec.uid = actor.uid;
        // sbatch --gid: another of the user's own groups.
        if (!wire.set_uid() || wire.gid() == user->gid || is_daemon ||
            std::ranges::find(user->groups, wire.gid()) != user->groups.end())
            spec.gid = wire.set_uid() ? wire.gid() : (caller_gid == nobody ? user->gid : caller_gid);
        else
            return fail(refusal::invalid_group.with(": uid {} is not in group {}", spec.uid, wire.gid()));
    }
    spec.user_name = user->name;
    for (std::size_t i = 0; i < user->groups.size(); ++i)
        if (user->groups[i] == spec.gid) spec.group_name = user->group_names[i];
    return {};
}

Result<std::vector<JobSpec>> specs_of(const v1::SubmitRequest& request, const Actor& actor, bool is_daemon,
                                      std::uint32_t caller_gid, const Users::Records& owners) {
    if (request.components().empty()) return fail(ErrorCode::invalid, "the request contains no job");
    std::vector<JobSpec> specs;
    for (const auto& component : request.components()) {
        SPUR_TRY(auto spec, spec_from_wire(component));
        SPUR_CHECK(assign_owner(spec, component, actor, is_daemon, caller_gid, owners));
        specs.push_back(std::move(spec));
    }
    SPUR_CHECK(check_size(std::span<const JobSpec>{specs}));
    return specs;
}

// This record and no other: the id alone of an array's record would mean all its tasks.
JobRef own_ref(const Job& job) {
    JobRef ref;
    ref.job = job.array_job ? job.array_job.value : job.het_job ? job.het_job.value : job.id.value;
    if (job.array_pending) ref.tasks = *job.array_pending;
    if (job.array_task) ref.tasks.insert(*job.array_task);
    return ref;
}

}  // namespace

void Service::submit(const Call& call) {
    auto request = call.parse<v1::SubmitRequest>();
    if (!request) return refuse(call, request.error());
    std::set<Uid> owners;
    const auto who = actor(call);
    for (const auto& component : request->components()) owners.insert(owner_of(component, who));
    if (!authority_.is_daemon(who.uid) && std::ranges::any_of(owners, [&](Uid owner) { return owner != who.uid; }))
        return refuse(call, refusal::denied);
    users_.find_all_with_groups(owners,
                                [this, call, request = std::move(*request)](const Result<Users::Records>& found) {
                                    if (!found) return refuse(call, found.error());
                                    submit_as(call, request, *found);
                                });
}

OwnerGroups Service::groups_of(const Call& call, const UserRecord& owner) const {
    if (const auto& said = call.caller().groups; said && owner.uid == call.caller().uid) {
        OwnerGroups groups{.names = {said->begin(), said->end()}, .exempt = authority_.is_daemon(owner.uid)};
        for (std::size_t i = 0; i < owner.groups.size(); ++i)  // by number
            if (std::ranges::find(*said, std::to_string(owner.groups[i])) != said->end())
                groups.names.emplace_back(owner.group_names[i]);
        return groups;
    }
    return {{owner.group_names.begin(), owner.group_names.end()}, authority_.is_daemon(owner.uid)};
}

void Service::submit_as(const Call& call, const v1::SubmitRequest& request, const Users::Records& owners) {
    const auto who = actor(call);
    auto specs = specs_of(request, who, authority_.is_daemon(who.uid), call.caller().gid, owners);
    if (!specs) {
        hooks_.log(
            fmt::format("{}: submission by uid {} refused: {}", call.peer().address, who.uid, specs.error().text));
        return refuse(call, specs.error());
    }
    if (request.request_id().size() > most_request_id_bytes)
        return refuse(call, {ErrorCode::invalid, "the request's id is longer than any client makes it"});
    if (const auto leadership = engine_.leadership(); !leadership.is_leader)
        return refuse(call, {ErrorCode::unavailable, "this controller does not lead"});
    if (!hooks_.job_submit || hooks_.job_submit->empty()) {
        std::vector<SubmittedJob> jobs;
        for (auto& spec : *specs) jobs.push_back({std::move(spec), {}});
        return submit_checked(call, request, owners, std::move(jobs), {});
    }
    in_background([this, call, request, owners, specs = std::move(*specs)]() mutable {
        const auto model = engine_.model();
        std::vector<SubmittedJob> jobs;
        std::vector<std::string> notes;
        for (auto& spec : specs) {
            auto job = run_job_submit(*hooks_.job_submit, std::move(spec), *model, engine_.now(), notes);
            if (!job) {
                for (const auto& note : notes) job.error().text += "\n" + note;
                return refuse(call, job.error());
            }
            jobs.push_back(std::move(*job));
        }
        submit_checked(call, request, owners, std::move(jobs), notes);
    });
}

void Service::submit_checked(const Call& call, const v1::SubmitRequest& request, const Users::Records& owners,
                             std::vector<SubmittedJob> jobs, const std::vector<std::string>& notes) {
    const auto who = actor(call);
    const auto model = engine_.model();
    SubmitJob command{.components = {}, .actor = who, .request_id = request.request_id()};
    for (auto& job : jobs) {
        const auto groups = groups_of(call, *owners.at(job.spec.uid));
        auto valid = validate(*model, std::move(job.spec), who, engine_.now(), groups);
        if (!valid) return refuse(call, valid.error());
        job.spec = std::move(*valid);
        job.put_in_what_is_the_plugins();
        command.components.push_back(std::move(job.spec));
    }
    if (request.test_only()) return test_submission(call, model, command.components.front());
    change(call, std::move(command), [notes](const Events& events) {
        v1::SubmitReply reply;
        reply.mutable_warnings()->Assign(notes.begin(), notes.end());
        for (const auto& event : events)
            if (const auto* queued = std::get_if<JobQueued>(&event)) {
                reply.set_job_id(queued->job.value);
                break;
            }
        return reply.SerializeAsString();
    });
}

// What would become of it, asked of the plugins elsewhere.
void Service::test_submission(const Call& call, const std::shared_ptr<const planning::ReadModel>& model,
                              const JobSpec& spec) {
    Job job;
    job.id = model->next_job;
    while (model->find_job(job.id)) ++job.id.value;  // an id that went round
    job.submit_time = job.eligible_time = job.accrue_time = engine_.now();
    job.time_limit_min = spec.time_limit_min.value_or(unlimited);
    job.priority = spec.priority.value_or(1);
    job.priority_set = spec.priority.value_or(0) != 0;
    if (const auto* association = model->find_association(spec.account, spec.user_name, spec.partitions.front()))
        job.association = association->id;
    set_spec(job, std::make_shared<JobSpec>(spec));
    const auto answer = [this, call, job, model] {
        const auto now = engine_.now();
        const auto forecast = what_if_.forecast(*model, job, now);
        if (!forecast) return refuse(call, forecast.error());
        if (forecast->reason == Reason::bad_constraints || forecast->reason == Reason::partition_config)
            return refuse(call, refusal::node_config);
        v1::SubmitReply reply;
        reply.set_job_id(job.id.value);
        reply.set_expected_start(std::max(forecast->start, job.spec->begin.value_or(0)));
        if (forecast->start == 0) reply.set_expected_start(0);
        reply.set_expected_nodes(forecast->nodes);
        reply.set_cpus(forecast->cpus ? forecast->cpus : job.request->demand.min_cpus);
        reply.set_partition(forecast->partition.empty() ? job.spec->partitions.front().str() : forecast->partition);
        call.reply_with(reply);
    };
    what_if_.ask(answer, [this, call](const std::string& why) { refuse(call, {ErrorCode::unavailable, why}); });
}

void Service::list_jobs(const Call& call) {
    auto request = call.parse<v1::ListJobsRequest>();
    if (!request) return refuse(call, request.error());
    const auto answer = [this, call, request = std::move(*request)] {
        const auto model = engine_.model();
        v1::ListJobsReply reply;
        reply.set_version(model->version);
        reply.set_cluster(model->directory->cluster_name.str());
        reply.set_now(engine_.now());
        if (request.since_version() != 0 && request.since_version() == model->version) {
            reply.set_unchanged(true);
            return call.reply_with(reply);
        }
        const auto jobs = select_jobs(*model, request);
        if (!jobs) return refuse(call, jobs.error());
        const Privacy privacy{actor(call), *model};
        // Message after message makes one with all their jobs: one record is filled again and again, not thousands.
        auto bytes = reply.SerializeAsString();
        v1::ListJobsReply part;
        auto& record = *part.add_jobs();
        for (const auto& job : *jobs) {
            if (!privacy.shows(*job)) continue;
            const bool may_see = privacy.shows_secrets(*job);
            record.Clear();
            job_to_wire(*model, *job,
                        {.environment = request.with_environment() && may_see,
                         .spank_environment = may_see,
                         .script = false,
                         .steps = request.with_steps()},
                        record);
            part.AppendToString(&bytes);
        }
        call.reply(std::move(bytes));
    };
    if (request->ids_size() > 0 && request->ids_size() <= few_ids)
        answer();
    else
        in_background(answer);
}

void Service::get_script(const Call& call) {
    const auto request = call.parse<v1::GetScriptRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const auto& job = model->jobs.get(request->job_id());
    if (!job) return refuse(call, refusal::invalid_job_id);
    if (const auto who = actor(call); !who.is_operator() && who.uid != job->spec->uid)
        return refuse(call, refusal::denied);
    v1::GetScriptReply reply;
    reply.set_script(job->spec->script.str());
    call.reply_with(reply);
}

void Service::signal_jobs(const Call& call) {
    auto request = call.parse<v1::SignalJobsRequest>();
    if (!request) return refuse(call, request.error());
    std::optional<int> signal;
    if (!request->signal().empty()) {
        const auto parsed = parse_signal(request->signal());
        if (!parsed) return refuse(call, parsed.error());
        signal = *parsed;
    }
    const auto who = actor(call);
    const auto model = engine_.model();
    const auto command_for = [&](const JobRef& ref) -> Command {
        // The end of everything it runs is the end of the job; a dead batch shell ends it by itself.
        if (signal.value_or(SIGKILL) == SIGKILL && !ref.step && !request->batch_only()) return CancelJob{ref, who};
        return SignalJob{.job = ref,
                         .signal = static_cast<std::uint32_t>(signal.value_or(9)),
                         .batch_only = request->batch_only(),
                         .full = request->full(),
                         .actor = who};
    };
    if (const auto few = check_id_count(request->ids_size()); !few) return refuse(call, few.error());
    const auto selected = select_jobs(*model, *request);
    if (!selected) return refuse(call, selected.error());
    const bool filtered = request->users_size() + request->partitions_size() + request->names_size() +
                                  request->states_size() + request->accounts_size() + request->qos_size() +
                                  request->reservations_size() + request->wckeys_size() >
                              0 ||
                          !request->node_list().empty();
    const std::set<std::shared_ptr<const Job>> chosen{selected->begin(), selected->end()};
    std::vector<JobCommand> commands;
    for (const auto& text : request->ids()) {
        auto ref = JobRef::parse(text);
        if (!ref) {
            commands.push_back({text, fail(refusal::invalid_job_id)});
            continue;
        }
        if (filtered) {  // ids and filters: both must hold
            const auto named = find_jobs(*model, *ref);
            if (std::ranges::none_of(named, [&](const auto& job) { return chosen.contains(job); })) continue;
        }
        commands.push_back({text, command_for(*ref)});
    }
    if (request->ids().empty() && (filtered || request->with_filters()))
        for (const auto& job : *selected) {
            if (!who.is_operator() && job->spec->uid != who.uid) continue;
            if (job->het_job && std::ranges::any_of(*selected, [&](const auto& other) {
                    return other->het_job == job->het_job && other->het_offset < job->het_offset;
                }))
                continue;  // named by the first of its components that is meant
            commands.push_back({job->display_id(), command_for(own_ref(*job))});
        }
    change_jobs(call, std::move(commands));
}

// Whoever wants to move a job into another partition must be in a group that may use it, so the owner's are asked for.
void Service::update_jobs(const Call& call) {
    auto request = call.parse<v1::UpdateJobsRequest>();
    if (!request) return refuse(call, request.error());
    if (const auto few = check_id_count(request->ids_size()); !few) return refuse(call, few.error());
    std::set<Uid> owners;
    const auto model = engine_.model();
    if (request->action() == v1::UpdateJobsRequest::UPDATE && request->changes().contains("partition") &&
        !actor(call).is_operator()) {
        for (const auto& text : request->ids())
            if (const auto ref = JobRef::parse(text))
                for (const auto& job : find_jobs(*model, *ref)) owners.insert(job->spec->uid);
    }
    users_.find_all_with_groups(owners,
                                [this, call, request = std::move(*request)](const Result<Users::Records>& found) {
                                    if (!found) return refuse(call, found.error());
                                    update_jobs_of(call, request, *found);
                                });
}

void Service::update_jobs_of(const Call& call, const v1::UpdateJobsRequest& request, const Users::Records& owners) {
    const auto who = actor(call);
    const auto model = engine_.model();
    const auto now = engine_.now();
    const auto update = [&](const JobRef& ref) -> Result<Command> {
        const auto jobs = find_jobs(*model, ref);
        if (jobs.empty()) return fail(refusal::invalid_job_id);
        SPUR_TRY(auto changes, job_changes(request.changes(), *jobs.front(), *model, now));
        UpdateJob command{.job = ref, .changes = std::move(changes), .actor = who, .recheck = !who.is_operator()};
        if (const auto owner = owners.find(jobs.front()->spec->uid); owner != owners.end())
            command.owner_groups = groups_of(call, *owner->second);
        return command;
    };
    const auto command_for = [&](const JobRef& ref) -> Result<Command> {
        using Request = v1::UpdateJobsRequest;
        switch (request.action()) {
            case Request::UPDATE:
                return update(ref);
            case Request::HOLD:
                return HoldJob{ref, who, false};
            case Request::USER_HOLD:
                return HoldJob{ref, who, true};
            case Request::RELEASE:
                return ReleaseJob{ref, who};
            case Request::REQUEUE:
                return RequeueJob{.job = ref, .actor = who};
            case Request::REQUEUE_HOLD:
                return RequeueJob{
                    .job = ref, .actor = who, .hold = true, .special_exit = request.changes().contains("state")};
            case Request::SUSPEND:
                return SuspendJob{ref, who};
            case Request::RESUME:
                return ResumeJob{ref, who};
            case Request::TOP:  // as in Slurm, where nobody said enable_user_top
                if (!who.is_operator()) return fail(refusal::denied);
                return TopJob{ref, who};
            default:
                return fail(ErrorCode::invalid, "this controller does not know that action");
        }
    };
    const auto note_for = [&](const JobRef& ref) {
        if (request.action() != v1::UpdateJobsRequest::UPDATE) return std::string{};
        return fmt::format("job {}: updated by {}: {}", ref.str(), audited(who), list_changes(request.changes()));
    };
    std::vector<JobCommand> commands;
    for (const auto& text : request.ids()) {
        auto ref = JobRef::parse(text);
        if (ref)
            commands.push_back({text, command_for(*ref), note_for(*ref)});
        else
            commands.push_back({text, fail(refusal::invalid_job_id)});
    }
    change_jobs(call, std::move(commands));
}

}  // namespace spur::ctld
