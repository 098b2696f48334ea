#include "daemons/spurctld/agents.hpp"

#include <algorithm>
#include <condition_variable>

#include "core/hostlist.hpp"
#include "daemons/spurctld/launch.hpp"

namespace spur::ctld {

namespace {

constexpr int missed_heartbeats = 3;                 // so many in a row and the session counts as dead
constexpr std::chrono::seconds settle_time{10};      // a new leader gives agents so long to find it
constexpr std::chrono::seconds launch_patience{60};  // for a directory service to say what groups a job's owner is in

GresPool pool_from_wire(const v1::Gres& gres) {
    return {.name = gres.name(), .type = gres.type(), .count = gres.count(), .has_devices = gres.name() == "gpu"};
}

// What an agent says about its devices, within reason: numbers that are out of range are left out.
void add_devices(const v1::Node& found, NodeRegistered& command) {
    constexpr std::uint32_t highest_device = 1024, highest_core = 65'536;
    constexpr int most_links = 65'536;
    for (const auto& place : found.gpu_places()) {
        if (place.index() >= highest_device || command.gpu_places.size() >= highest_device) continue;
        auto& kept = command.gpu_places.emplace_back();
        kept.index = place.index();
        kept.failed = place.failed();
        if (place.has_socket()) kept.socket = place.socket();
        for (const auto core : place.cores())
            if (core < highest_core) kept.cores.add(core);
    }
    for (int i = 0; i < std::min(found.gpu_links_size(), most_links); ++i)
        if (const auto& link = found.gpu_links(i); link.from() < highest_device && link.to() < highest_device)
            command.gpu_links.push_back({link.from(), link.to(), link.kind(), link.weight()});
}

NodeRegistered registration(NodeId id, const v1::Register& request) {
    const auto& found = request.node();
    NodeRegistered command{
        .node = id,
        .topology = {.boards = 1,
                     .sockets = static_cast<std::uint16_t>(found.sockets()),
                     .cores_per_socket = static_cast<std::uint16_t>(found.cores_per_socket()),
                     .threads_per_core = static_cast<std::uint16_t>(found.threads_per_core())},
        .cpus = found.cpus(),
        .memory_mib = found.memory_mib(),
        .tmp_mib = found.tmp_mib(),
        .boot_id = request.boot_id(),
        .boot_time = found.boot_time(),
        .start_time = found.start_time(),
        .addr = request.serve_addr(),
        .hostname = found.hostname(),
        .architecture = found.architecture(),
        .os = found.os(),
        .software_version = request.version(),
    };
    for (const auto& gres : found.gres()) command.gres.push_back(pool_from_wire(gres));
    add_devices(found, command);
    for (const auto& held : request.held())
        command.held.push_back({JobId{held.job_id()}, held.attempt(), StepId{held.step_id()}});
    return command;
}

EndCause cause_of(const v1::StepReport& report) {
    if (report.kind() == v1::StepReport::LAUNCH_FAILED) return EndCause::launch_failed;
    if (report.kind() == v1::StepReport::PROLOG_FAILED) return EndCause::prolog_failed;
    if (report.lost()) return EndCause::node_failed;
    if (report.oom()) return EndCause::out_of_memory;
    if (report.timed_out()) return EndCause::timed_out;
    return EndCause::exited;
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

Agents::Agents(Engine& engine, Users& users, AgentConfig config, std::string cluster_name, std::string credential_key,
               Log log)
    : engine_{engine},
      users_{users},
      cluster_name_{std::move(cluster_name)},
      credential_key_{std::move(credential_key)},
      log_{std::move(log)},
      config_{std::move(config)},
      watchdog_{[this](const std::stop_token& stop) { watch_silence(stop); }} {}

Agents::~Agents() = default;

// ---- sessions ------------------------------------------------------------------------------------------------------

void Agents::open(wire::Session session) {
    if (const auto leadership = engine_.leadership(); !leadership.is_leader) {
        wire::Metadata trailers;
        trailers.add(wire::leader_key, leadership.leader);
        return session.close(Error{ErrorCode::unavailable, "this controller does not lead"}, trailers);
    }
    auto link = std::make_shared<Link>(Link{session, std::nullopt, {}, Clock::now()});
    session.on_message([this, link](const std::string& bytes) { receive(link, bytes); });
    session.on_half_closed([link] { link->session.close(); });
    session.on_closed([this, link](const std::optional<Error>&) { lost(link); });
}

void Agents::receive(const std::shared_ptr<Link>& link, const std::string& bytes) {
    v1::AgentMessage message;
    if (!message.ParseFromString(bytes))
        return link->session.close(Error{ErrorCode::invalid, "the agent sent bytes that are not an AgentMessage"});
    std::optional<NodeId> node;
    {
        const std::lock_guard lock{mutex_};
        link->heard = Clock::now();
        node = link->node;
    }
    if (message.has_register_()) return enrol(link, message.register_());
    if (!node) return link->session.close(Error{ErrorCode::invalid, "an agent's first message must be Register"});
    switch (message.body_case()) {
        case v1::AgentMessage::kHeartbeat: {
            const std::lock_guard lock{mutex_};
            nodes_[*node].vitals = {message.heartbeat().load(), message.heartbeat().free_memory_mib()};
            break;
        }
        case v1::AgentMessage::kReport:
            take_report(link, *node, message.report());
            break;
        case v1::AgentMessage::kResult:
            if (!message.result().error().empty()) log_(fmt::format("{}: {}", link->name, message.result().error()));
            break;
        default:
            break;  // newer agents may say more than we understand
    }
}

void Agents::enrol(const std::shared_ptr<Link>& link, const v1::Register& request) {
    if (!link->name.empty())  // under another name it would leave the first node without an end
        return link->session.close(
            Error{ErrorCode::invalid, "this session has registered as " + link->name + " already"});
    const auto model = engine_.model();
    const auto* node = model->find_node(request.node().name());
    if (node == nullptr) {
        v1::ControllerMessage message;
        message.mutable_refused()->set_why(fmt::format(
            "node \"{}\" is not in this cluster's configuration; add it under [[nodes]] and run scontrol reconfigure",
            request.node().name()));
        log_(fmt::format("{} tried to register: {}", link->session.peer().address, message.refused().why()));
        link->session.send_message(message);
        return link->session.close(Error{ErrorCode::not_found, message.refused().why()});
    }
    if (request.node().sockets() > UINT16_MAX || request.node().cores_per_socket() > UINT16_MAX ||
        request.node().threads_per_core() > UINT16_MAX)
        return link->session.close(Error{ErrorCode::invalid, "the hardware it reports makes no sense"});
    const auto id = node->id;
    link->name = node->name.str();
    engine_.propose(registration(id, request), [this, link, id](const Result<Events>& result) {
        if (!result) {
            log_(fmt::format("{} could not register: {}", link->name, result.error().text));
            return link->session.close(result.error());
        }
        welcome(link, id, *result);
    });
}

// [engine thread] The launches and ends that the registration called for follow through on_applied.
void Agents::welcome(const std::shared_ptr<Link>& link, NodeId node, const Events& events) {
    v1::ControllerMessage message;
    auto& welcome = *message.mutable_welcome();
    for (const auto& event : events)
        if (const auto* unknown = std::get_if<EndUnknown>(&event)) {
            auto& held = *welcome.add_unknown();
            held.set_job_id(unknown->job.value);
            held.set_attempt(unknown->attempt);
            held.set_step_id(unknown->step.value);
        }
    welcome.set_verify_key(credential_key_);
    std::shared_ptr<Link> previous;
    {
        const std::lock_guard lock{mutex_};
        welcome.set_heartbeat_s(config_.heartbeat_s);
        *welcome.mutable_policy() = policy(node);
        auto& presence = nodes_[node];
        previous = std::exchange(presence.link, link);
        presence.told_silent = presence.told_lost = false;
        link->node = node;
    }
    if (previous && previous != link)
        previous->session.close(Error{ErrorCode::conflict, "another agent has registered under this name"});
    link->session.send_message(message);
    // What the reconciliation asks of this node could not be sent before the session was known.
    for (const auto& event : events)
        if (const auto* again = std::get_if<LaunchAgain>(&event))
            if (const auto* job = engine_.cluster().find_job(again->job)) launch(*job, node);
    for (const auto id : engine_.cluster().jobs_on(node))
        if (const auto* job = engine_.cluster().find_job(id); job != nullptr && job->is_completing())
            send(node, end_message(*job, why_ending(*job)));
}

void Agents::lost(const std::shared_ptr<Link>& link) {
    NodeId silent;
    {
        const std::lock_guard lock{mutex_};
        if (!link->node) return;
        auto& presence = nodes_[*link->node];
        if (presence.link != link) return;  // it has been replaced
        presence.link.reset();
        presence.silent_since = Clock::now();
        if (!leads_) return;
        presence.told_silent = true;
        silent = *link->node;
    }
    log_(fmt::format("{}: its agent is gone", link->name));
    engine_.propose(NodeSilent{silent}, {});
}

// ---- reports -------------------------------------------------------------------------------------------------------

void Agents::take_report(const std::shared_ptr<Link>& link, NodeId node, const v1::StepReport& report) {
    const JobId job{report.job_id()};
    const auto acknowledge = [link, id = report.report_id()](const Result<Events>& result) {
        // A refusal is final too: the report was about something that is over. Where nobody knows what became of it,
        // the agent says it again, to this leader or the next.
        if (!result && (result.error().code == ErrorCode::unavailable || result.error().code == ErrorCode::internal))
            return;
        v1::ControllerMessage message;
        message.mutable_ack()->set_report_id(id);
        link->session.send_message(message);
    };
    switch (report.kind()) {
        case v1::StepReport::STARTED:
            if (report.step_id() == step_batch)
                engine_.propose(JobLaunched{job, report.attempt()}, acknowledge);
            else
                acknowledge(Events{});
            break;
        case v1::StepReport::EPILOG_DONE:
            engine_.propose(NodeJobDone{job, report.attempt(), {node}, !report.error().empty()}, acknowledge);
            break;
        case v1::StepReport::FINISHED:
        case v1::StepReport::LAUNCH_FAILED:
        case v1::StepReport::PROLOG_FAILED:
            if (report.step_id() != step_batch && report.kind() == v1::StepReport::FINISHED) {
                finish_step(node, report);
                acknowledge(Events{});
            } else {
                engine_.propose(FinishJob{.job = job,
                                          .attempt = report.attempt(),
                                          .cause = cause_of(report),
                                          .exit_status = report.exit_status(),
                                          .node = node,
                                          .node_done = report.node_done(),
                                          .detail = report.error(),
                                          .must_hold = true},
                                acknowledge);
            }
            break;
        default:
            acknowledge(Events{});
            break;
    }
}

// A step ends when its last node has said so; its status is the highest.
void Agents::finish_step(NodeId node, const v1::StepReport& report) {
    engine_.post([this, node, report] {
        const StepKey key{JobId{report.job_id()}, StepId{report.step_id()}};
        const auto* step = engine_.cluster().find_step(key);
        if (step == nullptr || step->is_over() || step->attempt != report.attempt()) return;
        if (std::ranges::find(step->shares, node, &NodeShare::node) == step->shares.end()) return;  // not its step
        auto& left = unfinished_[key];
        if (left.nodes.empty() && left.worst_status == 0)
            for (const auto& share : step->shares) left.nodes.insert(share.node);
        left.worst_status = std::max(left.worst_status, report.exit_status());
        left.nodes.erase(node);
        if (!left.nodes.empty()) return;
        FinishStep command{
            .key = key, .attempt = report.attempt(), .cause = cause_of(report), .exit_status = left.worst_status};
        const auto& usage = report.usage();
        command.usage = {usage.user_us(), usage.system_us(), usage.max_rss_kib(), usage.read_bytes(),
                         usage.write_bytes()};
        command.node = node;
        unfinished_.erase(key);
        engine_.propose(std::move(command), {});
    });
}

// ---- acting on events ----------------------------------------------------------------------------------------------

bool Agents::send(NodeId node, const v1::ControllerMessage& message) {
    const std::lock_guard lock{mutex_};
    const auto found = nodes_.find(node);
    return found != nodes_.end() && found->second.link && found->second.link->session.send_message(message);
}

void Agents::send_to_job(const Job& job, const v1::ControllerMessage& message) {
    if (!job.allocation) return;
    for (const auto index : job.open_shares) send(job.allocation->shares[index].node, message);
}

void Agents::launch(const Job& job, std::optional<NodeId> only) { launch({job.id, job.attempt, only, Clock::now()}); }

// [engine thread]
void Agents::launch(const Launch& wanted) {
    const auto* job = engine_.cluster().find_job(wanted.job);
    if (job == nullptr || job->attempt != wanted.attempt || !job->allocation || !job->is_active()) return;
    users_.find_with_groups(job->spec->uid, [this, wanted](const Result<Users::Record>& owner) {
        engine_.run([this, wanted, owner] { launch_as(wanted, owner); });
    });
}

// [engine thread]
void Agents::launch_as(const Launch& wanted, const Result<Users::Record>& owner) {
    const auto* job = engine_.cluster().find_job(wanted.job);
    if (job == nullptr || job->attempt != wanted.attempt || !job->allocation || !job->is_active()) return;
    if (owner) {
        const auto model = engine_.model();
        const auto& shares = job->allocation->shares;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (!wanted.only || shares[i].node == *wanted.only)
                send(shares[i].node, launch_message(*model, *job, **owner, i));
        return;
    }
    log_(fmt::format("job {} cannot be launched: {}", wanted.job.value, owner.error().text));
    if (owner.error().code != ErrorCode::not_found && Clock::now() - wanted.since < launch_patience) {
        const std::lock_guard lock{mutex_};
        return postponed_.push_back(wanted);
    }
    engine_.propose(FinishJob{.job = wanted.job,
                              .attempt = wanted.attempt,
                              .cause = EndCause::launch_failed,
                              .node = {},
                              .detail = Text{owner.error().text}},
                    {});
}

void Agents::try_again() {
    std::vector<Launch> postponed;
    {
        const std::lock_guard lock{mutex_};
        postponed = std::exchange(postponed_, {});
        if (!leads_) return;
    }
    for (const auto& wanted : postponed) engine_.post([this, wanted] { launch(wanted); });
}

void Agents::on_applied(const Cluster& cluster, const Events& events, const Changes&,
                        const std::shared_ptr<const ReadModel>&, bool leads) {
    if (!leads) return;
    for (const auto& event : events) act(cluster, event);
}

void Agents::act(const Cluster& cluster, const Event& event) {
    if (const auto* started = std::get_if<JobStarted>(&event)) {
        if (const auto* job = cluster.find_job(started->job);
            job != nullptr && job->attempt == started->attempt && job->is_running())
            launch(*job, std::nullopt);
    } else if (const auto* again = std::get_if<LaunchAgain>(&event)) {
        if (const auto* job = cluster.find_job(again->job)) launch(*job, again->node);
    } else if (const auto* ending = std::get_if<JobEnding>(&event)) {
        if (const auto* job = cluster.find_job(ending->job); job != nullptr && job->attempt == ending->attempt)
            send_to_job(*job, end_message(*job, why_ending(*job)));
    } else if (const auto* shrunk = std::get_if<JobShrunk>(&event)) {
        if (const auto* job = cluster.find_job(shrunk->job))
            for (const auto node : shrunk->released) send(node, end_message(*job, "RESIZED"));
    } else if (const auto* signalled = std::get_if<JobSignalled>(&event)) {
        const auto* job = cluster.find_job(signalled->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        auto& signal = *message.mutable_signal();
        signal.set_job_id(signalled->job.value);
        signal.set_attempt(signalled->attempt);
        signal.set_signal(signalled->signal);
        signal.set_batch_only(signalled->batch_only);
        signal.set_full(signalled->full);
        signal.set_all_steps(!signalled->step);
        if (signalled->step) signal.set_step_id(signalled->step->value);
        send_to_job(*job, message);
    } else if (const auto* suspended = std::get_if<JobSuspended>(&event)) {
        const auto* job = cluster.find_job(suspended->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_suspend()->set_job_id(suspended->job.value);
        message.mutable_suspend()->set_attempt(suspended->attempt);
        send_to_job(*job, message);
    } else if (const auto* resumed = std::get_if<JobResumed>(&event)) {
        const auto* job = cluster.find_job(resumed->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_suspend()->set_job_id(resumed->job.value);
        message.mutable_suspend()->set_attempt(resumed->attempt);
        message.mutable_suspend()->set_resume(true);
        send_to_job(*job, message);
    } else if (const auto* limit = std::get_if<JobLimitChanged>(&event)) {
        const auto* job = cluster.find_job(limit->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_limits()->set_job_id(limit->job.value);
        message.mutable_limits()->set_attempt(limit->attempt);
        message.mutable_limits()->set_end_time(job->time_limit_min == unlimited ? 0 : job->end_time);
        send_to_job(*job, message);
    } else if (const auto* ended = std::get_if<StepEnded>(&event)) {
        unfinished_.erase(ended->step);
    }
}

// ---- silence -------------------------------------------------------------------------------------------------------

void Agents::on_leadership(const Cluster& cluster, const Leadership& now) {
    std::vector<std::shared_ptr<Link>> strays;
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        if (leads_) {
            for (const auto& node : cluster.nodes())
                if (node.configured && !nodes_[node.id].link) nodes_[node.id].silent_since = Clock::now() + settle_time;
        } else {
            for (auto& [id, presence] : nodes_)
                if (presence.link) strays.push_back(presence.link);
            unfinished_.clear();
        }
    }
    wire::Metadata trailers;
    trailers.add(wire::leader_key, now.leader);
    for (const auto& link : strays)
        link->session.close(Error{ErrorCode::unavailable, "this controller no longer leads"}, trailers);
}

void Agents::watch_silence(const std::stop_token& stop) {
    std::mutex idle;
    std::condition_variable_any pause;
    while (!stop.stop_requested()) {
        std::unique_lock lock{idle};
        pause.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
        if (stop.stop_requested()) return;
        check_silence();
        try_again();
    }
}

void Agents::check_silence() {
    std::vector<std::shared_ptr<Link>> dead;
    std::vector<Command> commands;
    {
        const std::lock_guard lock{mutex_};
        if (!leads_) return;
        const auto now = Clock::now();
        const auto patience = std::chrono::seconds{config_.heartbeat_s} * missed_heartbeats;
        const auto timeout = std::chrono::seconds{config_.timeout_s};
        for (auto& [id, presence] : nodes_) {
            if (presence.link) {
                if (now - presence.link->heard > patience) dead.push_back(presence.link);
                continue;
            }
            if (!presence.told_silent && now > presence.silent_since) {
                presence.told_silent = true;
                commands.emplace_back(NodeSilent{id});
            }
            if (!presence.told_lost && now - presence.silent_since > timeout) {
                presence.told_lost = true;
                commands.emplace_back(NodeLost{id, "Not responding"});
            }
        }
    }
    for (const auto& link : dead) {
        log_(fmt::format("{}: no heartbeat; closing its session", link->name));
        link->session.close(Error{ErrorCode::unavailable, "no heartbeat"});
    }
    for (auto& command : commands) engine_.propose(std::move(command), {});
}

// [mutex_ held]
v1::AgentPolicy Agents::policy(NodeId node) const {
    v1::AgentPolicy policy;
    const auto model = engine_.model();
    policy.set_kill_wait_s(model->directory->policies.kill_wait_s);
    policy.set_over_time_min(model->directory->policies.over_time_limit_min);
    if (const auto& known = model->nodes.get(node.value)) {
        const auto where = model->switches->address_of(known->name.str());
        policy.set_topology_address(where.address);
        policy.set_topology_pattern(where.pattern);
    }
    policy.set_prolog(config_.prolog);
    policy.set_epilog(config_.epilog);
    policy.set_task_prolog(config_.task_prolog);
    policy.set_task_epilog(config_.task_epilog);
    policy.set_cluster_name(cluster_name_);
    return policy;
}

void Agents::reconfigure(AgentConfig config) {
    std::vector<std::pair<NodeId, v1::ControllerMessage>> messages;
    {
        const std::lock_guard lock{mutex_};
        config_ = std::move(config);
        for (const auto& [id, presence] : nodes_)
            if (presence.link)
                *messages.emplace_back(id, v1::ControllerMessage{}).second.mutable_reconfigure()->mutable_policy() =
                    policy(id);
    }
    for (const auto& [id, message] : messages) send(id, message);
}

std::optional<NodeVitals> Agents::vitals(NodeId node) const {
    const std::lock_guard lock{mutex_};
    const auto found = nodes_.find(node);
    if (found == nodes_.end() || !found->second.link) return std::nullopt;
    return found->second.vitals;
}

std::size_t Agents::connected() const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(
        std::ranges::count_if(nodes_, [](const auto& entry) { return entry.second.link != nullptr; }));
}

}  // namespace spur::ctld
