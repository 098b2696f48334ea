// What was used, hour by hour, from records of jobs, nodes and reservations. No clock and no database: the same records
// give the same sums, in whatever order and however many hours at once.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/model/gres.hpp"

namespace spur::dbd {

inline constexpr UnixSeconds hour_s = 3600;
inline UnixSeconds hour_of(UnixSeconds time) { return time - time % hour_s; }

struct UsageKey {
    std::string account, user, qos, wckey, tres;  // without account and user: the whole cluster
    auto operator<=>(const UsageKey&) const = default;
    bool is_cluster() const { return account.empty() && user.empty(); }
};

// Seconds times the count of the resource.
struct Usage {
    std::int64_t allocated{}, planned{}, idle{}, down{}, planned_down{}, over{};
    std::int64_t count{};  // of the cluster: what it had
    bool operator==(const Usage&) const = default;
    Usage& operator+=(const Usage& other);
};
using UsageSums = std::map<UsageKey, Usage>;

// One run of a job. Times are 0 while they are not known.
struct RunRecord {
    std::string account, user, qos, wckey, reservation;
    UnixSeconds eligible{}, start{}, end{};
    std::int64_t suspended_s{};
    TresList allocated, requested;
};
// A node that could not be used; without a name: what the cluster had.
struct OutageRecord {
    std::string node;
    UnixSeconds start{}, end{};  // end 0: still
    TresList tres;
};
struct ReservedRecord {
    std::string name, nodes;
    UnixSeconds start{}, end{};
    bool is_maintenance{false};  // nobody was to use it
    bool ignores_jobs{false};    // jobs ran on in it: it counts for nothing
    TresList tres;
    std::vector<std::pair<std::string, std::string>> payers;  // accounts and users that share what nobody used of it
};

class HourlyUsage {
public:
    // The hours from `from` to `until`, both full ones. What has no end goes on until `now`, and so does the last hour.
    HourlyUsage(UnixSeconds from, UnixSeconds until, UnixSeconds now);
    void add(const RunRecord& run);
    void add(OutageRecord outage) { outages_.push_back(std::move(outage)); }
    void add(ReservedRecord reserved) { reserved_.push_back(std::move(reserved)); }
    std::map<UnixSeconds, UsageSums> sums() const;  // by hour; each is there

private:
    struct Span {
        UnixSeconds from, until;
        std::int64_t length() const { return until > from ? until - from : 0; }
    };
    struct Reserved {
        std::string reservation;
        Span span;
        TresList tres;
    };
    Span within(Span span) const;
    template <class F>
    void by_hour(Span span, F&& use) const;
    void add_used(UsageSums& sums, const RunRecord& run, std::int64_t seconds) const;
    void add_reservations(std::map<UnixSeconds, UsageSums>& hours) const;
    void add_outages(std::map<UnixSeconds, UsageSums>& hours) const;
    bool is_maintained(const std::string& node, UnixSeconds from, UnixSeconds until) const;

    UnixSeconds from_, until_, now_;
    UnixSeconds end_;  // of these hours: now, in the last one
    std::map<UnixSeconds, UsageSums> used_;
    std::vector<OutageRecord> outages_;
    std::vector<ReservedRecord> reserved_;
    std::vector<Reserved> in_reservations_;  // runs
};

}  // namespace spur::dbd
