// sacctmgr: accounts, users, associations and QOS.
#include "cli/sacctmgr/sacctmgr.hpp"

#include "cli/common/options.hpp"
#include "cli/common/output.hpp"
#include "cli/sacctmgr/manager.hpp"
#include "core/text/lexical.hpp"

#include <cstdio>
#include <iostream>

namespace spur::cli {
namespace {

using namespace sacctmgr;
using Set = Result<void>;

constexpr OptionRow<Options> table[] = {
    {"associations", 's', Argument::none, nullptr, "with show or list: the associations of the entity too",
     [](Options& o, const char*) -> Set { return o.associations = true, Set{}; }},
    {"immediate", 'i', Argument::none, nullptr, "commit changes immediately",
     [](Options& o, const char*) -> Set { return o.immediate = true, Set{}; }},
    {"noheader", 'n', Argument::none, nullptr, "no header in the output",
     [](Options& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"parsable", 'p', Argument::none, nullptr, "output is '|' delimited with a '|' at the end",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars, Set{}; }},
    {"parsable2", 'P', Argument::none, nullptr, "output is '|' delimited without a '|' at the end",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars_between, Set{}; }},
    {"quiet", 'Q', Argument::none, nullptr, "print nothing but errors",
     [](Options& o, const char*) -> Set { return o.quiet = true, Set{}; }},
    {"readonly", 'r', Argument::none, nullptr, "no changes are made",
     [](Options& o, const char*) -> Set { return o.readonly = true, Set{}; }},
    {"verbose", 'v', Argument::none, nullptr, nullptr, [](Options&, const char*) -> Set { return {}; }},
    {"oneliner", 'o', Argument::none, nullptr, nullptr, [](Options&, const char*) -> Set { return {}; }},
};

constexpr std::string_view usage_text =
    "sacctmgr [<OPTION>] [<COMMAND>]\n"
    "    Valid <COMMAND> values are:\n"
    "     add <ENTITY> <SPECS>, create <ENTITY> <SPECS>\n"
    "     delete <ENTITY> where <SPECS>, remove <ENTITY> where <SPECS>\n"
    "     list <ENTITY> [<SPECS>], show <ENTITY> [<SPECS>]\n"
    "     modify <ENTITY> where <SPECS> set <SPECS>, update ...\n"
    "     archive dump|load, dump <CLUSTER> [file=<FILE>], load <FILE>\n"
    "     version, exit, quit\n"
    "    Valid <ENTITY> values are account, association, cluster, coordinator, qos, tres and user; to list also "
    "event,\n"
    "    problem, reservation, runawayjobs, stats, transaction and wckey;\n"
    "    see Slurm's manual of sacctmgr(1) for <SPECS>.\n";

// "acc" for account: any beginning of at least `least` letters.
bool means(std::string_view word, std::string_view full, std::size_t least) {
    const auto typed = lower(word);
    return typed.size() >= least && (full.starts_with(typed) || typed == std::string{full} + "s");
}

std::string entity_of(std::string_view word) {
    constexpr std::pair<std::string_view, std::size_t> entities[] = {
        {"account", 3},     {"association", 3}, {"cluster", 2},     {"coordinator", 4}, {"event", 1},
        {"problem", 1},     {"qos", 1},         {"reservation", 4}, {"runawayjobs", 2}, {"stats", 1},
        {"transaction", 3}, {"txn", 2},         {"tres", 2},        {"user", 1},        {"wckey", 1}};
    for (const auto& [name, least] : entities)
        if (means(word, name, least)) return std::string{name};
    return lower(word);
}

struct Action {
    std::string_view entity;
    int (*run)(Manager&, Words);
};
constexpr Action additions[] = {{"account", add_account},
                                {"cluster", add_cluster},
                                {"coordinator", add_coordinator},
                                {"qos", add_qos},
                                {"user", add_user}};
constexpr Action changes[] = {
    {"account", modify_account}, {"cluster", modify_cluster}, {"qos", modify_qos}, {"user", modify_user}};
constexpr Action removals[] = {{"account", delete_account},
                               {"cluster", delete_cluster},
                               {"coordinator", delete_coordinator},
                               {"qos", delete_qos},
                               {"user", delete_user}};

int act(Manager& manager, std::span<const Action> actions, std::string_view verb, Words words) {
    const auto entity = words.empty() ? std::string{} : entity_of(words.front());
    for (const auto& action : actions)
        if (action.entity == entity) return manager.load() ? action.run(manager, words.subspan(1)) : 1;
    const bool modifies = verb == "modify";
    return manager.complain(fmt::format("No valid entity in {} command\nInput line must include {}\n", verb,
                                        modifies ? "\"Account\", \"Cluster\", \"QOS\" or \"User\""
                                                 : "\"Account\", \"Cluster\", \"Coordinator\", \"QOS\", or \"User\""));
}

int list(Manager& manager, Words words) {
    const auto entity = words.empty() ? std::string{} : entity_of(words.front());
    for (const auto* known : {"account", "association", "cluster", "qos", "tres", "user"})
        if (entity == known) return manager.load() ? show(manager, entity, words.subspan(1)) : 1;
    const auto kept = entity == "txn" ? std::string{"transaction"} : entity;
    if (is_history(kept)) return manager.load() ? show_history(manager, kept, words.subspan(1)) : 1;
    constexpr Action others[] = {{"problem", show_problems}, {"runawayjobs", show_runaway_jobs}, {"stats", show_stats}};
    for (const auto& other : others)
        if (other.entity == entity) return manager.load() ? other.run(manager, words.subspan(1)) : 1;
    for (const auto* later : {"configuration", "federation", "resource"})
        if (entity.size() >= 3 && std::string_view{later}.starts_with(entity))
            return manager.complain(
                fmt::format("sacctmgr: error: there is no listing of {} here; scontrol and sdiag show the controller's "
                            "own state\n",
                            later));
    return manager.complain(
        "No valid entity in list command\n"
        "Input line must include \"Account\", \"Association\", \"Cluster\", \"Event\", \"Problem\", \"QOS\", "
        "\"Reservation\", "
        "\"RunawayJobs\", \"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"\n");
}

// One command. The result is its exit code; none: leave the interactive mode.
std::optional<int> run_command(Manager& manager, Words words) {
    if (words.empty()) return 0;
    const auto& verb = words.front();
    const auto rest = words.subspan(1);
    if (means(verb, "exit", 1) || means(verb, "quit", 4)) return std::nullopt;
    if (means(verb, "help", 2)) return print_out(usage_text), 0;
    if (means(verb, "version", 4)) return print_out(slurm_version_line), 0;
    if (means(verb, "add", 2) || means(verb, "create", 2)) return act(manager, additions, "add", rest);
    if (means(verb, "modify", 1) || means(verb, "update", 1)) return act(manager, changes, "modify", rest);
    if (means(verb, "delete", 3) || means(verb, "remove", 3)) return act(manager, removals, "delete", rest);
    if (means(verb, "archive", 2)) return manager.load() ? archive(manager, rest) : 1;
    if (means(verb, "dump", 3)) return manager.load() ? dump(manager, rest) : 1;
    if (means(verb, "load", 2)) return manager.load() ? load_dump(manager, rest) : 1;
    if (means(verb, "show", 3) || means(verb, "list", 3)) return list(manager, rest);
    return manager.complain(fmt::format("invalid keyword: {}\n", verb));
}

int interact(Manager& manager) {
    int code = 0;
    for (std::string line;;) {
        print_out("sacctmgr: ");
        if (!std::getline(std::cin, line)) return print_out("\n"), code;
        std::vector<std::string> words;
        for (const auto word : split(line, ' '))
            if (!trim(word).empty()) words.emplace_back(trim(word));
        const auto done = run_command(manager, words);
        if (!done) return code;
        code = *done;
    }
}

}  // namespace

int run_sacctmgr(Invocation& self) {
    Options options;
    const auto outcome = apply_words<Options>(table, options, self.words);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(
            outcome, self.console,
            {help_text("sacctmgr [<OPTION>] [<COMMAND>]", std::span<const OptionRow<Options>>{table}), usage_text});
    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("Unable to reach the controller: {}", session.error().text);
        return 1;
    }
    Manager manager{self.console, *session, options};
    if (outcome.rest.empty()) return interact(manager);
    return run_command(manager, outcome.rest).value_or(0);
}

}  // namespace spur::cli
