// scontrol create and update reservation: Slurm's keys, and which nodes and cores a number of them means.
#include <algorithm>
#include <charconv>

#include "core/model/constraint.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/spurctld/service/updates.hpp"

namespace spur::ctld {

namespace {

// A key with what was done to it: "users", "users+", "users-".
struct Key {
    std::string_view name;
    char sign{};  // '+', '-' or none

    explicit Key(std::string_view key) : name{key} {
        if (!name.ends_with('+') && !name.ends_with('-')) return;
        sign = name.back();
        name.remove_suffix(1);
    }
};

Result<std::uint32_t> count_of(std::string_view key, std::string_view text) {
    const auto value = find_unsigned(text);
    if (!value || *value > UINT32_MAX) return fail(ErrorCode::invalid, "{}={} is not a number", key, text);
    return static_cast<std::uint32_t>(*value);
}

// "alice,bob" or "-carol": those it is for, or those it is not for.
Result<void> set_names(Key key, std::string_view text, UserDirectory& directory, std::vector<Text>& names, bool& deny) {
    std::vector<Text> given;
    std::size_t denied = 0;
    for (auto item : split(text, ',')) {
        if (item.empty()) continue;
        if (item.starts_with('-')) {
            item.remove_prefix(1);
            ++denied;
        }
        if (key.name == "users") {
            SPUR_TRY(const auto uid, find_uid(directory, std::string{item}));
            if (!uid) return fail(refusal::invalid_user.as(ErrorCode::invalid));
        }
        given.emplace_back(item);
    }
    if (denied != 0 && denied != given.size())
        return fail(ErrorCode::invalid, "{}: name either those who may use it or, with a minus, those who may not",
                    key.name);
    if (key.sign == '+') {
        for (const auto& name : given)
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    } else if (key.sign == '-') {
        std::erase_if(names, [&](const Text& name) { return std::ranges::find(given, name) != given.end(); });
    } else {
        names = std::move(given);
        deny = denied != 0;
    }
    return {};
}

Result<void> set_flags(Key key, std::string_view text, Reservation& wanted) {
    constexpr auto kept = reservation_flag::spec_nodes | reservation_flag::all_nodes | reservation_flag::begun;
    std::uint32_t purge_s = 0;
    SPUR_TRY(const auto flags, parse_reservation_flags(text, &purge_s));
    if (flags & reservation_flag::purge_comp) wanted.purge_comp_s = key.sign == '-' ? 0 : purge_s;
    if (text.empty()) return {};  // as Slurm has it: nothing to change
    if (key.sign == '+')
        wanted.flags |= flags;
    else if (key.sign == '-')
        wanted.flags &= ~flags;
    else
        wanted.flags = (wanted.flags & kept) | flags;
    return {};
}

Result<void> set_groups(Key key, std::string_view text, UserDirectory& directory, Reservation& wanted) {
    bool deny = false;
    SPUR_CHECK(set_names(key, text, directory, wanted.groups, deny));
    if (deny) return fail(ErrorCode::invalid, "groups cannot be kept out; name those who may use it");
    wanted.group_members.clear();
    for (const auto& name : wanted.groups) {
        SPUR_TRY(const auto members, directory.group_members(name.str()));
        if (!members) return fail(refusal::invalid_group.as(ErrorCode::invalid));
        wanted.group_members.insert(wanted.group_members.end(), members->begin(), members->end());
    }
    std::ranges::sort(wanted.group_members);
    const auto repeated = std::ranges::unique(wanted.group_members);
    wanted.group_members.erase(repeated.begin(), repeated.end());
    return {};
}

Result<void> set_licenses(std::string_view text, Reservation& wanted) {
    wanted.licenses.clear();
    for (const auto item : split(text, ',')) {
        if (item.empty()) continue;
        const auto mark = item.find_first_of(":=");
        std::uint32_t count = 1;
        if (mark != std::string_view::npos) {
            SPUR_TRY(count, count_of("Licenses", item.substr(mark + 1)));
        }
        wanted.licenses.push_back({Text{item.substr(0, mark)}, count});
    }
    return {};
}

// Which nodes a count means: of the partition, up, not reserved then, and free of jobs that would still run; idle ones
// first.
class Chooser {
public:
    Chooser(const planning::ReadModel& model, const Reservation& wanted)
        : model_{model}, wanted_{wanted}, features_{Constraint::parse(wanted.features).value_or(Constraint{})} {}

    std::vector<NodeId> candidates(const Partition& partition) const {
        std::vector<NodeId> free, busy;
        for (const auto id : partition.nodes) {
            const auto& node = model_.nodes.get(id.value);
            if (!node || !node->is_available() || is_reserved(id) || !has_features(*node)) continue;
            if (node->job_count == 0)
                free.push_back(id);
            else if (wanted_.has(reservation_flag::ignore_jobs) || !is_busy_then(id))
                busy.push_back(id);
        }
        free.insert(free.end(), busy.begin(), busy.end());
        return free;
    }

private:
    bool has_features(const Node& node) const {
        const auto& features = node.active_features.empty() ? node.features : node.active_features;
        return features_.empty() || features_.matches([&](std::string_view name) {
            return std::ranges::any_of(features, [&](const Text& feature) { return feature == name; });
        });
    }
    bool is_reserved(NodeId id) const {
        if (wanted_.has(reservation_flag::overlap) || wanted_.has(reservation_flag::maint)) return false;
        return std::ranges::any_of(model_.directory->reservations, [&](const Reservation& other) {
            return other.name != wanted_.name && other.holds_between(wanted_.start_time, wanted_.end_time) &&
                   std::ranges::binary_search(other.nodes, id);
        });
    }
    bool is_busy_then(NodeId id) const {
        bool busy = false;
        model_.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
            if (!job->allocation || !job->is_active()) return true;
            const auto here = [&](std::uint32_t share) { return job->allocation->shares[share].node == id; };
            busy = (job->end_time == 0 || job->end_time > wanted_.start_time) &&
                   std::ranges::any_of(job->open_shares, here);
            return !busy;
        });
        return busy;
    }

    const planning::ReadModel& model_;
    const Reservation& wanted_;
    Constraint features_;
};

// Features that no node has can never be found.
Result<void> check_features(const planning::ReadModel& model, const Text& text) {
    if (text.empty()) return {};
    const auto constraint = Constraint::parse(text);
    bool known = false;
    if (constraint)
        model.nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) {
            known = known || constraint->matches([&](std::string_view name) {
                return std::ranges::any_of(node->features, [&](const Text& feature) { return feature == name; });
            });
        });
    if (!known) return fail(refusal::invalid_feature);
    return {};
}

const Partition* partition_of(const planning::ReadModel& model, const Reservation& wanted) {
    return wanted.partition.empty() ? model.default_partition() : model.find_partition(wanted.partition);
}

Result<void> choose_nodes(const planning::ReadModel& model, std::uint32_t count, Reservation& wanted) {
    const auto* partition = partition_of(model, wanted);
    if (partition == nullptr) return fail(refusal::invalid_partition);
    auto nodes = Chooser{model, wanted}.candidates(*partition);
    if (nodes.size() < count) return fail(refusal::nodes_busy);
    nodes.resize(count);
    std::ranges::sort(nodes);
    wanted.nodes = std::move(nodes);
    wanted.partition = partition->name;
    wanted.flags &= ~(reservation_flag::spec_nodes | reservation_flag::all_nodes);
    return {};
}

// CoreCnt: so many cores of the nodes that were named, or of as few nodes as have them. Several counts: so many of one
// node each.
Result<void> choose_cores(const planning::ReadModel& model, const std::vector<std::uint32_t>& counts, bool nodes_named,
                          Reservation& wanted) {
    auto nodes = wanted.nodes;
    if (!nodes_named) {
        const auto* partition = partition_of(model, wanted);
        if (partition == nullptr) return fail(refusal::invalid_partition);
        nodes = Chooser{model, wanted}.candidates(*partition);
        wanted.partition = partition->name;
    }
    std::vector<NodeShare> shares;
    std::uint32_t total = 0;
    std::size_t which = 0;
    auto left = counts.front();
    for (const auto id : nodes) {
        const auto& node = model.nodes.get(id.value);
        if (left == 0 || !node) break;
        if (counts.size() > 1 && node->usable_cores().count() < left) continue;
        NodeShare share{.node = id};
        node->usable_cores().for_each([&](std::uint32_t core) {
            if (left == 0) return;
            share.cores.add(core);
            share.cpus += node->cpus_per_core();
            ++total;
            --left;
        });
        if (share.cpus != 0) shares.push_back(std::move(share));
        if (left == 0 && ++which < counts.size()) left = counts[which];
    }
    if (left != 0) return fail(refusal::nodes_busy);
    std::ranges::sort(shares, {}, &NodeShare::node);
    wanted.nodes.clear();
    for (const auto& share : shares) wanted.nodes.push_back(share.node);
    wanted.cores = std::move(shares);
    wanted.core_count = total;
    return {};
}

Result<void> name_nodes(const planning::ReadModel& model, std::string_view text, Reservation& wanted) {
    wanted.nodes.clear();
    wanted.cores.clear();
    wanted.flags = (wanted.flags & ~reservation_flag::all_nodes) | reservation_flag::spec_nodes;
    if (equal_nocase(text, "ALL")) {
        wanted.flags |= reservation_flag::all_nodes;
        for (const auto& [name, id] : *model.node_ids) wanted.nodes.push_back(id);
    } else {
        SPUR_TRY(const auto hosts, expand_hosts(text));
        for (const auto& host : hosts) {
            const auto* node = model.find_node(host);
            if (node == nullptr) return fail(refusal::invalid_node.as(ErrorCode::not_found));
            wanted.nodes.push_back(node->id);
        }
    }
    std::ranges::sort(wanted.nodes);
    const auto repeated = std::ranges::unique(wanted.nodes);
    wanted.nodes.erase(repeated.begin(), repeated.end());
    return {};
}

// Settings that stand for themselves; what depends on others comes after all have been read.
Result<bool> set_plain(Key key, const std::string& value, UserDirectory& directory, Reservation& wanted) {
    if (key.name == "users" || key.name == "accounts") {
        const bool users = key.name == "users";
        SPUR_CHECK(set_names(key, value, directory, users ? wanted.users : wanted.accounts,
                             users ? wanted.deny_users : wanted.deny_accounts));
    } else if (key.name == "groups") {
        SPUR_CHECK(set_groups(key, value, directory, wanted));
    } else if (key.name == "flags") {
        SPUR_CHECK(set_flags(key, value, wanted));
    } else if (key.name == "licenses") {
        SPUR_CHECK(set_licenses(value, wanted));
    } else if (key.name == "features") {
        wanted.features = Text{value};
    } else if (key.name == "partitionname") {
        wanted.partition = Text{value};
    } else if (key.name == "comment") {
        wanted.comment = Text{value};
    } else if (key.name == "maxstartdelay") {
        SPUR_TRY(const auto minutes, parse_limit_min(value));
        wanted.max_start_delay_s = minutes == unlimited ? unlimited : minutes * 60;
    } else {
        return false;
    }
    return true;
}

// What Slurm does not let an update do.
Result<void> check_change(const Reservation& present, const Settings& settings, UnixSeconds now, bool create) {
    for (const auto& [name, value] : settings) {
        const Key key{name};
        static constexpr std::string_view summable[] = {"users", "accounts", "groups", "flags", "duration"};
        if (key.sign != 0 && std::ranges::find(summable, key.name) == std::end(summable))
            return fail(ErrorCode::invalid,
                        "The +=/-= notation is not supported when updating {}.  No reservation update", key.name);
        const bool moves = key.name == "nodes" || key.name == "nodecnt" || key.name == "corecnt";
        if (!create && moves && !present.cores.empty()) return fail(refusal::core_reservation);
        if (!create && key.name == "starttime" && present.start_time <= now) return fail(refusal::reservation_started);
    }
    return {};
}

}  // namespace

Result<Reservation> changed_reservation(Reservation wanted, const Settings& settings, const planning::ReadModel& model,
                                        UserDirectory& directory, UnixSeconds now, bool create) {
    const auto old_length = wanted.end_time - wanted.start_time;
    const auto find = [&](const char* key) -> const std::string* {
        const auto place = settings.find(key);
        return place == settings.end() ? nullptr : &place->second;
    };
    SPUR_CHECK(check_change(wanted, settings, now, create));
    for (const auto& [name, value] : settings) {
        static constexpr std::string_view later[] = {"starttime", "endtime", "duration",  "nodes",
                                                     "nodecnt",   "corecnt", "duration+", "duration-"};
        SPUR_TRY(const bool plain, set_plain(Key{name}, value, directory, wanted));
        if (!plain && std::ranges::find(later, name) == std::end(later))
            return fail(ErrorCode::invalid, "{} cannot be changed: a reservation has no such setting in this release",
                        name);
    }
    if (const auto* start = find("starttime")) {
        SPUR_TRY(wanted.start_time, parse_time(*start, now));
        wanted.end_time = wanted.start_time + (create ? 0 : old_length);
    } else if (create) {
        wanted.start_time = now;
    }
    if (const auto* end = find("endtime")) {
        SPUR_TRY(wanted.end_time, parse_time(*end, now));
    }
    if (const auto* duration = find("duration")) {
        constexpr std::int64_t a_year = 365LL * 86'400;
        SPUR_TRY(const auto minutes, parse_limit_min(*duration));
        wanted.end_time = wanted.start_time + (minutes == unlimited ? a_year : std::int64_t{minutes} * 60);
    }
    for (const auto* key : {"duration+", "duration-"})
        if (const auto* more = find(key)) {
            SPUR_TRY(const auto minutes, parse_limit_min(*more));
            if (minutes == unlimited) return fail(refusal::invalid_time);
            wanted.end_time += (std::string_view{key}.ends_with('+') ? 60 : -60) * std::int64_t{minutes};
        }
    constexpr std::int64_t latest_s = 600;  // a moment ago is now
    if (create && wanted.start_time < now - latest_s) return fail(refusal::invalid_time);
    if (wanted.end_time <= wanted.start_time) return fail(refusal::invalid_time);

    SPUR_CHECK(check_features(model, wanted.features));
    if (const auto* nodes = find("nodes")) SPUR_CHECK(name_nodes(model, *nodes, wanted));
    if (const auto* count = find("nodecnt")) {
        SPUR_TRY(const auto range, NodeCount::parse(*count));
        SPUR_CHECK(choose_nodes(model, range.min, wanted));
    }
    if (const auto* cores = find("corecnt")) {
        std::vector<std::uint32_t> counts;
        for (const auto item : split(*cores, ',')) {
            SPUR_TRY(counts.emplace_back(), count_of("CoreCnt", item));
        }
        SPUR_CHECK(choose_cores(model, counts, find("nodes") || find("nodecnt") || !create, wanted));
    }
    return wanted;
}

}  // namespace spur::ctld
