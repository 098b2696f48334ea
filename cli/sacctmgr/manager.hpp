// What sacctmgr's commands share: the accounts with the changes asked for, the options, and how changes are confirmed
// and sent.
#pragma once

#include "cli/common/accounting.hpp"
#include "cli/common/columns.hpp"
#include "cli/common/console.hpp"
#include "cli/common/session.hpp"
#include "cli/sacctmgr/accounts_draft.hpp"
#include "cli/sacctmgr/specs.hpp"
#include "spur/v1/accounting.pb.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spur::cli::sacctmgr {

struct Options {
    bool immediate = false;
    bool header = true;
    bool associations = false;
    bool readonly = false;
    bool quiet = false;
    TableStyle style = TableStyle::aligned;
};

class Manager {
public:
    Manager(Console& console, Session& session, Options options)
        : console_{console}, session_{session}, options_{options} {}

    // Asks the controller for everything; false: it has been said why not.
    bool load();
    // " Unknown option: ..." with what else there is to say.
    int unknown(const Spec& spec, const Error& why, bool modifying);
    int complain(std::string_view lines);  // on stderr, as it is
    // Shows `what`, asks, and sends the edits. `problem` precedes the controller's refusal.
    int commit(std::string_view what, std::string_view problem);
    bool is_own_cluster(const Spec& spec);  // false: it has been said that it is another

    AccountsDraft& draft() { return draft_; }
    const Options& options() const { return options_; }
    std::string cluster() const { return draft_.all.cluster(); }
    void print(std::string_view text) const;
    bool agree();  // asks the user

    Session& session() { return session_; }
    Manager with(const Options& options) { return {console_, session_, options}; }
    // A call of spurdbd; nothing: it has been said why not.
    template <class Reply, class Request>
    std::optional<Reply> ask_history(const char* method, const Request& request) {
        if (!open_history()) return std::nullopt;
        auto options = Session::read_options();
        options.timeout = std::chrono::hours(1);
        auto reply = wire::call<Reply>(*history_, std::string{"/spur.v1.Accounting/"} + method, request, options);
        if (reply) return std::move(*reply);
        complain(fmt::format(" Problem with spurdbd: {}\n", reply.error().text));
        return std::nullopt;
    }
    bool has_history();                                                    // is there a spurdbd? Nothing is said
    std::vector<std::pair<std::string, v1::HistoryRow>> other_clusters();  // that share spurdbd with this one

private:
    bool open_history();
    Console& console_;
    Session& session_;
    Options options_;
    AccountsDraft draft_;
    std::optional<wire::Channel> history_;
};

using Words = std::span<const std::string>;

int show(Manager& manager, std::string_view entity, Words words);

bool is_history(std::string_view entity);  // "event", "transaction": kept by spurdbd
int show_history(Manager& manager, std::string_view entity, Words words);
int show_runaway_jobs(Manager& manager, Words words);
int show_stats(Manager& manager, Words words);
int show_problems(Manager& manager, Words words);
int archive(Manager& manager, Words words);
int dump(Manager& manager, Words words);
int load_dump(Manager& manager, Words words);

int add_account(Manager& manager, Words words);
int add_user(Manager& manager, Words words);
int add_qos(Manager& manager, Words words);
int add_coordinator(Manager& manager, Words words);
int add_cluster(Manager& manager, Words words);

int modify_account(Manager& manager, Words words);
int modify_user(Manager& manager, Words words);
int modify_qos(Manager& manager, Words words);
int modify_cluster(Manager& manager, Words words);

int delete_account(Manager& manager, Words words);
int delete_user(Manager& manager, Words words);
int delete_qos(Manager& manager, Words words);
int delete_coordinator(Manager& manager, Words words);
int delete_cluster(Manager& manager, Words words);

}  // namespace spur::cli::sacctmgr
