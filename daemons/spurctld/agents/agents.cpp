// The sessions: opening, admitting, registering and welcoming agents, and what they report.
#include "daemons/spurctld/agents/agents.hpp"

#include <algorithm>
#include <condition_variable>

#include "daemons/spurctld/agents/registration.hpp"

namespace spur::ctld {

namespace {

constexpr int missed_heartbeats = 3;              // so many in a row and the session counts as dead
constexpr std::chrono::seconds joining_time{10};  // a new leader gives agents so long to find it
// An agent whose name another one claims is asked whether it lives, and given so long to say so.
constexpr std::chrono::seconds rival_patience{3};
constexpr std::chrono::seconds rival_silence{60};     // how often the log is told of two agents of one name
constexpr std::string_view clock_skew = "ClockSkew";  // begins the reason of nodes that are drained for it

// Clients go where this points; nowhere, and they try the next controller.
void send_on(const wire::Session& session, const Leadership& leadership, std::string why) {
    wire::Metadata trailers;
    trailers.add(wire::leader_key, leadership.leader);
    session.close(Error{ErrorCode::unavailable, std::move(why)}, trailers);
}

// Sets of cores are kept for each node: what is absurd would eat the controller's memory.
bool is_plausible(const v1::Node& found) {
    constexpr std::uint64_t most = 65'536;
    return found.sockets() < most && found.cores_per_socket() < most && found.threads_per_core() < most &&
           std::uint64_t{found.sockets()} * found.cores_per_socket() * found.threads_per_core() <= most;
}

}  // namespace

Agents::Agents(Engine& engine, Users& users, AgentConfig config, std::string cluster_name, Log log,
               ClusterClock::Sources clocks)
    : engine_{engine},
      cluster_name_{std::move(cluster_name)},
      log_{std::move(log)},
      clocks_{std::move(clocks)},
      steady_began_{clocks_.wall() - clocks_.steady()},
      config_{std::move(config)},
      dispatch_{engine, users,
                [this](NodeId node) -> std::optional<wire::Session> {
                    const std::lock_guard lock{mutex_};
                    const auto found = nodes_.find(node);
                    if (found == nodes_.end() || !found->second.link) return std::nullopt;
                    return found->second.link->session;
                },
                log_},
      watchdog_{[this](const std::stop_token& stop) { watch_silence(stop); }} {}

Agents::~Agents() = default;

// ---- sessions ------------------------------------------------------------------------------------------------------

// An agent that comes while nobody leads waits here for the one who will: ten thousand that knock again and again would
// only hold up the election, and each would learn of its outcome late.
void Agents::park(const wire::Session& session) {
    session.on_message([](const std::string&) {});  // it introduces itself again to the leader
    session.on_closed([this](const std::optional<Error>&) {
        const std::lock_guard lock{mutex_};
        std::erase_if(parked_, [](const wire::Session& waiting) { return !waiting.is_open(); });
    });
    {
        const std::lock_guard lock{mutex_};
        parked_.push_back(session);
    }
    if (const auto now = engine_.leadership(); now.is_leader || !now.leader.empty()) send_parked_on(now);
}

void Agents::send_parked_on(const Leadership& now) {
    std::vector<wire::Session> parked;
    {
        const std::lock_guard lock{mutex_};
        parked = std::exchange(parked_, {});
    }
    for (const auto& session : parked) send_on(session, now, "there is a leader now");
}

void Agents::open(wire::Session session) {
    if (const auto leadership = engine_.leadership(); !leadership.is_leader) {
        if (leadership.leader.empty()) return park(session);
        return send_on(session, leadership, "this controller does not lead");
    }
    auto link = std::make_shared<Link>(session);
    session.on_message([this, link](const std::string& bytes) { receive(link, bytes); });
    session.on_half_closed([link] { link->session.close(); });
    session.on_drained([this, link] {
        if (!dispatch_.has_waiting()) return;
        engine_.post([this, link] {
            if (link->node) dispatch_.drained(*link->node);
        });
    });
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
        case v1::AgentMessage::kHeartbeat:
            take_heartbeat(*link, *node, message.heartbeat());
            break;
        case v1::AgentMessage::kReport:
            take_report(link, *node, message.report());
            break;
        case v1::AgentMessage::kResult:
            if (!message.result().error().empty()) log_(fmt::format("{}: {}", link->name, message.result().error()));
            break;
        case v1::AgentMessage::kRebootFailed:
            reboot_failed(*node, message.reboot_failed().error());
            break;
        default:
            break;  // newer agents may say more than we understand
    }
}

// Limits do not depend on a node's clock, but credentials and the times of files do: one that is a little off is named
// so that somebody sets it, one that is far off gets no new jobs until then.
void Agents::take_heartbeat(const Link& link, NodeId node, const v1::Heartbeat& beat) {
    const auto here = clocks_.wall() / ClusterClock::second;
    const auto ahead = beat.now() == 0 ? 0 : beat.now() - here;
    const auto skew = std::abs(ahead) > most_skew_s ? ahead : 0;
    UnixSeconds before = 0;
    {
        const std::lock_guard lock{mutex_};
        auto& vitals = nodes_[node].vitals;
        before = vitals.clock_skew_s;
        vitals = {beat.load(), beat.free_memory_mib(), skew};
    }
    if (skew != 0 && before == 0)
        log_(fmt::format("{}: its clock is {} s {} the one here; set it by NTP", link.name, std::abs(skew),
                         skew > 0 ? "ahead of" : "behind"));
    else if (skew == 0 && before != 0)
        log_(fmt::format("{}: its clock agrees with the one here again", link.name));
    if (beat.now() != 0) judge_clock(node, beat.now(), here);
}

// When the clock here is set, it differs from where it would be had it been left alone. Which of the two is right
// nobody here knows: a node must be far from both before it is blamed.
void Agents::judge_clock(NodeId node, UnixSeconds reported, UnixSeconds here) {
    const auto left_alone = (steady_began_ + clocks_.steady()) / ClusterClock::second;
    const auto model = engine_.model();
    const auto& known = model->nodes.get(node.value);
    if (!known) return;
    const bool is_drained = known->flags & node_flag::drain;
    const auto ahead = reported - here;
    if (!is_drained && std::min(std::abs(ahead), std::abs(reported - left_alone)) > unfit_skew_s)
        drain(node, fmt::format("{}: its clock is {} s {} the controller's", clock_skew, std::abs(ahead),
                                ahead > 0 ? "ahead of" : "behind"));
    else if (is_drained && std::abs(ahead) <= most_skew_s && known->reason.view().starts_with(clock_skew))
        undrain(node, clock_skew);
}

void Agents::enrol(const std::shared_ptr<Link>& link, const v1::Register& request) {
    if (!link->name.empty())  // under another name it would leave the first node without an end
        return link->session.close(
            Error{ErrorCode::invalid, "this session has registered as " + link->name + " already"});
    const auto node = may_join(*link, request);
    if (!node) return refuse(*link, node.error());
    link->name = request.node().name();
    // An agent without an id is known by its address. With another boot id it is another agent: the reboot has ended
    // everything that the earlier session was about.
    link->agent = (request.agent_id().empty() ? request.serve_addr() : request.agent_id()) + "/" + request.boot_id();
    if (const auto claimed = claim_name(link, *node); !claimed) return refuse(*link, claimed.error());
    const bool has_history = !engine_.model()->directory->history.id.empty();
    engine_.propose(registration(*node, request, has_history), [this, link, id = *node](const Result<Events>& result) {
        if (!result) {
            log_(fmt::format("{} could not register: {}", link->name, result.error().text));
            return link->session.close(result.error());
        }
        registered(link, id, *result);
    });
}

Result<NodeId> Agents::may_join(const Link& link, const v1::Register& request) {
    const auto& found = request.node();
    const auto model = engine_.model();
    const auto* node = model->find_node(found.name());
    const auto& peer = link.session.peer();
    if (node == nullptr) {
        const auto why = fmt::format(
            "node \"{}\" is not in this cluster's configuration; add it under [[nodes]] and run scontrol reconfigure",
            found.name());
        log_(fmt::format("{} tried to register: {}", peer.address, why));
        return fail(ErrorCode::not_found, "{}", why);
    }
    if (!is_plausible(found)) return fail(ErrorCode::invalid, "the hardware it reports makes no sense");
    if (!peer.certificate.empty()) SPUR_CHECK(check_certificate(peer, found.name()));
    return node->id;
}

Result<void> Agents::check_certificate(const wire::Peer& peer, const std::string& node) {
    std::vector<std::string> accepted;
    {
        const std::lock_guard lock{mutex_};
        accepted = certificate_names(node, config_.certificate_names);
    }
    if (is_made_out_to(peer.names, accepted)) return {};
    const auto why = fmt::format(
        "its certificate is made out to {}, and node {} wants one of {}; give it its own, or say in [tls] agent_names "
        "what else will do",
        fmt::join(peer.names, ", "), node, fmt::join(accepted, ", "));
    log_(fmt::format("{} tried to register: {}", peer.address, why));
    return fail(ErrorCode::denied, "{}", why);
}

// Of two agents with one name the first stays, as long as it answers. A new session of the same agent replaces its old
// one.
Result<void> Agents::claim_name(const std::shared_ptr<Link>& link, NodeId node) {
    const std::lock_guard lock{mutex_};
    const auto [place, is_new] = nodes_.try_emplace(node);
    auto& presence = place->second;
    if (is_new) presence.silent_since = Clock::now() + joining_time;
    const auto holder = presence.link ? presence.link : presence.joining.lock();
    const auto now = Clock::now();
    const bool is_silent = holder && holder->pinged > holder->heard && now - holder->pinged > rival_patience;
    if (!holder || holder->closed || holder->agent == link->agent || is_silent) {
        presence.joining = link;
        return {};
    }
    if (holder->pinged <= holder->heard) {
        holder->pinged = now;
        v1::ControllerMessage message;
        message.mutable_ping();
        holder->session.send_message(message);
    }
    const auto why = fmt::format(
        "two agents say they are node {}: the one at {} has the session, the one at {} is turned away; stop one of "
        "them, or start it with the name of its own node (spurd -N)",
        link->name, holder->session.peer().address, link->session.peer().address);
    if (presence.rival_told == Clock::time_point{} || now - presence.rival_told > rival_silence) {
        presence.rival_told = now;
        log_(why);
    }
    return fail(ErrorCode::conflict, "{}", why);
}

void Agents::close_all(const std::string& why) {
    std::vector<std::shared_ptr<Link>> open;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [id, presence] : nodes_)
            if (presence.link) open.push_back(presence.link);
    }
    for (const auto& link : open) link->session.close(Error{ErrorCode::unavailable, why});
}

void Agents::refuse(const Link& link, const Error& why) {
    v1::ControllerMessage message;
    message.mutable_refused()->set_why(why.text);
    link.session.send_message(message);
    link.session.close(why);
}

// [engine thread] The launches and ends that the registration called for follow.
void Agents::registered(const std::shared_ptr<Link>& link, NodeId node, const Events& events) {
    auto message = welcome(node, events);
    std::shared_ptr<Link> previous;
    bool is_alone = false;
    {
        const std::lock_guard lock{mutex_};
        auto& presence = nodes_[node];
        if (!link->closed) {
            message.mutable_welcome()->set_heartbeat_s(config_.heartbeat_s);
            *message.mutable_welcome()->mutable_policy() = policy(node);
            link->session.send(dispatch_.pack(std::move(message)));  // before orders find the link
            previous = std::exchange(presence.link, link);
            presence.told_silent = presence.told_lost = false;
            link->node = node;
        } else if (!presence.link) {
            presence.silent_since = Clock::now();
            is_alone = presence.told_silent = true;
        }
    }
    if (!link->node) {  // it left while its registration was on its way
        if (is_alone) propose_silence(node, NodeSilent{node});
        return;
    }
    if (previous && previous != link)
        previous->session.close(Error{ErrorCode::conflict, "this agent has opened another session"});
    std::vector<JobId> to_launch, to_end;
    for (const auto& event : events)
        if (const auto* again = std::get_if<LaunchAgain>(&event)) to_launch.push_back(again->job);
    for (const auto id : engine_.cluster().jobs_on(node))
        if (const auto* job = engine_.cluster().find_job(id); job != nullptr && job->is_completing())
            to_end.push_back(id);
    dispatch_.joined(node, std::move(to_launch), std::move(to_end));
}

// [engine thread]
v1::ControllerMessage Agents::welcome(NodeId node, const Events& events) {
    v1::ControllerMessage message;
    auto& welcome = *message.mutable_welcome();
    for (const auto& event : events) {
        if (const auto* unknown = std::get_if<EndUnknown>(&event)) {
            auto& held = *welcome.add_unknown();
            held.set_job_id(unknown->job.value);
            held.set_attempt(unknown->attempt);
            held.set_step_id(unknown->step.value);
        }
        if (const auto* differs = std::get_if<HistoryDiffers>(&event)) {
            welcome.set_standing(differs->other ? v1::OTHER_HISTORY : v1::OLDER_STATE);
            log_(fmt::format("{}: its agent has seen {}; what it runs and this state does not know is ended",
                             engine_.cluster().find_node(node)->name,
                             differs->other ? "another history of this cluster: the state was founded anew"
                                            : "a later state than this one: an older copy was put back"));
        }
    }
    for (const auto& key : engine_.cluster().history().step_keys) welcome.mutable_keys()->add_keys(key.str());
    *welcome.mutable_now() = history_now(engine_.cluster().history(), engine_.cluster().version());
    return message;
}

void Agents::lost(const std::shared_ptr<Link>& link) {
    NodeId silent;
    {
        const std::lock_guard lock{mutex_};
        link->closed = true;
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
    propose_silence(silent, NodeSilent{silent});
}

// ---- silence -------------------------------------------------------------------------------------------------------

void Agents::on_applied(const Cluster&, const Events& events, const planning::Changes&,
                        const std::shared_ptr<const planning::ReadModel>& model, bool leads) {
    if (leads) dispatch_.act(events, model);
}

void Agents::on_leadership(const Cluster& cluster, const Leadership& now) {
    std::vector<std::shared_ptr<Link>> strays;
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        if (leads_) {
            for (const auto& node : cluster.nodes())
                if (node.configured && !nodes_[node.id].link)
                    nodes_[node.id].silent_since = Clock::now() + joining_time;
        } else {
            for (auto& [id, presence] : nodes_)
                if (presence.link) strays.push_back(presence.link);
        }
    }
    for (const auto& link : strays) send_on(link->session, now, "this controller no longer leads");
    if (now.is_leader || !now.leader.empty()) send_parked_on(now);
}

void Agents::watch_silence(const std::stop_token& stop) {
    std::mutex idle;
    std::condition_variable_any pause;
    while (!stop.stop_requested()) {
        std::unique_lock lock{idle};
        pause.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
        if (stop.stop_requested()) return;
        check_silence();
        dispatch_.try_again();
    }
}

void Agents::check_silence() {
    std::vector<std::shared_ptr<Link>> dead;
    std::vector<std::pair<NodeId, Command>> commands;
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
                commands.emplace_back(id, NodeSilent{id});
            }
            if (!presence.told_lost && now - presence.silent_since > timeout) {
                presence.told_lost = true;
                commands.emplace_back(id, NodeLost{id, "Not responding"});
            }
        }
    }
    for (const auto& link : dead) {
        log_(fmt::format("{}: no heartbeat; closing its session", link->name));
        link->session.close(Error{ErrorCode::unavailable, "no heartbeat"});
    }
    for (auto& [id, command] : commands) propose_silence(id, std::move(command));
}

// If the command is not committed, the silence is noticed again later. Nothing is proposed for a node whose agent is
// back or is registering: it would be applied after the registration.
void Agents::propose_silence(NodeId node, Command command) {
    engine_.run([this, node, command = std::make_shared<Command>(std::move(command))] {
        {
            const std::lock_guard lock{mutex_};
            auto& presence = nodes_[node];
            const auto joining = presence.joining.lock();
            if (presence.link || (joining && !joining->closed)) {
                presence.told_silent = presence.told_lost = false;
                return;
            }
        }
        engine_.propose(std::move(*command), [this, node](const Answer& answer) {
            if (answer.is_final()) return;
            const std::lock_guard lock{mutex_};
            if (auto& presence = nodes_[node]; !presence.link) presence.told_silent = presence.told_lost = false;
        });
    });
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
    policy.set_reboot_program(config_.reboot_program);
    policy.set_sample_s(config_.sample_s);
    policy.set_over_memory_kill(config_.over_memory_kill);
    policy.set_cluster_name(cluster_name_);
    return policy;
}

bool Agents::can_reboot() const {
    const std::lock_guard lock{mutex_};
    return !config_.reboot_program.empty();
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
    for (auto& [id, message] : messages) dispatch_.send(id, std::move(message));
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
