// Sums by hour: what a job, a node that is down and a reservation come to, and that it is the same however it is summed
// up.
#include "daemons/spurdbd/usage.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace spur::dbd {
namespace {

constexpr UnixSeconds ten = 36'000 * 10;  // a full hour

TresList cpus(std::uint64_t count) {
    TresList list;
    list.set("cpu", count);
    return list;
}

RunRecord run(UnixSeconds eligible, UnixSeconds start, UnixSeconds end, std::uint64_t count,
              std::string account = "physics") {
    RunRecord record{.account = std::move(account),
                     .user = "ann",
                     .qos = "normal",
                     .eligible = eligible,
                     .start = start,
                     .end = end};
    record.allocated = record.requested = cpus(count);
    return record;
}

const UsageKey whole{{}, {}, {}, {}, "cpu"};
const UsageKey ann{"physics", "ann", "normal", {}, "cpu"};

Usage of(const std::map<UnixSeconds, UsageSums>& hours, UnixSeconds hour, const UsageKey& key) {
    const auto& sums = hours.at(hour);
    const auto found = sums.find(key);
    return found == sums.end() ? Usage{} : found->second;
}

TEST(T13Usage, AJobIsCountedInEveryHourItRanIn) {
    HourlyUsage usage{ten, ten + 3 * hour_s, ten + 100 * hour_s};
    usage.add(OutageRecord{{}, 0, 0, cpus(32)});
    usage.add(run(ten, ten + 900, ten + hour_s + 1800, 2));
    const auto hours = usage.sums();
    EXPECT_EQ(of(hours, ten, ann).allocated, 2 * 2700);
    EXPECT_EQ(of(hours, ten + hour_s, ann).allocated, 2 * 1800);
    EXPECT_EQ(of(hours, ten + 2 * hour_s, ann).allocated, 0);
    const auto first = of(hours, ten, whole);
    EXPECT_EQ(first.planned, 2 * 900) << "it waited for a quarter of an hour";
    EXPECT_EQ(first.count, 32);
    EXPECT_EQ(first.allocated + first.planned + first.idle + first.down + first.planned_down, 32 * hour_s);
}

TEST(T13Usage, WhatStillRunsCountsUntilNow) {
    HourlyUsage usage{ten, ten + hour_s, ten + 600};
    usage.add(OutageRecord{{}, 0, 0, cpus(4)});
    usage.add(run(ten, ten, 0, 1));
    const auto hour = of(usage.sums(), ten, whole);
    EXPECT_EQ(hour.allocated, 600);
    EXPECT_EQ(hour.idle, 3 * 600);
}

TEST(T13Usage, ANodeThatWorksOffItsLastJobsIsNotDown) {
    HourlyUsage usage{ten, ten + hour_s, ten + 100 * hour_s};
    usage.add(OutageRecord{{}, 0, 0, cpus(4)});
    usage.add(OutageRecord{"n1", ten, ten + hour_s, cpus(4)});
    usage.add(run(ten, ten, ten + 1800, 4));
    const auto hour = of(usage.sums(), ten, whole);
    EXPECT_EQ(hour.allocated, 4 * 1800);
    EXPECT_EQ(hour.down, 4 * 1800);
    EXPECT_EQ(hour.idle, 0);
}

TEST(T13Usage, MoreThanThereIsIsOvercommitted) {
    HourlyUsage usage{ten, ten + hour_s, ten + 100 * hour_s};
    usage.add(OutageRecord{{}, 0, 0, cpus(4)});
    usage.add(run(ten, ten + hour_s, 0, 10));
    const auto hour = of(usage.sums(), ten, whole);
    EXPECT_EQ(hour.planned, 4 * hour_s);
    EXPECT_EQ(hour.over, 6 * hour_s);
}

TEST(T13Usage, AReservationIsInUseAndWhoeverMayUseItPaysForWhatNobodyDid) {
    HourlyUsage usage{ten, ten + 2 * hour_s, ten + 100 * hour_s};
    usage.add(OutageRecord{{}, 0, 0, cpus(32)});
    usage.add(ReservedRecord{
        "class", "n3", ten, ten + 2 * hour_s, false, false, cpus(8), {{"chemistry", "eve"}, {"optics", "eve"}}});
    auto inside = run(ten + 900, ten + 900, ten + hour_s, 3, "optics");
    inside.user = "eve";
    inside.reservation = "class";
    usage.add(inside);
    const auto hours = usage.sums();
    EXPECT_EQ(of(hours, ten, whole).allocated, 8 * hour_s) << "once, not with the job in it";
    EXPECT_EQ(of(hours, ten, {"chemistry", "eve", {}, {}, "cpu"}).allocated, 3600);
    EXPECT_EQ(of(hours, ten, {"optics", "eve", {}, {}, "cpu"}).allocated, 3600);
    EXPECT_EQ(of(hours, ten, {"optics", "eve", "normal", {}, "cpu"}).allocated, 3 * 2700);
    EXPECT_EQ(of(hours, ten + hour_s, {"optics", "eve", {}, {}, "cpu"}).allocated, 14'400);
}

TEST(T13Usage, MaintenanceIsPlannedAndANodeInItIsNotDownAsWell) {
    HourlyUsage usage{ten, ten + hour_s, ten + 100 * hour_s};
    usage.add(OutageRecord{{}, 0, 0, cpus(16)});
    usage.add(OutageRecord{"n1", ten, 0, cpus(8)});
    usage.add(ReservedRecord{"repair", "n[1-2]", ten, ten + hour_s, true, false, cpus(16), {}});
    const auto hour = of(usage.sums(), ten, whole);
    EXPECT_EQ(hour.planned_down, 16 * hour_s);
    EXPECT_EQ(hour.down, 0);
}

// Records as they may be stored: in some order, and the hours summed up in one go or in pieces.
struct Records {
    std::vector<RunRecord> runs;
    std::vector<OutageRecord> outages;
    std::vector<ReservedRecord> reserved;
};

Records some_records() {
    Records all;
    const auto time = [](int most) { return ten + *rc::gen::inRange(0, most); };
    const auto count = *rc::gen::inRange(0, 20);
    for (int i = 0; i < count; ++i) {
        const auto eligible = time(5 * 3600), start = eligible + *rc::gen::inRange(0, 4000);
        auto record = run(eligible, *rc::gen::inRange(0, 5) == 0 ? 0 : start,
                          *rc::gen::inRange(0, 4) == 0 ? 0 : start + *rc::gen::inRange(0, 9000),
                          static_cast<std::uint64_t>(*rc::gen::inRange(1, 9)),
                          *rc::gen::element<std::string>("physics", "optics"));
        if (*rc::gen::inRange(0, 4) == 0) record.reservation = "class";
        record.suspended_s = *rc::gen::inRange(0, 5) == 0 ? *rc::gen::inRange(0, 2000) : 0;
        all.runs.push_back(record);
    }
    all.outages.push_back({{}, time(3600), 0, cpus(32)});
    for (int i = 0; i < 3; ++i) {
        const auto start = time(4 * 3600);
        all.outages.push_back({"n" + std::to_string(i), start,
                               *rc::gen::inRange(0, 2) == 0 ? 0 : start + *rc::gen::inRange(1, 9000), cpus(8)});
    }
    const auto start = time(3 * 3600);
    all.reserved.push_back({"class",
                            "n1",
                            start,
                            start + *rc::gen::inRange(60, 9000),
                            *rc::gen::inRange(0, 2) == 0,
                            false,
                            cpus(8),
                            {{"physics", "ann"}}});
    return all;
}

std::map<UnixSeconds, UsageSums> summed(const Records& records, UnixSeconds from, UnixSeconds until, UnixSeconds now) {
    HourlyUsage usage{from, until, now};
    for (const auto& one : records.runs) usage.add(one);
    for (const auto& one : records.outages) usage.add(one);
    for (const auto& one : records.reserved) usage.add(one);
    return usage.sums();
}

TEST(T13Usage, HoursInAnyPiecesAndRecordsInAnyOrderGiveTheSame) {
    constexpr UnixSeconds until = ten + 6 * hour_s;
    const bool holds = rc::check([&] {
        auto records = some_records();
        const auto now = ten + *rc::gen::inRange(1, 7 * 3600);
        const auto at_once = summed(records, ten, until, now);
        std::ranges::reverse(records.runs);
        std::ranges::reverse(records.outages);
        std::map<UnixSeconds, UsageSums> pieces;
        for (auto from = ten; from < until;) {
            const auto end = std::min(until, from + hour_s * *rc::gen::inRange(1, 4));
            pieces.merge(summed(records, from, end, now));
            from = end;
        }
        RC_ASSERT(pieces == at_once);
        for (const auto& [hour, sums] : at_once) {
            const auto all = sums.find(whole);
            if (all == sums.end()) continue;
            RC_ASSERT(all->second.idle >= 0 && all->second.planned >= 0 && all->second.down >= 0);
            RC_ASSERT(all->second.allocated + all->second.planned + all->second.idle + all->second.down +
                          all->second.planned_down <=
                      32 * hour_s);
        }
    });
    EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace spur::dbd
