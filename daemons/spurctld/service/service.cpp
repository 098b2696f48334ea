// Registering the methods, and what they share: authority checks, refusals, proposing a change.
#include "daemons/spurctld/service/service.hpp"

#include "core/slurm/refusal.hpp"
#include "daemons/spurctld/engine/background.hpp"
#include "daemons/spurctld/service/convert.hpp"

namespace spur::ctld {

namespace {
const Error still_reading{ErrorCode::unavailable, "this controller has just started and still reads its state"};
const Error still_founding{ErrorCode::unavailable, "this cluster is new and its configuration is not in force yet"};

// Nothing was changed and nobody better is known: the client asks again, here or elsewhere, until its deadline.
wire::Metadata ask_again() {
    wire::Metadata trailers;
    trailers.add(wire::leader_key, "");
    return trailers;
}

}  // namespace

struct Service::Background : BackgroundWorker {};

Service::Service(Engine& engine, Agents& agents, Authority& authority, Users& users, WatchHub& watchers,
                 WhatIf& what_if, ReadGate& gate, ServiceHooks hooks)
    : engine_{engine},
      agents_{agents},
      authority_{authority},
      users_{users},
      watchers_{watchers},
      what_if_{what_if},
      gate_{gate},
      hooks_{std::move(hooks)},
      background_{std::make_unique<Background>()} {}

Service::~Service() = default;

void Service::stop() { background_->stop(); }

void Service::on_engine(const Call& call, std::function<void()> task) {
    engine_.post(std::move(task), [this, call](const Error& error) { refuse(call, error); });
}

void Service::in_background(std::function<void()> work) { background_->post(std::move(work)); }

void Service::register_all(wire::RpcServer& server) {
    // About this daemon itself: answered as it is.
    const auto here = [&](std::string_view name, void (Service::*handler)(const Call&)) {
        server.unary(fmt::format("/spur.v1.Controller/{}", name), [this, handler](const Call& call) {
            if (!engine_.is_current()) return call.fail(still_reading, ask_again());
            with_name(call, handler);
        });
    };
    // About the cluster: answered from a state that is not older than the question.
    const auto unary = [&](std::string_view name, void (Service::*handler)(const Call&)) {
        server.unary(fmt::format("/spur.v1.Controller/{}", name), [this, handler](const Call& call) {
            if (!engine_.is_current()) return call.fail(still_reading, ask_again());
            if (!engine_.model()->directory->is_configured) return call.fail(still_founding, ask_again());
            gate_.pass([this, handler, call](UnixSeconds as_of) {
                if (as_of != 0) call.set_as_of(as_of);
                with_name(call, handler);
            });
        });
    };
    server.unary("/spur.v1.Peer/ReadPoint", [this](const Call& call) { read_point(call); });
    server.unary("/spur.v1.Peer/About", [this](const Call& call) { about(call); });
    server.unary("/spur.v1.Controller/Ping", [this](const Call& call) { ping(call); });
    unary("Submit", &Service::submit);
    unary("ListJobs", &Service::list_jobs);
    unary("ListNodes", &Service::list_nodes);
    unary("ListPartitions", &Service::list_partitions);
    unary("ListReservations", &Service::list_reservations);
    unary("ListLicenses", &Service::list_licenses);
    unary("GetScript", &Service::get_script);
    unary("SignalJobs", &Service::signal_jobs);
    unary("UpdateJobs", &Service::update_jobs);
    unary("UpdateNodes", &Service::update_nodes);
    unary("UpdatePartition", &Service::update_partition);
    unary("UpdateReservation", &Service::update_reservation);
    here("GetConfig", &Service::get_config);
    here("Reconfigure", &Service::reconfigure);
    here("Shutdown", &Service::shut_down);
    here("PluginStats", &Service::plugin_stats);
    here("Diagnostics", &Service::diagnostics);
    unary("AwaitAllocation", &Service::await_allocation);
    unary("CreateStep", &Service::create_step);
    unary("FinishStep", &Service::finish_step);
    unary("LocateSteps", &Service::locate_steps);
    unary("ReleaseAllocation", &Service::release_allocation);
    here("Membership", &Service::membership);
    unary("Explain", &Service::explain);
    unary("ListSwitches", &Service::list_switches);
    unary("ListAccounts", &Service::list_accounts);
    unary("EditAccounts", &Service::edit_accounts);
    unary("ListShares", &Service::list_shares);
    unary("ListPriorities", &Service::list_priorities);

    server.unary("/spur.v1.Tokens/Issue", [this](const Call& call) {
        if (!engine_.is_current()) return call.fail(still_reading, ask_again());
        with_name(call, &Service::issue_token);
    });

    server.stream("/spur.v1.Controller/Watch", [this](const wire::Session& session) {
        if (!engine_.is_current()) return session.close(still_reading, ask_again());
        WatchHub::await_request(session, [this, session](const v1::WatchRequest& request) {
            gate_.pass([this, session, request](UnixSeconds) {
                const auto subscribe = [this, session, request] {
                    watchers_.subscribe(session, request, authority_.actor(session.caller(), *engine_.model()));
                };
                // What callers may see depends on their names. One whose name is not found sees no more than others.
                if (authority_.is_daemon(session.caller().uid)) return in_background(subscribe);
                users_.find(session.caller().uid,
                            [this, subscribe](const Result<Users::Record>&) { in_background(subscribe); });
            });
        });
    });
    server.stream("/spur.v1.Controller/AgentSession", [this](const wire::Session& session) {
        if (!authority_.is_daemon(session.caller().uid)) {
            hooks_.log(fmt::format("{}: uid {} tried to open an agent's session; refused", session.peer().address,
                                   session.caller().uid));
            return session.close(
                Error{ErrorCode::denied, "only an agent running as root or as the controller's user may register"});
        }
        if (hooks_.agents_show_certificates && session.peer().certificate.empty()) {
            hooks_.log(fmt::format("{}: an agent came without a certificate; refused", session.peer().address));
            return session.close(Error{ErrorCode::denied,
                                       "an agent must show a certificate with a common name, signed by the authority "
                                       "under [tls] ca; set [tls] certificate and key in its spur.conf"});
        }
        agents_.open(session);
    });
}

void Service::with_name(const Call& call, void (Service::*handler)(const Call&)) {
    if (call.caller().through != nobody) note_front_end(call);
    // Daemons and root may do everything, whatever they are called: they must not depend on a directory service.
    if (authority_.is_daemon(call.caller().uid)) return (this->*handler)(call);
    users_.find(call.caller().uid, [this, call, handler](const Result<Users::Record>& user) {
        if (!user && user.error().code != ErrorCode::not_found) return refuse(call, user.error());
        (this->*handler)(call);
    });
}

void Service::refuse(const Call& call, const Error& error) const {
    wire::Metadata trailers;
    // Nothing was changed here: the client may ask the leader, or again while there is none.
    if (error.code == ErrorCode::unavailable)
        if (const auto leadership = engine_.leadership(); !leadership.is_leader)
            trailers.add(wire::leader_key, leadership.leader);
    call.fail(error, trailers);
}

Result<Actor> Service::operator_or_refusal(const Call& call) const {
    const auto who = actor(call);
    if (who.is_operator()) return who;
    hooks_.log(fmt::format("{}: uid {} may not call {}", call.peer().address, who.uid, call.method()));
    return fail(refusal::denied);
}

void Service::change(const Call& call, Command command, std::function<std::string(const Events&)> reply) {
    engine_.propose(std::move(command), [this, call, reply = std::move(reply)](const Result<Events>& result) {
        if (!result) return refuse(call, result.error());
        call.reply(reply(*result));
    });
}

void Service::change_jobs(const Call& call, std::vector<JobCommand> commands) {
    struct Gathering {
        v1::JobActionReply reply;
        std::size_t left;
        std::optional<Error> unavailable;
    };
    auto all = std::make_shared<Gathering>();
    all->left = commands.size();
    if (commands.empty()) return call.reply_with(all->reply);
    // The outcomes arrive on the engine thread, one by one.
    on_engine(call, [this, call, all, commands = std::make_shared<std::vector<JobCommand>>(std::move(commands))] {
        for (auto& [id, command, note] : *commands) {
            auto* outcome = all->reply.add_outcomes();
            outcome->set_id(id);
            const auto done = [this, call, all, outcome, note](const Answer& answer) {
                const auto& result = answer.result;
                if (result && !note.empty()) hooks_.audit(note);
                if (!result) {
                    outcome->set_error(result.error().text);
                    outcome->set_error_code(std::string{wire::name_of(result.error().code)});
                    outcome->set_slurm_error(result.error().slurm_error);
                    if (result.error().code == ErrorCode::unavailable) all->unavailable = result.error();
                }
                if (--all->left > 0) return;
                if (all->unavailable) return refuse(call, *all->unavailable);
                call.reply_with(all->reply);
            };
            if (command)
                engine_.propose(std::move(*command), done);
            else
                done({std::unexpected(command.error())});
        }
    });
}

}  // namespace spur::ctld
