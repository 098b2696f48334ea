// sacctmgr dump and load: the accounts of a cluster as a file that people read, as Slurm writes and reads it.
#include "cli/sacctmgr/manager.hpp"

#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace spur::cli::sacctmgr {
namespace {

using records::AccountsView;

// "  Fairshare     = 3" as ":Fairshare='3'".
std::string dumped(const std::string& settings) {
    std::string text;
    for (const auto line : split(settings, '\n')) {
        const auto equals = line.find("= ");
        if (equals == std::string_view::npos) continue;
        text += fmt::format(":{}='{}'", trim(line.substr(0, equals)), trim(line.substr(equals + 2)));
    }
    return text;
}

std::string dumped(const AccountsDraft& draft, const v1::Association& entry) {
    const records::Context context;
    v1::Association plain;
    plain.set_parent_account(entry.parent_account());
    return dumped(settings_text(
        records::association_fields(),
        {.accounts = draft, .in = context, .association = &entry, .limits = entry.limits(), .inherits = false},
        {.accounts = draft, .in = context, .association = &plain, .inherits = false}, 1));
}

std::string dumped_user(const AccountsDraft& draft, const v1::Association& entry) {
    constexpr const char* levels[] = {"None", "Operator", "Administrator"};
    auto text = fmt::format("User - '{}'", entry.user());
    if (!entry.partition().empty()) text += fmt::format(":Partition='{}'", entry.partition());
    if (const auto* user = draft.user(entry.user())) {
        if (!user->default_account().empty()) text += fmt::format(":DefaultAccount='{}'", user->default_account());
        if (!user->default_wckey().empty()) text += fmt::format(":DefaultWCKey='{}'", user->default_wckey());
        if (user->admin_level() != v1::AccountUser::NONE)
            text += fmt::format(":AdminLevel='{}'", levels[std::min<int>(user->admin_level(), 2)]);
    }
    return text + dumped(draft, entry) + "\n";
}

// A line of such a file: "Account - 'physics':Description='x':Fairshare=3".
struct DumpLine {
    std::string kind, name;
    std::vector<std::pair<std::string, std::string>> options;
};
std::optional<DumpLine> read_line(std::string_view line) {
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) return std::nullopt;
    DumpLine found{std::string{trim(line.substr(0, dash))}, {}, {}};
    std::vector<std::string> parts{""};
    bool is_quoted = false;
    for (const char c : trim(line.substr(dash + 3))) {
        if (c == '\'') is_quoted = !is_quoted;
        if (c == ':' && !is_quoted)
            parts.emplace_back();
        else if (c != '\'')
            parts.back() += c;
    }
    found.name = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto equals = parts[i].find('=');
        if (equals == std::string::npos) return std::nullopt;
        found.options.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
    }
    return found;
}

}  // namespace

int dump(Manager& manager, Words words) {
    std::string path;
    for (const auto& word : words) {
        const auto equals = word.find('=');
        const auto value = equals == std::string::npos ? word : word.substr(equals + 1);
        const auto name = equals == std::string::npos ? std::string{"cluster"} : lower(word.substr(0, equals));
        if (name == "file") {
            path = value;
        } else if (name != "cluster") {
            return manager.complain(fmt::format(" Unknown option: {}\n", word));
        } else if (!equal_nocase(value, manager.cluster())) {
            return manager.complain(
                fmt::format(" This cluster '{}' is not the one that is asked ('{}')\n", value, manager.cluster()));
        }
    }
    const auto& draft = manager.draft();
    std::string text =
        "# Accounts, users and their limits: sacctmgr load reads it again. A line says what it is, its name and its "
        "settings;\n"
        "# \"Parent - 'x'\" says under which account the lines after it are.\n";
    std::map<std::string, std::vector<const v1::Association*>> accounts, users;
    for (const auto& entry : draft.all.associations()) {
        if (!entry.user().empty())
            users[entry.account()].push_back(&entry);
        else if (entry.account() == "root")
            text += fmt::format("Cluster - '{}'{}\n", manager.cluster(), dumped(draft, entry));
        else
            accounts[entry.parent_account().empty() ? "root" : entry.parent_account()].push_back(&entry);
    }
    const auto visit = [&](const auto& self, const std::string& parent) -> void {
        if (!users.contains(parent) && !accounts.contains(parent)) return;
        text += fmt::format("Parent - '{}'\n", parent);
        for (const auto* entry : users[parent]) text += dumped_user(draft, *entry);
        for (const auto* entry : accounts[parent]) {
            const auto* account = draft.account(entry->account());
            text += fmt::format("Account - '{}':Description='{}':Organization='{}'{}\n", entry->account(),
                                account ? account->description() : "", account ? account->organization() : "",
                                dumped(draft, *entry));
        }
        for (const auto* entry : accounts[parent]) self(self, entry->account());
    };
    visit(visit, "root");
    if (path.empty()) return manager.print(text), 0;
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (!file) return manager.complain(fmt::format(" {} cannot be written\n", path));
    return 0;
}

// What is not there yet is added; what is there stays as it is.
int load_dump(Manager& manager, Words words) {
    std::string path;
    for (const auto& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || lower(word.substr(0, equals)) == "file")
            path = equals == std::string::npos ? word : word.substr(equals + 1);
        else
            return manager.complain(fmt::format(" Unknown option: {}\n", word));
    }
    std::ifstream file{path};
    if (!file) return manager.complain(fmt::format(" {} cannot be read\n", path.empty() ? "file=" : path));
    if (manager.options().readonly) return manager.complain(" Can't run this command in readonly mode.\n");
    if (!manager.options().immediate && !manager.agree()) return 0;
    auto options = manager.options();
    options.immediate = options.quiet = true;
    auto worker = manager.with(options);
    std::string parent = "root";
    std::size_t number = 0, added = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (trim(line).empty() || trim(line).starts_with('#')) continue;
        const auto read = read_line(line);
        if (!read) return manager.complain(fmt::format(" {}:{} is no line of such a file: {}\n", path, number, line));
        if (read->kind == "Cluster") continue;
        if (read->kind == "Parent") {
            parent = read->name;
            continue;
        }
        if (!worker.load()) return 1;
        const bool is_user = read->kind == "User";
        if (!is_user && read->kind != "Account")
            return manager.complain(fmt::format(" {}:{}: nothing is called {}\n", path, number, read->kind));
        std::vector<std::string> sentence{read->name, is_user ? "account=" + parent : "parent=" + parent};
        std::string partition;
        for (const auto& [name, value] : read->options) {
            if (equal_nocase(name, "WCKeys")) continue;  // any is taken here
            if (equal_nocase(name, "Partition")) partition = value;
            sentence.push_back(name + "=" + value);
        }
        const auto& draft = worker.draft();
        const bool is_there = std::ranges::any_of(draft.all.associations(), [&](const v1::Association& entry) {
            return is_user ? entry.user() == read->name && entry.account() == parent && entry.partition() == partition
                           : entry.account() == read->name && entry.user().empty();
        });
        if (is_there) continue;
        if ((is_user ? add_user : add_account)(worker, sentence) != 0)
            return manager.complain(fmt::format(" {}:{} was refused; what came before it is in force\n", path, number));
        ++added;
    }
    manager.print(fmt::format(" {} accounts and users added\n", added));
    return 0;
}

}  // namespace spur::cli::sacctmgr
