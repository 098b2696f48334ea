// Accounts, users, associations and QOS: who may use how much. They live in the cluster's own state, so limits and
// fair-share work with no database.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/gres.hpp"
#include "core/model/partition.hpp"

namespace spur {

enum class AdminLevel : std::uint8_t { none, operator_, administrator };

// Who asks. The uid comes from the verified credential; `level` from configuration and accounting.
struct Actor {
    Uid uid{nobody};
    AdminLevel level{AdminLevel::none};
    Text name;  // coordinators of accounts are known by name
    bool operator==(const Actor&) const = default;
    static Actor root() { return {0, AdminLevel::administrator, "root"}; }
    bool is_administrator() const { return uid == 0 || level == AdminLevel::administrator; }
    bool is_operator() const { return is_administrator() || level == AdminLevel::operator_; }
};

struct Account {
    Text name;
    Text description;
    Text organization;
    std::vector<Text> coordinators;
    bool operator==(const Account&) const = default;
};

struct User {
    Text name;
    Text default_account;
    Text default_wckey;
    AdminLevel admin_level{AdminLevel::none};
    bool operator==(const User&) const = default;
};

// Limits as both associations and QOS know them; an absent one does not limit.
struct Limits {
    std::optional<std::uint32_t> grp_jobs;
    std::optional<std::uint32_t> grp_jobs_accrue;
    std::optional<std::uint32_t> grp_submit_jobs;
    std::optional<std::uint32_t> grp_wall_min;
    TresList grp_tres;
    TresList grp_tres_mins;
    TresList grp_tres_run_mins;
    std::optional<std::uint32_t> max_jobs;  // association: of it; QOS: per user
    std::optional<std::uint32_t> max_jobs_accrue;
    std::optional<std::uint32_t> max_submit_jobs;  // association: of it; QOS: per user
    std::optional<std::uint32_t> max_wall_min;     // per job
    TresList max_tres_per_job;
    TresList max_tres_per_node;
    TresList max_tres_mins_per_job;
    std::optional<std::uint32_t> min_priority_threshold;
    bool operator==(const Limits&) const = default;
};

struct TresSeconds {
    Text name;  // "cpu", "gres/gpu"
    double seconds{};
    bool operator==(const TresSeconds&) const = default;
};

// What an association, a QOS or one user of a QOS has going: the left side of every limit.
struct Usage {
    std::uint32_t jobs{};                   // running
    std::uint32_t submit_jobs{};            // pending and running
    TresList tres;                          // of running jobs
    double raw{};                           // billing seconds, decayed
    double grp_wall_s{};                    // decayed
    std::vector<TresSeconds> tres_seconds;  // decayed
    bool operator==(const Usage&) const = default;
};

struct Association {
    AssociationId id;
    AssociationId parent;  // zero: the root
    Text account;
    Text user;       // empty: the account's own association
    Text partition;  // empty: every partition
    std::uint32_t shares{1};
    bool shares_parent{false};  // Fairshare=parent
    std::uint32_t priority{};
    Limits limits;
    std::vector<Text> qos;  // empty: inherited
    Text default_qos;
    bool is_default{false};
    Text comment;
    Usage usage;
    std::uint64_t version{};
    bool operator==(const Association&) const = default;
};

namespace qos_flag {
inline constexpr std::uint32_t deny_on_limit = 1U << 0;
inline constexpr std::uint32_t enforce_usage_threshold = 1U << 1;
inline constexpr std::uint32_t no_reserve = 1U << 2;
inline constexpr std::uint32_t partition_max_nodes = 1U << 3;
inline constexpr std::uint32_t partition_min_nodes = 1U << 4;
inline constexpr std::uint32_t over_part_qos = 1U << 5;
inline constexpr std::uint32_t partition_time_limit = 1U << 6;
inline constexpr std::uint32_t require_reservation = 1U << 7;
inline constexpr std::uint32_t no_decay = 1U << 8;
inline constexpr std::uint32_t usage_factor_safe = 1U << 9;
inline constexpr std::uint32_t relative = 1U << 10;
}  // namespace qos_flag

struct Qos {
    std::uint32_t id{};
    Text name;
    Text description;
    std::uint32_t priority{};
    std::uint32_t flags{};
    std::uint32_t grace_time_s{};
    std::optional<std::uint32_t> preempt_exempt_time_s;
    std::vector<Text> preempt;  // names of those it may preempt
    PreemptMode preempt_mode{PreemptMode::unset};
    double usage_factor{1.0};
    std::optional<double> limit_factor;  // multiplies the TRES limits of associations
    std::optional<double> usage_threshold;
    Limits limits;
    TresList max_tres_per_user;
    TresList max_tres_per_account;
    std::optional<std::uint32_t> max_jobs_per_account;
    std::optional<std::uint32_t> max_submit_jobs_per_account;
    std::optional<std::uint32_t> max_jobs_accrue_per_account;
    TresList min_tres_per_job;
    Usage usage;
    std::uint64_t version{};
    bool operator==(const Qos&) const = default;
};

}  // namespace spur
