// Usage by hour, day and month, kept up to date: hours about which something new was stored are summed up again, others
// are not.
//
// Which hours those are is stored together with what is new (SPUR_ROW_ROLLUP), so that a spurdbd that dies in between
// loses nothing.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "daemons/spurdbd/database.hpp"
#include "daemons/spurdbd/usage.hpp"

namespace spur::dbd {

class RollUp {
public:
    explicit RollUp(Database& database) : database_{database} {}

    // [any thread, waits] What was left to do before.
    Result<void> load();
    // [any thread, waits] As the database's own, and the hours that they change are noted with them.
    Result<std::uint32_t> store(const v1::StoreHistoryRequest& request, UnixSeconds now);
    Result<void> store_rows(const std::string& cluster, std::vector<v1::HistoryRow> rows, UnixSeconds since,
                            UnixSeconds now);
    // [any thread, waits] Everything up to now, the hour that is not over included.
    Result<void> run(UnixSeconds now);
    // [any thread, waits] What was used from `from` to `until`, summed up by `step` ("": all of it together), by its
    // beginning.
    Result<std::map<UnixSeconds, UsageSums>> sums(const std::string& cluster, UnixSeconds from, UnixSeconds until,
                                                  std::string_view step);
    // [any thread, waits] The records of hours before this are gone, or will be: their sums stay as they are.
    Result<void> leave_alone_before(const std::string& cluster, UnixSeconds before);
    UnixSeconds last_run() const;
    std::vector<std::string> clusters() const;

private:
    struct ClusterHours {
        std::map<UnixSeconds, std::int64_t> open;  // hours that are to be summed up (again): their stamps
        UnixSeconds last{};                        // the last hour that is summed up; 0: none
        UnixSeconds oldest{};                      // hours before it are left alone
    };
    // Rows to store together with something that may have changed every hour from `since` on; and once they are stored.
    std::vector<v1::HistoryRow> marks(const std::string& cluster, UnixSeconds since, UnixSeconds now);
    void stored(const std::string& cluster, UnixSeconds since, UnixSeconds now);
    Result<void> run_cluster(const std::string& cluster, UnixSeconds now);
    Result<void> sum_hours(const std::string& cluster, UnixSeconds from, UnixSeconds until, UnixSeconds now);
    Result<void> gather(const std::string& cluster, HourlyUsage& usage, UnixSeconds from, UnixSeconds until);
    Result<void> sum_days(const std::string& cluster, const std::set<UnixSeconds>& hours);
    Result<std::map<UnixSeconds, UsageSums>> read(const std::string& cluster, const char* period, UnixSeconds from,
                                                  UnixSeconds until);
    Result<void> write(const std::string& cluster, const char* period, const std::map<UnixSeconds, UsageSums>& before,
                       const std::map<UnixSeconds, UsageSums>& now);

    Database& database_;
    std::mutex running_;         // one at a time
    std::shared_mutex storing_;  // what is being stored has its marks, or is not seen yet
    mutable std::mutex mutex_;
    std::map<std::string, ClusterHours> clusters_;
    std::int64_t stamp_{};
    UnixSeconds last_run_{};
};

v1::HistoryRow usage_row(std::string_view period, UnixSeconds start, const UsageKey& key, const Usage& usage);

// Midnights and firsts of a month, by the clock on the wall.
UnixSeconds day_of(UnixSeconds time);
UnixSeconds next_day(UnixSeconds day);
UnixSeconds month_of(UnixSeconds time);
UnixSeconds next_month(UnixSeconds month);

}  // namespace spur::dbd
