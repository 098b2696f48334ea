// Actions are named as in Slurm's listing of transactions; changes are those fields that differ from before.
#include "core/machine/account_changes.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "core/base/find_in.hpp"
#include "core/text/lexical.hpp"

namespace spur {
namespace {

template <class Record>
struct Described {
    std::string_view name;
    std::string (*text)(const Record& record);
};

std::string number(const std::optional<std::uint32_t>& value) { return value ? std::to_string(*value) : "-1"; }
std::string names(const std::vector<Text>& list) {
    std::string text;
    for (const auto& one : list) text += (text.empty() ? "" : ",") + one.str();
    return text;
}

constexpr Described<Account> account_fields[] = {
    {"description", [](const Account& a) { return a.description.str(); }},
    {"organization", [](const Account& a) { return a.organization.str(); }},
    {"coordinators", [](const Account& a) { return names(a.coordinators); }},
};

constexpr std::string_view levels[] = {"None", "Operator", "Administrator"};
constexpr Described<User> user_fields[] = {
    {"default_account", [](const User& u) { return u.default_account.str(); }},
    {"default_wckey", [](const User& u) { return u.default_wckey.str(); }},
    {"admin_level", [](const User& u) { return std::string{levels[static_cast<std::size_t>(u.admin_level) % 3]}; }},
};

constexpr Described<Limits> limit_fields[] = {
    {"grp_jobs", [](const Limits& l) { return number(l.grp_jobs); }},
    {"grp_jobs_accrue", [](const Limits& l) { return number(l.grp_jobs_accrue); }},
    {"grp_submit_jobs", [](const Limits& l) { return number(l.grp_submit_jobs); }},
    {"grp_wall", [](const Limits& l) { return number(l.grp_wall_min); }},
    {"grp_tres", [](const Limits& l) { return l.grp_tres.str(); }},
    {"grp_tres_mins", [](const Limits& l) { return l.grp_tres_mins.str(); }},
    {"grp_tres_run_mins", [](const Limits& l) { return l.grp_tres_run_mins.str(); }},
    {"max_jobs", [](const Limits& l) { return number(l.max_jobs); }},
    {"max_jobs_accrue", [](const Limits& l) { return number(l.max_jobs_accrue); }},
    {"max_submit_jobs", [](const Limits& l) { return number(l.max_submit_jobs); }},
    {"max_wall", [](const Limits& l) { return number(l.max_wall_min); }},
    {"max_tres_per_job", [](const Limits& l) { return l.max_tres_per_job.str(); }},
    {"max_tres_per_node", [](const Limits& l) { return l.max_tres_per_node.str(); }},
    {"max_tres_mins_per_job", [](const Limits& l) { return l.max_tres_mins_per_job.str(); }},
    {"min_priority_threshold", [](const Limits& l) { return number(l.min_priority_threshold); }},
};

constexpr Described<Association> association_fields[] = {
    {"fairshare", [](const Association& a) { return a.shares_parent ? "parent" : std::to_string(a.shares); }},
    {"priority", [](const Association& a) { return std::to_string(a.priority); }},
    {"qos", [](const Association& a) { return names(a.qos); }},
    {"default_qos", [](const Association& a) { return a.default_qos.str(); }},
    {"is_default", [](const Association& a) { return std::string{a.is_default ? "1" : "0"}; }},
    {"comment", [](const Association& a) { return a.comment.str(); }},
};

constexpr Described<Qos> qos_fields[] = {
    {"description", [](const Qos& q) { return q.description.str(); }},
    {"priority", [](const Qos& q) { return std::to_string(q.priority); }},
    {"flags", [](const Qos& q) { return std::to_string(q.flags); }},
    {"grace_time", [](const Qos& q) { return std::to_string(q.grace_time_s); }},
    {"preempt", [](const Qos& q) { return names(q.preempt); }},
    {"usage_factor", [](const Qos& q) { return fmt::format("{}", q.usage_factor); }},
    {"max_tres_per_user", [](const Qos& q) { return q.max_tres_per_user.str(); }},
    {"max_tres_per_account", [](const Qos& q) { return q.max_tres_per_account.str(); }},
    {"max_jobs_per_account", [](const Qos& q) { return number(q.max_jobs_per_account); }},
    {"max_submit_jobs_per_account", [](const Qos& q) { return number(q.max_submit_jobs_per_account); }},
    {"min_tres_per_job", [](const Qos& q) { return q.min_tres_per_job.str(); }},
};

template <class Record>
void add_differences(std::string& text, std::span<const Described<Record>> fields, const Record& now,
                     const Record* before) {
    const Record fresh{};
    for (const auto& field : fields)
        if (const auto value = field.text(now); value != field.text(before ? *before : fresh))
            text += fmt::format("{}{}='{}'", text.empty() ? "" : ",", field.name, value);
}

std::string_view verb(Edit edit) {
    return edit == Edit::create ? "Add" : edit == Edit::remove ? "Remove" : "Modify";
}
std::string action(Edit edit, std::string_view what) { return fmt::format("{} {}", verb(edit), what); }
Text named(const Text& name) { return Text{fmt::format("name='{}'", name)}; }

}  // namespace

AccountsChange describe_edit(const AccountsEdit& edit, const Cluster& before, const Text& actor) {
    AccountsChange change;
    change.actor = actor;
    std::string text;
    if (edit.account) {
        const auto& now = edit.account->account;
        change.action = Text{action(edit.account->edit, "Accounts")};
        change.subject = named(now.name);
        if (edit.account->edit != Edit::remove)
            add_differences<Account>(text, account_fields, now, find_in(before.accounts(), now.name));
    } else if (edit.user) {
        const auto& now = edit.user->user;
        change.action = Text{action(edit.user->edit, "Users")};
        change.subject = named(now.name);
        if (edit.user->edit != Edit::remove)
            add_differences<User>(text, user_fields, now, find_in(before.users(), now.name));
    } else if (edit.association) {
        const auto& now = edit.association->association;
        change.action = Text{action(edit.association->edit, "Associations")};
        change.subject = Text{fmt::format("account='{}'{}{}", now.account,
                                          now.user.empty() ? "" : fmt::format(",user='{}'", now.user),
                                          now.partition.empty() ? "" : fmt::format(",partition='{}'", now.partition))};
        const auto* old = before.find_association(now.account, now.user, now.partition);
        if (edit.association->edit != Edit::remove) {
            add_differences<Association>(text, association_fields, now, old);
            add_differences<Limits>(text, limit_fields, now.limits, old ? &old->limits : nullptr);
        }
    } else if (edit.qos) {
        const auto& now = edit.qos->qos;
        const auto* old = find_in(before.qos(), now.name);
        change.action = Text{action(edit.qos->edit, "QOS")};
        change.subject = named(now.name);
        if (edit.qos->edit != Edit::remove) {
            add_differences<Qos>(text, qos_fields, now, old);
            add_differences<Limits>(text, limit_fields, now.limits, old ? &old->limits : nullptr);
        }
    } else if (edit.reset) {
        change.action = Text{"Reset Usage"};
        change.subject = Text{fmt::format("account='{}',user='{}',qos='{}'", edit.reset->account, edit.reset->user,
                                          edit.reset->qos)};
    }
    change.change = Text{text};
    return change;
}

}  // namespace spur
