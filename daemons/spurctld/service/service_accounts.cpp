// Accounts, shares and priorities: what sacctmgr, sshare and sprio ask.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/model/tres.hpp"
#include "core/text/lexical.hpp"
#include "core/store/state_version.hpp"
#include "daemons/spurctld/service/account_rights.hpp"
#include "daemons/spurctld/service/audit.hpp"
#include "daemons/spurctld/service/convert_accounts.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "daemons/spurctld/service/tracked_tres.hpp"

namespace spur::ctld {

namespace {

// Counts and minutes left of what runs now, by association; those of accounts include what is below them.
struct Running {
    struct Sum {
        std::uint32_t jobs{}, submitted{};
        TresList tres;
        std::map<std::string, double> left;
    };
    std::map<AssociationId, Sum> sums;

    explicit Running(const planning::ReadModel& model) {
        model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
            if (job->is_done() || !job->association) return;
            const bool runs = job->is_active() && job->allocation;
            const auto tres = runs ? allocated_tres(model, *job->allocation) : TresList{};
            const auto until = job->end_time != 0 ? job->end_time : model.now;
            const auto left_s = static_cast<double>(std::max<UnixSeconds>(until - model.now, 0));
            for (const auto* up = model.find_association(job->association); up;
                 up = model.find_association(up->parent)) {
                auto& sum = sums[up->id];
                sum.submitted += static_cast<std::uint32_t>(job->task_count());
                if (!runs) continue;
                ++sum.jobs;
                for (const auto& entry : tres.entries()) {
                    sum.tres.add(entry.name, entry.count);
                    sum.left[entry.name] += static_cast<double>(entry.count) * left_s;
                }
            }
        });
    }
    void put(AssociationId id, v1::AccountUsage& wire) const {
        const auto found = sums.find(id);
        if (found == sums.end()) return;
        wire.set_jobs(found->second.jobs);
        wire.set_submit_jobs(found->second.submitted);
        wire.clear_tres();
        for (const auto& entry : found->second.tres.entries()) {
            auto& out = *wire.add_tres();
            out.set_name(entry.name);
            out.set_count(entry.count);
        }
        for (const auto& [name, seconds] : found->second.left) {
            auto& out = *wire.add_run_left();
            out.set_name(name);
            out.set_seconds(seconds);
        }
    }
};

std::vector<const Association*> parents_first(const planning::Directory& directory) {
    std::map<AssociationId, std::vector<const Association*>> children;
    for (const auto& [id, entry] : directory.associations) children[entry.parent].push_back(&entry);
    std::vector<const Association*> order;
    const auto visit = [&](const auto& self, AssociationId parent) -> void {
        for (const auto* entry : children[parent]) {
            order.push_back(entry);
            self(self, entry->id);
        }
    };
    visit(visit, AssociationId{});
    return order;
}

Result<Command> command_of(const v1::AccountsEdit& edit, const Picture& picture) {
    using Action = v1::AccountsEdit;
    const auto changed = [](std::string_view what) {
        return fail(ErrorCode::conflict, "{} was changed by somebody else meanwhile; look again", what);
    };
    const auto action = edit.action() == Action::CREATE   ? Edit::create
                        : edit.action() == Action::REMOVE ? Edit::remove
                                                          : Edit::update;
    if (edit.action() == Action::RESET_USAGE) {
        if (edit.has_qos()) return ResetUsage{{}, {}, Text{edit.qos().name()}};
        if (edit.has_association())
            return ResetUsage{Text{edit.association().account()}, Text{edit.association().user()}, {}};
        return fail(ErrorCode::invalid, "only associations and QOS have usage");
    }
    switch (edit.record_case()) {
        case Action::kAccount:
            return EditAccount{action, account_from_wire(edit.account())};
        case Action::kUser: {
            SPUR_TRY(auto user, user_from_wire(edit.user()));
            return EditUser{action, std::move(user)};
        }
        case Action::kAssociation: {
            SPUR_TRY(auto command, association_from_wire(edit.association()));
            command.edit = action;
            if (const auto* known = picture.find_association(AssociationId{edit.association().id()});
                action == Edit::update && known && known->version != edit.association().version())
                return changed("the association");
            return command;
        }
        case Action::kQos: {
            SPUR_TRY(auto qos, qos_from_wire(edit.qos()));
            if (const auto* known = picture.find_qos(qos.name);
                action == Edit::update && known && known->version != edit.qos().version())
                return changed("the QOS");
            return EditQos{action, std::move(qos)};
        }
        default:
            return fail(ErrorCode::invalid, "an edit names no record");
    }
}

// Slurm's columns in the order of JobPriority.raw, by the plugin's names for them; one that ends with a slash takes all
// that begin with it.
constexpr std::string_view columns[] = {SPUR_FACTOR_AGE, SPUR_FACTOR_FAIRSHARE, SPUR_FACTOR_JOB_SIZE,
                                        SPUR_FACTOR_PARTITION, SPUR_FACTOR_QOS, SPUR_FACTOR_TRES,
                                        SPUR_FACTOR_ASSOCIATION};
constexpr std::size_t tres_column = 5, site_column = std::size(columns), column_count = site_column + 1;

std::optional<std::size_t> column_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(columns); ++i)
        if (columns[i].ends_with('/') ? name.starts_with(columns[i]) : name == columns[i]) return i;
    return std::nullopt;
}

using Factors = std::vector<planning::PriorityReport::Factor>;

void weights_to_wire(const Factors& factors, v1::ListPrioritiesReply& reply) {
    std::array<double, column_count> weights{};
    weights[site_column] = 1;
    std::string tres;
    for (const auto& [name, help, weight] : factors) {
        const auto column = column_of(name);
        if (!column) continue;
        weights[*column] += weight;
        if (*column == tres_column)
            tres += fmt::format("{}{}={}", tres.empty() ? "" : ",", name.substr(columns[tres_column].size()), weight);
    }
    if (!factors.empty()) reply.mutable_weights()->Assign(weights.begin(), weights.end());
    reply.set_tres_weights(tres);
}

void line_to_wire(const Factors& factors, const planning::PriorityReport::Line& line, v1::JobPriority& wire) {
    std::array<double, column_count> raw{}, weighted{};
    for (std::size_t i = 0; i < std::min(factors.size(), line.raw.size()); ++i) {
        const auto column = column_of(factors[i].name);
        if (!column) continue;
        raw[*column] += line.raw[i];
        weighted[*column] += line.weighted[i];
        if (*column != tres_column) continue;
        for (auto [list, value] : {std::pair{wire.mutable_tres_raw(), line.raw[i]},
                                   std::pair{wire.mutable_tres_weighted(), line.weighted[i]}}) {
            auto& part = *list->Add();
            part.set_name(lower(std::string_view{factors[i].name}.substr(columns[tres_column].size())));
            part.set_seconds(value);
        }
    }
    wire.mutable_raw()->Assign(raw.begin(), raw.end());
    wire.mutable_weighted()->Assign(weighted.begin(), weighted.end());
}

// One line of the audit trail.
std::string note_of(const AccountsEdit& edit, const Actor& who) {
    const auto line = [&](std::string_view what, std::string_view name, std::string_view verb) {
        return fmt::format("{} {}: {} by {}", what, audited(name), verb, audited(who));
    };
    if (edit.account) return line("account", edit.account->account.name.view(), past_of(edit.account->edit));
    if (edit.user) return line("user", edit.user->user.name.view(), past_of(edit.user->edit));
    if (edit.qos) return line("qos", edit.qos->qos.name.view(), past_of(edit.qos->edit));
    if (edit.reset) {
        const auto name = fmt::format("{} {} {}", edit.reset->account, edit.reset->user, edit.reset->qos);
        return line("usage of", trim(name), "reset");
    }
    if (!edit.association) return {};
    const auto& link = edit.association->association;
    return line("association of", trim(fmt::format("{} {} {}", link.account, link.user, link.partition)),
                past_of(edit.association->edit));
}

}  // namespace

std::vector<std::string> tracked_tres(const planning::ReadModel& model) {
    std::vector<std::string> names{"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"};
    std::set<std::string> more;
    model.nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) {
        for (const auto& pool : node->gres) {
            more.insert("gres/" + pool.name.str());
            if (!pool.type.empty()) more.insert("gres/" + pool.name.str() + ":" + pool.type.str());
        }
    });
    for (const auto& [name, pool] : model.directory->licenses) more.insert("license/" + name.str());
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

void Service::list_accounts(const Call& call) {
    in_background([this, call] {
        const auto model = engine_.model();
        const auto& directory = *model->directory;
        v1::ListAccountsReply reply;
        reply.set_cluster(directory.cluster_name.str());
        const Privacy privacy{actor(call), *model};
        for (const auto& [name, account] : directory.accounts)
            if (privacy.shows(account)) account_to_wire(account, *reply.add_accounts());
        for (const auto& [name, user] : directory.users)
            if (privacy.shows(user)) user_to_wire(user, *reply.add_users());
        const Running running{*model};
        for (const auto* entry : parents_first(directory)) {
            if (!privacy.shows(*entry)) continue;
            auto& wire = *reply.add_associations();
            association_to_wire(*entry, wire);
            if (privacy.shows_usage(*entry))
                running.put(entry->id, *wire.mutable_usage());
            else
                wire.clear_usage();
            if (const auto* parent = model->find_association(entry->parent))
                wire.set_parent_account(parent->account.str());
        }
        for (const auto& [name, qos] : directory.qos) qos_to_wire(qos, *reply.add_qos());
        for (const auto& name : tracked_tres(*model)) reply.add_tres(name);
        constexpr std::pair<std::uint32_t, const char*> words[] = {{enforce_flag::associations, "associations"},
                                                                   {enforce_flag::limits, "limits"},
                                                                   {enforce_flag::qos, "qos"},
                                                                   {enforce_flag::safe, "safe"},
                                                                   {enforce_flag::wckeys, "wckeys"}};
        for (const auto& [flag, word] : words)
            if (directory.policies.enforce & flag) reply.add_enforce(word);
        reply.set_control_host(hooks_.listen_host);
        reply.set_control_port(hooks_.listen_port);
        call.reply_with(reply);
    });
}

// What one command of sacctmgr asks for happens as a whole, or not at all.
void Service::edit_accounts(const Call& call) {
    const auto request = call.parse<v1::EditAccountsRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const auto who = actor(call);
    EditAccounts all;
    if (model->state_version() >= version_with_outbox_readers)
        all.actor = who.name.empty() ? Text{std::to_string(who.uid)} : who.name;
    for (const auto& wire : request->edits()) {
        auto command = command_of(wire, *model);
        if (!command) return answer_edit(call, command.error());
        if (const auto allowed = may_edit(who, *command, *model); !allowed) {
            hooks_.log(fmt::format("{}: uid {} may not change accounts: {}", call.peer().address, who.uid,
                                   allowed.error().text));
            return answer_edit(call, allowed.error());
        }
        auto& edit = all.edits.emplace_back();
        if (auto* account = std::get_if<EditAccount>(&*command)) edit.account = std::move(*account);
        if (auto* user = std::get_if<EditUser>(&*command)) edit.user = std::move(*user);
        if (auto* association = std::get_if<EditAssociation>(&*command)) edit.association = std::move(*association);
        if (auto* qos = std::get_if<EditQos>(&*command)) edit.qos = std::move(*qos);
        if (auto* reset = std::get_if<ResetUsage>(&*command)) edit.reset = std::move(*reset);
    }
    const auto count = static_cast<std::uint32_t>(all.edits.size());
    std::vector<std::string> notes;
    for (const auto& edit : all.edits) notes.push_back(note_of(edit, who));
    engine_.propose(std::move(all), [this, call, count, notes = std::move(notes)](const Result<Events>& result) {
        if (!result) return answer_edit(call, result.error());
        for (const auto& note : notes) hooks_.audit(note);
        v1::EditAccountsReply reply;
        reply.set_applied(count);
        call.reply_with(reply);
    });
}

void Service::answer_edit(const Call& call, const Error& error) const {
    if (error.code == ErrorCode::unavailable) return refuse(call, error);  // another controller may do it
    v1::EditAccountsReply reply;
    reply.set_error(error.text);
    reply.set_error_code(std::string{wire::name_of(error.code)});
    reply.set_slurm_error(error.slurm_error);
    call.reply_with(reply);
}

void Service::list_shares(const Call& call) {
    if (!engine_.leadership().is_leader) return refuse(call, {ErrorCode::unavailable, "this controller does not lead"});
    in_background([this, call] {
        const auto model = engine_.model();
        const auto& directory = *model->directory;
        const auto shares = hooks_.priorities().shares();
        v1::ListSharesReply reply;
        reply.set_fair_tree(hooks_.priority_option("algorithm") != "classic");
        reply.set_cluster(directory.cluster_name.str());
        for (const auto& name : tracked_tres(*model)) reply.add_tres(name);
        const Running running{*model};
        const Privacy privacy{actor(call), *model};
        for (const auto* entry : parents_first(directory)) {
            if (!privacy.shows(*entry) || !privacy.shows_usage(*entry)) continue;
            auto& wire = *reply.add_shares();
            association_to_wire(*entry, *wire.mutable_association());
            running.put(entry->id, *wire.mutable_association()->mutable_usage());
            const auto found = shares->find(entry->id);
            if (found == shares->end()) continue;
            wire.set_normalised_shares(found->second.normalised_shares);
            wire.set_normalised_usage(found->second.normalised_usage);
            wire.set_effective_usage(found->second.effective_usage);
            wire.set_level(found->second.level);
            wire.set_factor(found->second.factor);
        }
        call.reply_with(reply);
    });
}

void Service::list_priorities(const Call& call) {
    auto request = call.parse<v1::ListPrioritiesRequest>();
    if (!request) return refuse(call, request.error());
    if (!engine_.leadership().is_leader) return refuse(call, {ErrorCode::unavailable, "this controller does not lead"});
    in_background([this, call, request = std::move(*request)] {
        const auto model = engine_.model();
        const auto& report = hooks_.priorities();
        v1::ListPrioritiesReply reply;
        const auto factors = report.factors();
        weights_to_wire(*factors, reply);
        const std::set<std::uint32_t> ids{request.ids().begin(), request.ids().end()};
        const Privacy privacy{actor(call), *model};
        model->jobs.for_each([&](std::uint32_t id, const std::shared_ptr<const Job>& job) {
            if (!job->is_pending() || !job->eligible || !privacy.shows(*job)) return;
            if (!ids.empty() && !ids.contains(id) && !ids.contains(job->array_job.value)) return;
            for (const auto& line : report.find(job->id)) {
                auto& wire = *reply.add_jobs();
                wire.set_id(id);
                wire.set_user(job->spec->user_name.str());
                wire.set_uid(job->spec->uid);
                wire.set_account(job->spec->account.str());
                wire.set_qos(job->spec->qos.str());
                wire.set_partition(line.partition.str());
                wire.set_total(line.answer.total);
                wire.set_nice(job->spec->nice.value_or(0));
                line_to_wire(*factors, line, wire);
            }
        });
        call.reply_with(reply);
    });
}

}  // namespace spur::ctld
