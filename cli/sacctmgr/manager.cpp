// Loading the accounts, complaints in Slurm's words, and the question before changes are sent.
#include "cli/sacctmgr/manager.hpp"

#include "cli/common/output.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

namespace spur::cli::sacctmgr {

bool Manager::load() {
    draft_ = {};
    auto reply = session_.call<v1::ListAccountsReply>("ListAccounts", v1::ListAccountsRequest{});
    if (!reply) {
        reply.error().print_details(console_);
        console_.error("Unable to reach the controller: {}", reply.error().text);
        return false;
    }
    draft_.all = std::move(*reply);
    return true;
}

bool Manager::has_history() {
    if (history_) return true;
    auto channel = open_accounting(session_);
    if (channel) history_.emplace(std::move(*channel));
    return history_.has_value();
}

bool Manager::open_history() {
    if (history_) return true;
    auto channel = open_accounting(session_);
    if (!channel) {
        channel.error().print_details(console_);
        console_.error("{}", channel.error().text);
        return false;
    }
    history_.emplace(std::move(*channel));
    return true;
}

void Manager::print(std::string_view text) const { print_out(text); }

int Manager::complain(std::string_view lines) {
    std::fwrite(lines.data(), 1, lines.size(), stderr);
    return 1;
}

int Manager::unknown(const Spec& spec, const Error& why, bool modifying) {
    if (why.text.starts_with(' '))  // as Slurm has it, without "sacctmgr: error:"
        complain(why.text + "\n");
    else if (!why.text.empty())
        console_.error("{}", why.text);
    complain(fmt::format(" Unknown option: {}\n", spec.text));
    if (modifying) complain(" Use keyword 'where' to modify condition\n");
    return 1;
}

bool Manager::is_own_cluster(const Spec& spec) {
    for (const auto& name : spec.list())
        if (name != lower(cluster())) {
            complain(fmt::format(
                " This cluster '{}' doesn't exist.\n        Contact your admin to add it to accounting.\n", name));
            return false;
        }
    return true;
}

// Slurm's question, with its half minute.
bool Manager::agree() {
    print("Would you like to commit changes? (You have 30 seconds to decide)\n");
    for (int tries = 0; tries < 10; ++tries) {
        print("(N/y): ");
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, 30'000) <= 0) break;
        char line[64] = "";
        if (std::fgets(line, sizeof line, stdin) == nullptr) break;
        print("\n");
        const auto word = lower(trim(line));
        if (word == "y" || word == "yes") return true;
        if (word.empty() || word == "n" || word == "no") break;
        print("Y or N please\n");
    }
    print(" Changes Discarded\n");
    return false;
}

int Manager::commit(std::string_view what, std::string_view problem) {
    if (!options_.quiet || !options_.immediate) print(what);
    if (options_.readonly) return complain(" Can't run this command in readonly mode.\n");
    if (!options_.immediate && !agree()) return 0;
    v1::EditAccountsRequest request;
    for (auto& edit : draft_.edits) *request.add_edits() = std::move(edit);
    draft_.edits.clear();
    const auto reply = session_.call<v1::EditAccountsReply>("EditAccounts", request, Session::write_options());
    if (!reply) {
        reply.error().print_details(console_);
        return complain(fmt::format(" {}: {}\n", problem, reply.error().text));
    }
    if (reply->error().empty()) return 0;
    if (reply->slurm_error() == refusal::denied.number && !problem.starts_with("Problem adding"))
        console_.error("Your user doesn't have privilege to perform this action");
    return complain(fmt::format(" {}: {}\n", problem, reply->error()));
}

}  // namespace spur::cli::sacctmgr
