// scontrol create and update reservation: Slurm's keys, and which nodes and cores a number of them means.
#include <algorithm>
#include <charconv>

#include "core/hostlist.hpp"
#include "core/lexical.hpp"
#include "core/quantity.hpp"
#include "core/refusal.hpp"
#include "core/timefmt.hpp"
#include "daemons/spurctld/updates.hpp"
#include "daemons/spurctld/users.hpp"

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
Result<void> set_names(Key key, std::string_view text, std::vector<Text>& names, bool& deny) {
    std::vector<Text> given;
    std::size_t denied = 0;
    for (auto item : split(text, ',')) {
        if (item.empty()) continue;
        if (item.starts_with('-')) {
            item.remove_prefix(1);
            ++denied;
        }
        if (key.name == "users" && !find_uid(std::string{item})) return fail(ErrorCode::invalid, "Invalid user id");
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
    SPUR_TRY(const auto flags, parse_reservation_flags(text));
    if (key.sign == '+')
        wanted.flags |= flags;
    else if (key.sign == '-')
        wanted.flags &= ~flags;
    else
        wanted.flags = (wanted.flags & kept) | flags;
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
    Chooser(const ReadModel& model, const Reservation& wanted) : model_{model}, wanted_{wanted} {}

    std::vector<NodeId> candidates(const Partition& partition) const {
        std::vector<NodeId> free, busy;
        for (const auto id : partition.nodes) {
            const auto& node = model_.nodes.get(id.value);
            if (!node || !node->is_available() || is_reserved(id)) continue;
            if (node->job_count == 0)
                free.push_back(id);
            else if (wanted_.has(reservation_flag::ignore_jobs) || !is_busy_then(id))
                busy.push_back(id);
        }
        free.insert(free.end(), busy.begin(), busy.end());
        return free;
    }

private:
    bool is_reserved(NodeId id) const {
        if (wanted_.has(reservation_flag::overlap) || wanted_.has(reservation_flag::maint)) return false;
        return std::ranges::any_of(model_.directory->reservations, [&](const Reservation& other) {
            return other.name != wanted_.name && other.start_time < wanted_.end_time &&
                   wanted_.start_time < other.end_time && std::ranges::binary_search(other.nodes, id);
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

    const ReadModel& model_;
    const Reservation& wanted_;
};

const Partition* partition_of(const ReadModel& model, const Reservation& wanted) {
    if (!wanted.partition.empty()) return model.directory->find_partition(wanted.partition);
    for (const auto& partition : model.directory->partitions)
        if (partition.is_default) return &partition;
    return nullptr;
}

Result<void> choose_nodes(const ReadModel& model, std::uint32_t count, Reservation& wanted) {
    const auto* partition = partition_of(model, wanted);
    if (partition == nullptr) return fail(ErrorCode::invalid, "{}", refusal::invalid_partition);
    auto nodes = Chooser{model, wanted}.candidates(*partition);
    if (nodes.size() < count) return fail(ErrorCode::conflict, "{}", refusal::nodes_busy);
    nodes.resize(count);
    std::ranges::sort(nodes);
    wanted.nodes = std::move(nodes);
    wanted.partition = partition->name;
    wanted.flags &= ~(reservation_flag::spec_nodes | reservation_flag::all_nodes);
    return {};
}

// CoreCnt: so many cores of the nodes that were named, or of as few nodes as have them.
Result<void> choose_cores(const ReadModel& model, std::uint32_t count, bool nodes_named, Reservation& wanted) {
    auto nodes = wanted.nodes;
    if (!nodes_named) {
        const auto* partition = partition_of(model, wanted);
        if (partition == nullptr) return fail(ErrorCode::invalid, "{}", refusal::invalid_partition);
        nodes = Chooser{model, wanted}.candidates(*partition);
        wanted.partition = partition->name;
    }
    std::vector<NodeShare> shares;
    auto left = count;
    for (const auto id : nodes) {
        const auto& node = model.nodes.get(id.value);
        if (left == 0 || !node) break;
        NodeShare share{.node = id};
        node->usable_cores().for_each([&](std::uint32_t core) {
            if (left == 0) return;
            share.cores.add(core);
            share.cpus += node->cpus_per_core();
            --left;
        });
        if (share.cpus != 0) shares.push_back(std::move(share));
    }
    if (left != 0) return fail(ErrorCode::conflict, "{}", refusal::nodes_busy);
    std::ranges::sort(shares, {}, &NodeShare::node);
    wanted.nodes.clear();
    for (const auto& share : shares) wanted.nodes.push_back(share.node);
    wanted.cores = std::move(shares);
    wanted.core_count = count;
    return {};
}

Result<void> name_nodes(const ReadModel& model, std::string_view text, Reservation& wanted) {
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
            if (node == nullptr) return fail(ErrorCode::not_found, "{}", refusal::invalid_node);
            wanted.nodes.push_back(node->id);
        }
    }
    std::ranges::sort(wanted.nodes);
    const auto repeated = std::ranges::unique(wanted.nodes);
    wanted.nodes.erase(repeated.begin(), repeated.end());
    return {};
}

// Settings that stand for themselves; what depends on others comes after all have been read.
Result<bool> set_plain(Key key, const std::string& value, Reservation& wanted) {
    if (key.name == "users" || key.name == "accounts") {
        const bool users = key.name == "users";
        SPUR_CHECK(set_names(key, value, users ? wanted.users : wanted.accounts,
                             users ? wanted.deny_users : wanted.deny_accounts));
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

}  // namespace

Result<Reservation> changed_reservation(Reservation wanted, const Settings& settings, const ReadModel& model,
                                        UnixSeconds now, bool create) {
    const auto old_length = wanted.end_time - wanted.start_time;
    const auto find = [&](const char* key) -> const std::string* {
        const auto place = settings.find(key);
        return place == settings.end() ? nullptr : &place->second;
    };
    for (const auto& [name, value] : settings) {
        static constexpr std::string_view later[] = {"starttime", "endtime", "duration", "nodes", "nodecnt", "corecnt"};
        SPUR_TRY(const bool plain, set_plain(Key{name}, value, wanted));
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
    if (wanted.end_time <= wanted.start_time) return fail(ErrorCode::invalid, "{}", refusal::invalid_time);

    if (const auto* nodes = find("nodes")) SPUR_CHECK(name_nodes(model, *nodes, wanted));
    if (const auto* count = find("nodecnt")) {
        SPUR_TRY(const auto range, NodeCount::parse(*count));
        SPUR_CHECK(choose_nodes(model, range.min, wanted));
    }
    if (const auto* cores = find("corecnt")) {
        SPUR_TRY(const auto count, count_of("CoreCnt", *cores));
        SPUR_CHECK(choose_cores(model, count, find("nodes") || find("nodecnt") || !create, wanted));
    }
    return wanted;
}

}  // namespace spur::ctld
