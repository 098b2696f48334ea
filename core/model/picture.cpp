// What follows from a cluster's records, for whoever holds them.
#include "core/model/picture.hpp"

#include <algorithm>

#include "core/base/find_in.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

std::string association_key(std::string_view account, std::string_view user, std::string_view partition) {
    std::string key{account};
    key.append(1, '\0').append(user).append(1, '\0').append(partition);
    return key;
}

const LicensePool* Picture::find_license(std::string_view name) const { return find_in(licenses(), name); }
const Account* Picture::find_account(std::string_view name) const { return find_in(accounts(), name); }
const User* Picture::find_user(std::string_view name) const { return find_in(users(), name); }
const Qos* Picture::find_qos(std::string_view name) const { return find_in(qos(), name); }
const Association* Picture::find_association(AssociationId id) const { return find_in(associations(), id); }

const Association* Picture::find_association(std::string_view account, std::string_view user,
                                             std::string_view partition) const {
    const auto& names = association_names();
    if (names.empty()) return nullptr;
    const auto* exact = find_in(names, association_key(account, user, partition));
    if (!exact && !partition.empty()) exact = find_in(names, association_key(account, user, {}));
    return exact ? find_association(*exact) : nullptr;
}

bool Picture::is_below(AssociationId id, AssociationId top) const {
    const auto* up = find_association(id);
    while (up && up->id != top) up = find_association(up->parent);
    return up != nullptr;
}

bool Picture::coordinates(std::string_view user, std::string_view account, const Association* entry) const {
    if (user.empty()) return false;
    const auto has = [&](std::string_view name) {
        const auto* found = find_account(name);
        return found && std::ranges::any_of(found->coordinators, [&](const Text& one) { return one == user; });
    };
    if (has(account)) return true;
    for (; entry; entry = find_association(entry->parent))
        if (has(entry->account)) return true;
    return false;
}

bool Picture::may_change(const Actor& actor, const Job& job) const {
    return actor.is_operator() || actor.uid == job.spec->uid ||
           coordinates(actor.name, job.spec->account, find_association(job.association));
}

const Job* Picture::find_task(JobId array, std::uint32_t task) const {
    if (const auto* own = find_member(array, task); own && own->array_job == array) return own;
    const auto* record = find_job(array);
    return record && record->array_pending && record->array_pending->contains(task) ? record : nullptr;
}

Result<std::vector<Picture::Named>> Picture::resolve(const JobRef& ref) const {
    std::vector<Named> found;
    const JobId id{ref.job};
    const auto* record = find_job(id);
    const auto add_member = [&](const Job& member) { found.push_back({&member, {}}); };
    if (ref.component) {
        if (const auto* part = find_member(id, *ref.component); part && part->het_job == id) add_member(*part);
    } else if (find_array(id)) {
        const bool all = !ref.has_tasks() || ref.all_tasks;
        if (record && record->array_pending) {
            auto wanted = all ? *record->array_pending : *record->array_pending & ref.tasks;
            if (wanted.size() == record->array_pending->size())
                found.push_back({record, {}});
            else if (!wanted.empty())
                found.push_back({record, std::move(wanted)});
        }
        if (all) {
            for_each_member(id, add_member);
        } else if (ref.tasks.size() < member_count(id)) {
            for (auto task = ref.tasks.first(); task; task = ref.tasks.next(*task + 1))
                if (const auto* own = find_member(id, *task)) add_member(*own);
        } else {
            for_each_member(id, [&](const Job& member) {
                if (ref.tasks.contains(*member.array_task)) add_member(member);
            });
        }
    } else if (!ref.has_tasks()) {
        for_each_member(id, add_member);
        if (found.empty() && record) add_member(*record);
    }
    if (found.empty()) return fail(refusal::invalid_job_id);
    return found;
}

}  // namespace spur
