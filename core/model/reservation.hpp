// A reservation: nodes, cores or licences kept for some users or accounts during a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/text.hpp"
#include "core/model/resources.hpp"

namespace spur {

struct JobSpec;

namespace reservation_flag {
inline constexpr std::uint64_t maint = 1ULL << 0;
inline constexpr std::uint64_t overlap = 1ULL << 1;
inline constexpr std::uint64_t ignore_jobs = 1ULL << 2;
inline constexpr std::uint64_t daily = 1ULL << 3;
inline constexpr std::uint64_t weekly = 1ULL << 4;
inline constexpr std::uint64_t weekday = 1ULL << 5;
inline constexpr std::uint64_t weekend = 1ULL << 6;
inline constexpr std::uint64_t hourly = 1ULL << 7;
inline constexpr std::uint64_t any_nodes = 1ULL << 8;
inline constexpr std::uint64_t static_alloc = 1ULL << 9;
inline constexpr std::uint64_t part_nodes = 1ULL << 10;
inline constexpr std::uint64_t first_cores = 1ULL << 11;
inline constexpr std::uint64_t time_float = 1ULL << 12;
inline constexpr std::uint64_t purge_comp = 1ULL << 13;
inline constexpr std::uint64_t flex = 1ULL << 14;
inline constexpr std::uint64_t magnetic = 1ULL << 15;
inline constexpr std::uint64_t no_hold_jobs_after = 1ULL << 16;
inline constexpr std::uint64_t replace = 1ULL << 17;
inline constexpr std::uint64_t replace_down = 1ULL << 18;
inline constexpr std::uint64_t license_only = 1ULL << 19;
inline constexpr std::uint64_t all_nodes = 1ULL << 20;
inline constexpr std::uint64_t spec_nodes = 1ULL << 21;
inline constexpr std::uint64_t begun = 1ULL << 63;  // ours: its nodes carry the flags of an active reservation
}  // namespace reservation_flag

// "MAINT,SPEC_NODES", in Slurm's order; and the reverse. PURGE_COMP may come with a time, which goes to `purge_s`.
std::string print_reservation_flags(std::uint64_t flags, std::uint32_t purge_s = 0);
Result<std::uint64_t> parse_reservation_flags(std::string_view text, std::uint32_t* purge_s = nullptr);

struct Reservation {
    Text name;
    UnixSeconds start_time{};
    UnixSeconds end_time{};
    std::vector<NodeId> nodes;     // in the order of the table of nodes
    std::vector<NodeShare> cores;  // only with part of the nodes' cores reserved; else empty
    std::uint32_t core_count{};
    Text features;
    Text partition;
    std::vector<Text> users;  // "-name" with deny_users
    std::vector<Text> accounts;
    std::vector<Text> groups;
    std::vector<Uid> group_members;  // of the groups, as the controller found them
    bool deny_users{false};
    bool deny_accounts{false};
    std::vector<LicenseCount> licenses;
    std::uint64_t flags{};
    std::uint32_t purge_comp_s{};
    UnixSeconds idle_since{};  // with PURGE_COMP: no job has wanted it since then; 0: one does
    std::uint32_t max_start_delay_s{};
    Text comment;
    std::uint64_t version{};
    bool operator==(const Reservation&) const = default;

    bool has(std::uint64_t flag) const { return flags & flag; }
    bool is_active(UnixSeconds now) const { return start_time <= now && now < end_time; }
    // Seconds from a start of one that repeats to the next one; 0: it does not repeat.
    std::int64_t gap_after(UnixSeconds start) const;
    // Does it, or one of its repetitions, hold some of that time? `until` 0: for ever.
    bool holds_between(UnixSeconds from, UnixSeconds until) const;
    bool admits(const JobSpec& spec) const;  // by its owner and account
};

}  // namespace spur
