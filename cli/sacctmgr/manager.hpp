// What sacctmgr's commands share: the accounts with the changes asked for, the options, and how changes are confirmed
// and sent.
#pragma once

#include "cli/common/columns.hpp"
#include "cli/common/console.hpp"
#include "cli/common/session.hpp"
#include "cli/sacctmgr/accounts_draft.hpp"
#include "cli/sacctmgr/specs.hpp"

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

private:
    bool agree();
    Console& console_;
    Session& session_;
    Options options_;
    AccountsDraft draft_;
};

using Words = std::span<const std::string>;

int show(Manager& manager, std::string_view entity, Words words);

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
