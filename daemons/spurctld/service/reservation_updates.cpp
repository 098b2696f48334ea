// scontrol create and update reservation: Slurm's keys, and which nodes and cores a number of them means.
#include <algorithm>

#include "core/model/constraint.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/reservation.hpp"
#include "daemons/spurctld/service/updates.hpp"

namespace spur::ctld {

namespace {

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

// What Slurm does not let an update do.
Result<void> check_change(const Reservation& present, const Settings& settings, UnixSeconds now, bool create) {
    for (const auto& [name, value] : settings) {
        const records::SignedKey key{name};
        if (key.sign != 0 && records::find_full_change(records::reservation_fields(), name) == nullptr)
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
    const std::function is_user = [&](const std::string& name) -> Result<bool> {
        SPUR_TRY(const auto uid, find_uid(directory, name));
        return uid.has_value();
    };
    const std::function group_members = [&](const std::string& name) { return directory.group_members(name); };
    records::ReservationChange change{wanted, is_user, group_members};
    SPUR_CHECK(apply_all(settings, change, "reservation", records::reservation_fields()));
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
            SPUR_TRY(counts.emplace_back(), records::read_count({"CoreCnt", item}));
        }
        SPUR_CHECK(choose_cores(model, counts, find("nodes") || find("nodecnt") || !create, wanted));
    }
    return wanted;
}

}  // namespace spur::ctld
