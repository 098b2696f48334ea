// What spurctld serves: every method of spur.v1.Controller, one small function each. Reads come from the read model;
// writes become commands. The caller is who the credential says, and nothing else.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemons/common/planning/priority_report.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/spurctld/agents/agents.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "daemons/spurctld/engine/read_gate.hpp"
#include "daemons/spurctld/planning/what_if.hpp"
#include "daemons/spurctld/service/authority.hpp"
#include "daemons/spurctld/service/job_submit.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "daemons/spurctld/service/watch.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// What the service needs from the daemon around it.
struct ServiceHooks {
    std::function<Result<v1::ReconfigureReply>(const std::string& by)> reconfigure;
    std::function<void()> shut_down;
    std::function<void()> stop_scheduling;  // until the end of this daemon
    std::function<v1::PluginStatsReply()> plugin_stats;
    std::function<std::vector<std::pair<std::string, std::string>>()> config_items;
    std::function<void(v1::DiagnosticsReply&, bool reset)> diagnostics;
    std::function<void(std::string)> log;
    std::function<void(std::string)> audit;  // one line of the audit trail, for what its commands do not say
    std::function<const planning::PriorityReport&()> priorities;
    std::function<std::string(std::string_view key)> priority_option;  // as configured; empty: its default
    std::function<Result<std::string>(std::string body)> sign_step;    // a SignedCredential
    std::function<Result<std::string>(Uid uid, const std::string& user, std::chrono::seconds lifespan,
                                      const std::string& scopes)>
        issue_token;  // may wait
    std::optional<JobSubmitChain> job_submit;
    std::string hostname;
    std::string listen_host;
    std::uint16_t listen_port{};
    UnixSeconds boot_time{};
    bool agents_show_certificates{false};  // TLS is on: an agent is a daemon and has one
};

class Service {
public:
    Service(Engine& engine, Agents& agents, Authority& authority, Users& users, WatchHub& watchers, WhatIf& what_if,
            ReadGate& gate, ServiceHooks hooks);
    ~Service();
    void register_all(wire::RpcServer& server);
    void stop();  // answers everything that waits

private:
    using Call = wire::Call;

    // service_jobs.cpp
    void submit(const Call& call);
    void submit_as(const Call& call, const v1::SubmitRequest& request, const Users::Records& owners);
    void submit_checked(const Call& call, const v1::SubmitRequest& request, const Users::Records& owners,
                        std::vector<SubmittedJob> jobs, const std::vector<std::string>& notes);
    void test_submission(const Call& call, const std::shared_ptr<const planning::ReadModel>& model,
                         const JobSpec& spec);  // --test-only
    void list_jobs(const Call& call);
    void get_script(const Call& call);
    void signal_jobs(const Call& call);
    void update_jobs(const Call& call);
    void update_jobs_of(const Call& call, const v1::UpdateJobsRequest& request, const Users::Records& owners);
    // Of a job's owner. Where that is the caller, and his credential says which groups he has, it is believed.
    OwnerGroups groups_of(const Call& call, const UserRecord& owner) const;
    // service_nodes.cpp
    void list_nodes(const Call& call);
    void list_partitions(const Call& call);
    void list_reservations(const Call& call);
    void list_licenses(const Call& call);
    void list_switches(const Call& call);
    void update_nodes(const Call& call);
    void update_partition(const Call& call);
    void update_reservation(const Call& call);
    void change_reservation(const Call& call, EditReservation command);
    // service_steps.cpp
    void await_allocation(const Call& call);
    struct StepAsk;  // a step that srun waits for
    void create_step(const Call& call);
    void wait_for_step(const std::shared_ptr<StepAsk>& ask);
    bool try_step(const std::shared_ptr<StepAsk>& ask, const planning::ReadModel& model, bool expired);
    Result<v1::CreateStepReply> step_reply(const StepAsk& ask, const Events& events) const;
    void finish_step(const Call& call);
    void await_step_end(const Call& call, StepKey key);
    void locate_steps(const Call& call);
    void release_allocation(const Call& call);
    // service_why.cpp
    void explain(const Call& call);
    // service_admin.cpp
    void ping(const Call& call);
    void read_point(const Call& call);
    void about(const Call& call);
    void get_config(const Call& call);
    void reconfigure(const Call& call);
    void shut_down(const Call& call);
    void plugin_stats(const Call& call);
    void diagnostics(const Call& call);
    void membership(const Call& call);
    // service_tokens.cpp
    void issue_token(const Call& call);
    void issue_token_for(const Call& call, const UserRecord& user, std::chrono::seconds lifespan,
                         const std::string& scopes);
    // A front end speaks for somebody: who, for whom and what goes into the audit trail.
    void note_front_end(const Call& call) const;

    // service_accounts.cpp
    void list_accounts(const Call& call);
    void edit_accounts(const Call& call);
    void answer_edit(const Call& call, const Error& error) const;
    void list_shares(const Call& call);
    void list_priorities(const Call& call);

    // Makes `command` happen for `call` and answers with what `reply` makes of its events.
    void change(const Call& call, Command command, std::function<std::string(const Events&)> reply);
    // Several commands, one outcome per job id.
    struct JobCommand {
        std::string id;
        Result<Command> command;
        std::string note{};  // for the audit trail, once it has happened
    };
    void change_jobs(const Call& call, std::vector<JobCommand> commands);
    // Fails the call; tells clients of a follower where the leader is.
    void refuse(const Call& call, const Error& error) const;
    Result<Actor> operator_or_refusal(const Call& call) const;
    // Calls `handler` once the caller's name is known, which his rights may hang on.
    void with_name(const Call& call, void (Service::*handler)(const Call&));
    Actor actor(const Call& call) const { return authority_.actor(call.caller(), *engine_.model()); }
    // Runs `task` on the engine thread; what fails there refuses the call.
    void on_engine(const Call& call, std::function<void()> task);
    // Long answers are made here, not on the I/O thread.
    void in_background(std::function<void()> work);

    struct Background;
    Engine& engine_;
    Agents& agents_;
    Authority& authority_;
    Users& users_;
    WatchHub& watchers_;
    WhatIf& what_if_;
    ReadGate& gate_;
    ServiceHooks hooks_;
    std::unique_ptr<Background> background_;
};

}  // namespace spur::ctld
