// Tokens for users, and what the audit trail says about those who speak for others.
#include "core/slurm/refusal.hpp"
#include "daemons/common/auth/scopes.hpp"
#include "daemons/spurctld/service/audit.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "spur/v1/token.pb.h"

#include <algorithm>
#include <ctime>

namespace spur::ctld {

namespace {

constexpr std::chrono::seconds usual_lifespan{1800};  // Slurm's

// A token that was made with a token ends when that one does: else a stolen one would last for ever.
Result<std::chrono::seconds> lifespan_for(const wire::Caller& caller, bool is_administrator, std::uint32_t asked_s) {
    const auto asked = asked_s == 0 ? usual_lifespan : std::chrono::seconds{asked_s};
    if (is_administrator || caller.token_expires == 0) return asked;
    const std::chrono::seconds left{caller.token_expires - static_cast<std::int64_t>(std::time(nullptr))};
    if (left.count() <= 0) return fail(ErrorCode::denied, "your own token has expired");
    return std::min(asked, left);
}

Result<void> check_wanted_scopes(std::string_view scopes) {
    while (!scopes.empty()) {
        const auto end = scopes.find(' ');
        const auto scope = scopes.substr(0, end);
        scopes.remove_prefix(end == std::string_view::npos ? scopes.size() : end + 1);
        if (scope != "read" && scope != "jobs" && scope != "admin")
            return fail(ErrorCode::invalid, "there is no scope {}; there are read, jobs and admin", audited(scope));
    }
    return {};
}

}  // namespace

void Service::issue_token(const Call& call) {
    const auto request = call.parse<v1::IssueTokenRequest>();
    if (!request) return refuse(call, request.error());
    if (const auto good = check_wanted_scopes(request->scopes()); !good) return refuse(call, good.error());
    const auto who = actor(call);
    const bool is_administrator = who.level == AdminLevel::administrator;
    // Who may do less than his user gets nothing that may do more.
    if (call.caller().is_scoped) return refuse(call, refusal::denied);
    const auto lifespan = lifespan_for(call.caller(), is_administrator, request->lifespan_s());
    if (!lifespan) return refuse(call, lifespan.error());
    const auto issue = [this, call, lifespan = *lifespan,
                        scopes = request->scopes()](const Result<Users::Record>& user) {
        if (!user) return refuse(call, user.error());
        issue_token_for(call, **user, lifespan, scopes);
    };
    if (request->user().empty() || request->user() == who.name.view()) return users_.find(who.uid, issue);
    if (!is_administrator) return refuse(call, refusal::denied);
    users_.ask<std::optional<Uid>>(
        [name = request->user()](UserDirectory& directory) { return find_uid(directory, name); },
        [this, call, who, issue, name = request->user()](const Result<std::optional<Uid>>& found) {
            if (!found) return refuse(call, found.error());
            if (!*found) return refuse(call, {ErrorCode::not_found, fmt::format("there is no user {}", audited(name))});
            if (authority_.is_daemon(**found) && !authority_.is_daemon(who.uid)) return refuse(call, refusal::denied);
            users_.find(**found, issue);
        });
}

void Service::issue_token_for(const Call& call, const UserRecord& user, std::chrono::seconds lifespan,
                              const std::string& scopes) {
    in_background([this, call, uid = user.uid, name = user.name, lifespan, scopes] {
        const auto token = hooks_.issue_token(uid, name, lifespan, scopes);
        if (!token) return refuse(call, token.error());
        hooks_.audit(fmt::format("token for uid {} ({}), for {} s{}: issued to {}", uid, name, lifespan.count(),
                                 scopes.empty() ? "" : ", scope " + audited(scopes), audited(actor(call))));
        v1::IssueTokenReply reply;
        reply.set_token(*token);
        call.reply_with(reply);
    });
}

void Service::note_front_end(const Call& call) const {
    if (auth::scope_of(call.method()) == "read") return;
    const auto& caller = call.caller();
    hooks_.audit(fmt::format("{}: asked by uid {} on behalf of uid {}, from {}{}", call.method(), caller.through,
                             caller.uid, call.peer().address,
                             caller.origin.empty() ? "" : ", credential made on " + caller.origin));
}

}  // namespace spur::ctld
