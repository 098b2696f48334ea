// The tables that are purged, by the words of the configuration.
#include "daemons/spurdbd/retention.hpp"

#include <algorithm>
#include <ctime>

#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/spurdbd/archive.hpp"

namespace spur::dbd {
namespace {

using A = AccountingConfig;
struct Purged {
    std::uint32_t table;
    std::string_view name;
    std::uint32_t A::*hours;
};
constexpr Purged purged[] = {
    {SPUR_ROW_STEP, "step", &A::purge_step_h},    {SPUR_ROW_JOB, "job", &A::purge_job_h},
    {SPUR_ROW_EVENT, "event", &A::purge_event_h}, {SPUR_ROW_RESERVATION, "reservation", &A::purge_reservation_h},
    {SPUR_ROW_USAGE, "usage", &A::purge_usage_h}, {SPUR_ROW_TRANSACTION, "transaction", &A::purge_transaction_h},
};

}  // namespace

Retention Retention::of(const AccountingConfig& config) {
    Retention retention{config.archive_dir, {}};
    for (const auto& kind : purged)
        if (const auto hours = config.*kind.hours; hours != 0) retention.keep_hours[kind.table] = hours;
    return retention;
}

Result<std::uint32_t> Retention::table_named(std::string_view name) {
    const auto* const found = std::ranges::find(purged, name, &Purged::name);
    if (found == std::end(purged)) return fail(ErrorCode::invalid, "nothing called {} is archived", spur::quoted(name));
    return found->table;
}

Result<v1::ArchiveReply> purge_old(Database& database, RollUp& roll_up, const std::string& cluster,
                                   const Retention& retention, UnixSeconds now) {
    v1::ArchiveReply reply;
    for (const auto& kind : purged) {
        const auto keep = retention.keep_hours.find(kind.table);
        if (keep == retention.keep_hours.end()) continue;
        const auto before = now - static_cast<std::int64_t>(keep->second) * hour_s;
        // Usage is summed up from these: once they are gone those hours stay as they are.
        if (kind.table == SPUR_ROW_JOB || kind.table == SPUR_ROW_EVENT || kind.table == SPUR_ROW_RESERVATION) {
            SPUR_CHECK(roll_up.run(now));
            SPUR_CHECK(roll_up.leave_alone_before(cluster, before));
        }
        if (retention.directory.empty()) {
            SPUR_CHECK(database.purge(cluster, kind.table, before, nullptr));
            continue;
        }
        ArchiveFile file{std::filesystem::path{retention.directory} /
                         fmt::format("{}_{}_until_{}_at_{}.spurarchive", cluster, kind.name, print_time(before), now)};
        SPUR_CHECK(database.purge(cluster, kind.table, before, &file));
        if (file.rows() == 0) continue;
        reply.add_files(file.path().native());
        reply.set_rows(reply.rows() + file.rows());
    }
    return reply;
}

Result<v1::ArchiveReply> load_archive(Database& database, std::string_view content) {
    constexpr std::size_t at_once = 2000;
    v1::ArchiveReply reply;
    std::map<std::string, std::vector<v1::HistoryRow>> rows;
    const auto store = [&](const std::string& cluster) -> Result<void> {
        SPUR_CHECK(database.store_rows(cluster, rows[cluster]));
        reply.set_rows(reply.rows() + rows[cluster].size());
        rows[cluster].clear();
        return {};
    };
    SPUR_CHECK(read_archive(content, [&](v1::HistoryRow row) -> Result<void> {
        const auto cluster = row.cluster();
        auto& list = rows[cluster];
        list.push_back(std::move(row));
        return list.size() < at_once ? Result<void>{} : store(cluster);
    }));
    for (const auto& [cluster, list] : rows) SPUR_CHECK(store(cluster));
    return reply;
}

}  // namespace spur::dbd
