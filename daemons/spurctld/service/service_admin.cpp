// The daemon itself: ping, configuration, statistics, membership.
#include <unistd.h>

#include "core/slurm/refusal.hpp"
#include "core/store/state_version.hpp"
#include "core/version.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "spur/v1/peer.pb.h"

namespace spur::ctld {

void Service::ping(const Call& call) {
    const auto leadership = engine_.leadership();
    v1::PingReply reply;
    reply.set_hostname(hooks_.hostname);
    reply.set_mode(leadership.is_leader ? "leader" : "follower");
    reply.set_leader(leadership.leader);
    reply.set_version(program_version);
    reply.set_cluster(engine_.model()->directory->cluster_name.str());
    reply.set_now(static_cast<std::int64_t>(::time(nullptr)));
    reply.set_pid(static_cast<std::uint32_t>(::getpid()));
    reply.set_boot_time(hooks_.boot_time);
    call.reply_with(reply);
}

// Another controller wants to know how far a reader must have come. Anyone may: it is a number.
void Service::read_point(const Call& call) {
    gate_.read_point([this, call](const Result<std::uint64_t>& point) {
        if (!point) return refuse(call, point.error());
        v1::ReadPointReply reply;
        reply.set_version(*point);
        call.reply_with(reply);
    });
}

// The leader asks this of every controller: daemons/spurctld/engine/peers.hpp.
void Service::about(const Call& call) {
    v1::AboutReply reply;
    reply.set_state_version(newest_state_version);
    reply.set_now(static_cast<std::int64_t>(::time(nullptr)));
    call.reply_with(reply);
}

void Service::get_config(const Call& call) {
    v1::GetConfigReply reply;
    for (const auto& [key, value] : hooks_.config_items()) {
        auto& item = *reply.add_items();
        item.set_key(key);
        item.set_value(value);
    }
    call.reply_with(reply);
}

void Service::reconfigure(const Call& call) {
    const auto who = operator_or_refusal(call);
    if (!who) return refuse(call, who.error());
    in_background([this, call, by = fmt::format("uid {}", who->uid)] {
        auto reply = hooks_.reconfigure(by);
        if (!reply) return refuse(call, reply.error());
        call.reply_with(*reply);
    });
}

void Service::shut_down(const Call& call) {
    const auto request = call.parse<v1::ShutdownRequest>();
    if (!request) return refuse(call, request.error());
    if (const auto who = operator_or_refusal(call); !who) return refuse(call, who.error());
    if (request->only_scheduling())
        hooks_.stop_scheduling();
    else
        hooks_.shut_down();
    call.reply_with(v1::Ack{});
}

void Service::plugin_stats(const Call& call) { call.reply_with(hooks_.plugin_stats()); }

void Service::diagnostics(const Call& call) {
    const auto request = call.parse<v1::DiagnosticsRequest>();
    if (!request) return refuse(call, request.error());
    if (request->reset() && call.caller().is_scoped) return refuse(call, refusal::denied);
    if (request->reset())
        if (const auto who = operator_or_refusal(call); !who) return refuse(call, who.error());
    v1::DiagnosticsReply reply;
    const auto stats = engine_.stats();
    auto& counters = *reply.mutable_counters();
    counters["commands_proposed"] = static_cast<std::int64_t>(stats.proposed);
    counters["commands_applied"] = static_cast<std::int64_t>(stats.applied);
    counters["commands_refused"] = static_cast<std::int64_t>(stats.refused);
    counters["batches"] = static_cast<std::int64_t>(stats.batches);
    counters["snapshots"] = static_cast<std::int64_t>(stats.snapshots);
    counters["agents"] = static_cast<std::int64_t>(agents_.connected());
    if (const auto status = engine_.log().status(); status) {
        counters["log_fsyncs"] = static_cast<std::int64_t>(status->fsyncs);
        counters["log_entries"] = static_cast<std::int64_t>(status->entries);
        counters["log_bytes"] = static_cast<std::int64_t>(status->log_bytes);
        counters["log_index"] = static_cast<std::int64_t>(status->committed_index);
    }
    hooks_.diagnostics(reply, request->reset());
    call.reply_with(reply);
}

void Service::membership(const Call& call) {
    const auto request = call.parse<v1::MembershipRequest>();
    if (!request) return refuse(call, request.error());
    auto& log = engine_.log();
    if (request->action() == v1::MembershipRequest::LIST) {
        const auto members = log.members();
        if (!members) return refuse(call, members.error());
        v1::MembershipReply reply;
        for (const auto& member : *members) {
            auto& out = *reply.add_members();
            out.set_id(member.id);
            out.set_address(member.address);
            out.set_role(member.voter ? "voter" : "standby");
            out.set_leader(member.role == LogRole::leader);
        }
        return call.reply_with(reply);
    }
    if (const auto who = actor(call); !who.is_administrator()) return refuse(call, refusal::denied);
    const auto ticket = engine_.expect_outcome([this, call](const Result<void>& result) {
        if (!result) return refuse(call, result.error());
        gate_.expect_others();
        call.reply_with(v1::MembershipReply{});
    });
    Result<void> begun = fail(ErrorCode::invalid, "this controller does not know that action");
    if (request->action() == v1::MembershipRequest::ADD) begun = log.add_member(request->host(), ticket);
    if (request->action() == v1::MembershipRequest::REMOVE) begun = log.remove_member(request->host(), ticket);
    if (request->action() == v1::MembershipRequest::TRANSFER) begun = log.transfer(request->host(), ticket);
    if (begun) return;
    engine_.forget_outcome(ticket);
    refuse(call, begun.error());
}

}  // namespace spur::ctld
