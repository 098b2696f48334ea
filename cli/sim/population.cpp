// Making an account and a user for each name in the trace.
#include "cli/sim/population.hpp"

#include <set>

namespace spur::cli::sim {

namespace {

constexpr std::string_view default_account = "users";

}  // namespace

std::vector<spur::Command> Population::move_in(const Trace& trace) {
    std::set<std::string> accounts, qualities;
    std::vector<std::pair<std::string, std::string>> members;  // account, user; each once, in order of appearance
    std::set<std::pair<std::string, std::string>> known;
    for (const auto& job : trace.jobs) {
        const std::string user = job.user.empty() ? std::string{nobody()} : job.user;
        const std::string account = job.account.empty() ? std::string{default_account} : job.account;
        if (places_.try_emplace(user, static_cast<std::uint32_t>(names_.size())).second) names_.push_back(user);
        accounts.insert(account);
        if (!job.qos.empty() && job.qos != "normal") qualities.insert(job.qos);
        if (known.emplace(account, user).second) members.emplace_back(account, user);
    }
    accounts.erase("root");  // there from the beginning

    std::vector<spur::Command> commands;
    for (const auto& name : qualities) {
        Qos qos;
        qos.name = name;
        commands.emplace_back(EditQos{Edit::create, std::move(qos)});
    }
    for (const auto& name : accounts) {
        Account account;
        account.name = name;
        commands.emplace_back(EditAccount{Edit::create, std::move(account)});
        Association own;
        own.account = name;
        commands.emplace_back(EditAssociation{Edit::create, std::move(own), {}});
    }
    std::set<std::string> users;
    for (const auto& [account, name] : members) {
        if (users.insert(name).second) {
            User user;
            user.name = name;
            user.default_account = account;
            commands.emplace_back(EditUser{Edit::create, std::move(user)});
        }
        Association membership;
        membership.account = account;
        membership.user = name;
        commands.emplace_back(EditAssociation{Edit::create, std::move(membership), {}});
    }
    return commands;
}

std::uint32_t Population::place(std::string_view user) const {
    return places_.at(user.empty() ? std::string{nobody()} : std::string{user});
}

}  // namespace spur::cli::sim
