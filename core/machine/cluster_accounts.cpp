// Accounts, users, associations and QOS: sacctmgr's objects.
#include <algorithm>

#include "core/machine/account_changes.hpp"
#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

constexpr std::string_view root = "root";

std::unexpected<Error> unknown(std::string_view kind, std::string_view name) {
    return fail(ErrorCode::not_found, "{} \"{}\" does not exist", kind, name);
}
std::unexpected<Error> known(std::string_view kind, std::string_view name) {
    return fail(ErrorCode::conflict, "{} \"{}\" exists already", kind, name);
}

template <class Map, class Key>
Result<void> check_edit(const Map& map, const Key& name, Edit edit, std::string_view kind) {
    if (name.empty()) return fail(ErrorCode::invalid, "the {} has no name", kind);
    const bool exists = map.contains(name);
    if (edit == Edit::create && exists) return known(kind, name);
    if (edit != Edit::create && !exists) return unknown(kind, name);
    return {};
}

}  // namespace

// Every cluster has the root of the tree and one QOS to begin with, as with slurmdbd.
void ClusterOps::ensure_root() {
    if (!c.accounts_.contains(root)) c.accounts_[Text{root}] = {Text{root}, "default root account", Text{root}, {}};
    if (!c.find_association(root, {}, {})) {
        Association top;
        top.id = AssociationId{c.next_association_id_++};
        top.account = Text{root};
        top.version = version;
        c.associations_[top.id] = top;
        index_associations();
    }
    if (c.qos_.empty()) {
        Qos normal;
        normal.id = c.next_qos_id_++;
        normal.name = "normal";
        normal.description = "Normal QOS default";
        normal.version = version;
        c.qos_[normal.name] = normal;
    }
}

void ClusterOps::index_associations() {
    auto names = std::make_shared<AssociationNames>();
    for (const auto& [id, entry] : c.associations_)
        (*names)[association_key(entry.account, entry.user, entry.partition)] = id;
    c.association_names_ = std::move(names);
}

bool ClusterOps::is_association_used(const Association& entry) const {
    const auto uses = [&](JobId id) { return c.jobs_.at(id).association == entry.id; };
    return std::ranges::any_of(c.pending_, uses) || std::ranges::any_of(c.active_, uses);
}

Result<void> ClusterOps::on(const EditAccount& cmd) {
    const auto& name = cmd.account.name;
    SPUR_CHECK(check_edit(c.accounts_, name, cmd.edit, "account"));
    if (cmd.edit == Edit::remove) {
        if (name == root) return fail(ErrorCode::denied, "the root account cannot be removed");
        for (const auto& [id, entry] : c.associations_) {
            const auto* parent = c.find_association(entry.parent);
            const bool inside = entry.account == name || (parent && parent->account == name);
            if (inside) return fail(ErrorCode::conflict, "account \"{}\" has associations; remove them first", name);
        }
        c.accounts_.erase(name);
    } else {
        c.accounts_[name] = cmd.account;
    }
    events.push_back(AssociationsChanged{});
    return {};
}

Result<void> ClusterOps::on(const EditUser& cmd) {
    const auto& name = cmd.user.name;
    SPUR_CHECK(check_edit(c.users_, name, cmd.edit, "user"));
    if (cmd.edit == Edit::remove) {
        for (const auto& [id, entry] : c.associations_)
            if (entry.user == name)
                return fail(ErrorCode::conflict, "user \"{}\" has associations; remove them first", name);
        c.users_.erase(name);
    } else {
        if (!cmd.user.default_account.empty() && !c.accounts_.contains(cmd.user.default_account))
            return unknown("account", cmd.user.default_account);
        c.users_[name] = cmd.user;
    }
    events.push_back(AssociationsChanged{});
    return {};
}

Result<void> ClusterOps::on(const EditAssociation& cmd) {
    const auto& wanted = cmd.association;
    if (!c.accounts_.contains(wanted.account)) return unknown("account", wanted.account);
    if (!wanted.user.empty() && !c.users_.contains(wanted.user)) return unknown("user", wanted.user);
    const auto& names = c.association_names();
    const auto place = names.find(association_key(wanted.account, wanted.user, wanted.partition));
    const bool exists = place != names.end();
    if (exists == (cmd.edit == Edit::create))
        return fail(exists ? ErrorCode::conflict : ErrorCode::not_found,
                    "the association of account \"{}\", user \"{}\", partition \"{}\" {}", wanted.account, wanted.user,
                    wanted.partition, exists ? "exists already" : "does not exist");
    for (const auto& name : wanted.qos)
        if (!c.qos_.contains(name)) return unknown("qos", name);
    if (cmd.edit == Edit::remove) return remove_association(place->second);

    const auto* parent = wanted.user.empty()
                             ? c.find_association(cmd.parent_account.empty() ? root : cmd.parent_account.view(), {}, {})
                             : c.find_association(wanted.account, {}, {});
    const bool top = wanted.account == root && wanted.user.empty();
    if (!parent && !top)
        return unknown("parent account", cmd.parent_account.empty() ? wanted.account : cmd.parent_account);
    if (exists && parent && !top && wanted.user.empty())
        for (const auto* up = parent; up; up = c.find_association(up->parent))
            if (up->id == place->second)
                return fail(ErrorCode::invalid, "account \"{}\" cannot be below itself", wanted.account);
    Association entry = wanted;
    entry.id = exists ? place->second : AssociationId{c.next_association_id_++};
    entry.parent = top ? AssociationId{} : parent->id;
    entry.usage = exists ? c.associations_.at(entry.id).usage : Usage{};
    entry.version = version;
    c.associations_[entry.id] = std::move(entry);
    index_associations();
    recount();
    events.push_back(AssociationsChanged{});
    return {};
}

Result<void> ClusterOps::remove_association(AssociationId id) {
    const auto& entry = c.associations_.at(id);
    if (!entry.parent) return fail(ErrorCode::denied, "the root association cannot be removed");
    if (is_association_used(entry)) return fail(refusal::association_in_use);
    for (const auto& [other, child] : c.associations_)
        if (child.parent == id)
            return fail(ErrorCode::conflict, "account \"{}\" has users or accounts below it; remove them first",
                        entry.account);
    c.associations_.erase(id);
    index_associations();
    events.push_back(AssociationsChanged{});
    return {};
}

// Edits build on those before them, so they are tried out for real; if one is refused, all is put back as it was.
Result<void> ClusterOps::on(const EditAccounts& cmd) {
    const auto accounts = c.accounts_;
    const auto users = c.users_;
    const auto associations = c.associations_;
    const auto qos = c.qos_;
    const auto next_association = c.next_association_id_, next_qos = c.next_qos_id_;
    Result<void> done;
    std::vector<AccountsChange> changes;
    for (const auto& edit : cmd.edits) {
        if (posts_events()) changes.push_back(describe_edit(edit, c, cmd.actor));
        if (edit.account)
            done = on(*edit.account);
        else if (edit.user)
            done = on(*edit.user);
        else if (edit.association)
            done = on(*edit.association);
        else if (edit.qos)
            done = on(*edit.qos);
        else if (edit.reset)
            done = on(*edit.reset);
        else
            done = fail(ErrorCode::invalid, "an edit names no record");
        if (!done) break;
    }
    if (done) {
        post_edits(std::move(changes));
        return {};
    }
    c.accounts_ = accounts;
    c.users_ = users;
    c.associations_ = associations;
    c.qos_ = qos;
    c.next_association_id_ = next_association;
    c.next_qos_id_ = next_qos;
    index_associations();
    recount();
    return done;
}

Result<void> ClusterOps::on(const EditQos& cmd) {
    const auto& name = cmd.qos.name;
    SPUR_CHECK(check_edit(c.qos_, name, cmd.edit, "qos"));
    if (cmd.edit == Edit::remove) {
        const auto uses = [&](JobId id) { return c.jobs_.at(id).spec->qos == name; };
        if (std::ranges::any_of(c.pending_, uses) || std::ranges::any_of(c.active_, uses))
            return fail(refusal::association_in_use);
        for (auto& [id, entry] : c.associations_) std::erase(entry.qos, name);
        c.qos_.erase(name);
    } else {
        for (const auto& other : cmd.qos.preempt)
            if (!c.qos_.contains(other)) return unknown("qos", other);
        Qos qos = cmd.qos;
        const auto place = c.qos_.find(name);
        qos.id = place == c.qos_.end() ? c.next_qos_id_++ : place->second.id;
        qos.usage = place == c.qos_.end() ? Usage{} : place->second.usage;
        qos.version = version;
        c.qos_[name] = std::move(qos);
    }
    recount();
    events.push_back(AssociationsChanged{});
    return {};
}

}  // namespace spur
