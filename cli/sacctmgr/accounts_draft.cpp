// Looking accounts, users, QOS and associations up, and noting down each edit with the line that announces it.
#include "cli/sacctmgr/accounts_draft.hpp"

#include <algorithm>
#include <set>

namespace spur::cli::sacctmgr {
namespace {

template <class List, class Match>
auto find(const List& list, Match&& match) -> decltype(&*list.begin()) {
    const auto found = std::find_if(list.begin(), list.end(), match);
    return found == list.end() ? nullptr : &*found;
}

v1::AccountsEdit& add(std::vector<v1::AccountsEdit>& edits, v1::AccountsEdit::Action action) {
    edits.emplace_back().set_action(action);
    return edits.back();
}

}  // namespace

const v1::Account* AccountsDraft::account(std::string_view name) const {
    return find(all.accounts(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::AccountUser* AccountsDraft::user(std::string_view name) const {
    return find(all.users(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::Qos* AccountsDraft::qos(std::string_view name) const {
    return find(all.qos(), [&](const auto& entry) { return entry.name() == name; });
}
const v1::Association* AccountsDraft::association(std::string_view account, std::string_view user,
                                                  std::string_view partition) const {
    return find(all.associations(), [&](const auto& entry) {
        return entry.account() == account && entry.user() == user && entry.partition() == partition;
    });
}
const v1::Association* AccountsDraft::by_id(std::uint32_t id) const {
    return find(all.associations(), [&](const auto& entry) { return entry.id() == id; });
}

bool AccountsDraft::is_below(const v1::Association& entry, std::string_view account) const {
    for (const auto* up = &entry; up != nullptr; up = parent(*up))
        if (up->account() == account) return true;
    return false;
}

std::vector<const v1::Association*> AccountsDraft::below(std::string_view account) const {
    std::vector<const v1::Association*> found;
    for (const auto& entry : all.associations())
        if (is_below(entry, account)) found.push_back(&entry);
    return found;
}

Names AccountsDraft::qos_of(const v1::Association& entry) const {
    const auto* up = &entry;
    while (up != nullptr && up->qos().empty()) up = parent(*up);
    Names names = up != nullptr ? Names{up->qos().begin(), up->qos().end()} : Names{"normal"};
    std::ranges::sort(names);
    return names;
}

std::string AccountsDraft::default_qos_of(const v1::Association& entry) const {
    const auto* up = &entry;
    while (up != nullptr && up->default_qos().empty()) up = parent(*up);
    return up != nullptr ? up->default_qos() : std::string{};
}

v1::AccountLimits AccountsDraft::limits_of(const v1::Association& entry) const {
    auto limits = entry.limits();
    const auto inherit_tres = [](auto& own, const auto& above) {
        auto list = tres_of(own);
        for (const auto& tres : above)
            if (!list.find(tres.name())) list.set(tres.name(), tres.count());
        set_tres(own, list);
    };
    for (const auto* up = parent(entry); up != nullptr; up = parent(*up)) {
        const auto& above = up->limits();
        if (!limits.has_max_jobs() && above.has_max_jobs()) limits.set_max_jobs(above.max_jobs());
        if (!limits.has_max_submit_jobs() && above.has_max_submit_jobs())
            limits.set_max_submit_jobs(above.max_submit_jobs());
        if (!limits.has_max_wall_min() && above.has_max_wall_min()) limits.set_max_wall_min(above.max_wall_min());
        inherit_tres(*limits.mutable_max_tres_per_job(), above.max_tres_per_job());
        inherit_tres(*limits.mutable_max_tres_per_node(), above.max_tres_per_node());
        inherit_tres(*limits.mutable_max_tres_mins_per_job(), above.max_tres_mins_per_job());
    }
    return limits;
}

Names AccountsDraft::coordinators_of(std::string_view account) const {
    std::set<std::string> names;
    for (const auto* up = own(account); up != nullptr; up = parent(*up))
        if (const auto* record = this->account(up->account()))
            names.insert(record->coordinators().begin(), record->coordinators().end());
    return {names.begin(), names.end()};
}

using Edit = v1::AccountsEdit;
void AccountsDraft::create(const v1::Account& record) { *add(edits, Edit::CREATE).mutable_account() = record; }
void AccountsDraft::create(const v1::AccountUser& record) { *add(edits, Edit::CREATE).mutable_user() = record; }
void AccountsDraft::create(const v1::Association& record) { *add(edits, Edit::CREATE).mutable_association() = record; }
void AccountsDraft::create(const v1::Qos& record) { *add(edits, Edit::CREATE).mutable_qos() = record; }
void AccountsDraft::update(const v1::Account& record) { *add(edits, Edit::UPDATE).mutable_account() = record; }
void AccountsDraft::update(const v1::AccountUser& record) { *add(edits, Edit::UPDATE).mutable_user() = record; }
void AccountsDraft::update(const v1::Association& record) { *add(edits, Edit::UPDATE).mutable_association() = record; }
void AccountsDraft::update(const v1::Qos& record) { *add(edits, Edit::UPDATE).mutable_qos() = record; }
void AccountsDraft::remove(const v1::Account& record) { *add(edits, Edit::REMOVE).mutable_account() = record; }
void AccountsDraft::remove(const v1::AccountUser& record) { *add(edits, Edit::REMOVE).mutable_user() = record; }
void AccountsDraft::remove(const v1::Association& record) { *add(edits, Edit::REMOVE).mutable_association() = record; }
void AccountsDraft::remove(const v1::Qos& record) { *add(edits, Edit::REMOVE).mutable_qos() = record; }
void AccountsDraft::reset_usage(const v1::Association& record) {
    *add(edits, Edit::RESET_USAGE).mutable_association() = record;
}

TresList tres_of(const google::protobuf::RepeatedPtrField<v1::TresCount>& wire) {
    TresList list;
    for (const auto& entry : wire) list.set(entry.name(), entry.count());
    return list;
}

void set_tres(google::protobuf::RepeatedPtrField<v1::TresCount>& wire, const TresList& list) {
    wire.Clear();
    for (const auto& entry : list.entries()) {
        auto& out = *wire.Add();
        out.set_name(entry.name);
        out.set_count(entry.count);
    }
}

}  // namespace spur::cli::sacctmgr
