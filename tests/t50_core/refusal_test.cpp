// Refusals carry the numbers that programs built against Slurm's slurm_errno.h compare with.
#include "core/slurm/refusal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace spur {
namespace {

// As slurm_errno.h of Slurm 22.05 counts them.
const std::map<std::string_view, std::uint16_t> header{
    {"SLURM_PROTOCOL_AUTHENTICATION_ERROR", 1007},
    {"SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR", 1800},
    {"ESLURM_INVALID_PARTITION_NAME", 2000},
    {"ESLURM_DEFAULT_PARTITION_NOT_SET", 2001},
    {"ESLURM_ACCESS_DENIED", 2002},
    {"ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP", 2003},
    {"ESLURM_TOO_MANY_REQUESTED_CPUS", 2005},
    {"ESLURM_INVALID_NODE_COUNT", 2006},
    {"ESLURM_ERROR_ON_DESC_TO_RECORD_COPY", 2007},
    {"ESLURM_JOB_SCRIPT_MISSING", 2009},
    {"ESLURM_USER_ID_MISSING", 2010},
    {"ESLURM_PATHNAME_TOO_LONG", 2012},
    {"ESLURM_NOT_TOP_PRIORITY", 2013},
    {"ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE", 2014},
    {"ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE", 2015},
    {"ESLURM_NODES_BUSY", 2016},
    {"ESLURM_INVALID_JOB_ID", 2017},
    {"ESLURM_INVALID_NODE_NAME", 2018},
    {"ESLURM_ALREADY_DONE", 2021},
    {"ESLURM_BAD_DIST", 2023},
    {"ESLURM_JOB_PENDING", 2024},
    {"ESLURM_BAD_TASK_COUNT", 2025},
    {"ESLURM_INVALID_NODE_STATE", 2028},
    {"ESLURM_INVALID_FEATURE", 2029},
    {"ESLURM_ACTIVE_FEATURE_NOT_SUBSET", 2031},
    {"ESLURM_NOT_SUPPORTED", 2036},
    {"ESLURM_DISABLED", 2037},
    {"ESLURM_DEPENDENCY", 2038},
    {"ESLURM_BATCH_ONLY", 2039},
    {"ESLURM_JOB_HELD", 2042},
    {"ESLURM_INVALID_TASK_MEMORY", 2044},
    {"ESLURM_INVALID_ACCOUNT", 2045},
    {"ESLURM_INVALID_LICENSES", 2048},
    {"ESLURM_ACCOUNTING_POLICY", 2050},
    {"ESLURM_INVALID_TIME_LIMIT", 2051},
    {"ESLURM_RESERVATION_ACCESS", 2052},
    {"ESLURM_RESERVATION_INVALID", 2053},
    {"ESLURM_INVALID_TIME_VALUE", 2054},
    {"ESLURM_RESERVATION_BUSY", 2055},
    {"ESLURM_RESERVATION_OVERLAP", 2058},
    {"ESLURM_INVALID_QOS", 2066},
    {"ESLURM_INVALID_CPU_COUNT", 2069},
    {"ESLURM_PARTITION_NOT_AVAIL", 2070},
    {"ESLURM_CIRCULAR_DEPENDENCY", 2071},
    {"ESLURM_INVALID_GRES", 2072},
    {"ESLURM_JOB_NOT_PENDING", 2073},
    {"ESLURM_PARTITION_IN_USE", 2075},
    {"ESLURM_STEP_LIMIT", 2076},
    {"ESLURM_JOB_SUSPENDED", 2077},
    {"ESLURM_RESERVATION_EMPTY", 2080},
    {"ESLURM_INVALID_ARRAY", 2081},
    {"ESLURM_RESERVATION_NAME_DUP", 2082},
    {"ESLURM_JOB_FINISHED", 2084},
    {"ESLURM_JOB_NOT_RUNNING", 2085},
    {"ESLURM_JOB_NOT_SUSPENDED", 2087},
    {"ESLURM_RSV_ALREADY_STARTED", 2104},
    {"ESLURM_NOT_WHOLE_HET_JOB", 2108},
    {"ESLURM_CORE_RESERVATION_UPDATE", 2109},
    {"ESLURM_DUPLICATE_STEP_ID", 2110},
    {"ESLURM_GROUP_ID_MISSING", 2113},
    {"ESLURM_INVALID_TRES", 2115},
    {"ESLURM_INVALID_GRES_TYPE", 2119},
    {"ESLURM_INVALID_NICE", 2123},
    {"ESLURM_INVALID_TIME_MIN_LIMIT", 2124},
    {"ESLURM_RESERVATION_USER_GROUP", 2129},
    {"ESLURM_INSUFFICIENT_GRES", 2134},
    {"ESLURMD_KILL_TASK_FAILED", 4001},
    {"ESLURMD_PROLOG_FAILED", 4022},
    {"ESLURMD_CPU_BIND_ERROR", 4032},
    {"SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT", 5004},
    {"ESLURM_JOBS_RUNNING_ON_ASSOC", 7001},
    {"ESLURM_NO_REMOVE_DEFAULT_ACCOUNT", 7009},
};

TEST(Refusals, HaveTheNumbersOfSlurmsPublicHeader) {
    EXPECT_EQ(std::size(refusal::all), header.size());
    for (const auto* row : refusal::all) {
        ASSERT_TRUE(header.contains(row->name)) << row->name;
        EXPECT_EQ(row->number, header.at(row->name)) << row->name;
    }
}

TEST(Refusals, AreInTheOrderOfTheirNumbersAndNoneIsThereTwice) {
    const auto number = [](const Refusal* row) { return row->number; };
    EXPECT_EQ(std::ranges::adjacent_find(refusal::all, std::greater_equal<>{}, number), std::end(refusal::all));
}

TEST(Refusals, KeepTheirNumberWhateverIsSaidBesideTheSentence) {
    const Error plain = refusal::denied;
    EXPECT_EQ(plain, (Error{ErrorCode::denied, "Access/permission denied", 2002}));
    EXPECT_EQ(refusal::denied.with(": {}", "root only"),
              (Error{ErrorCode::denied, "Access/permission denied: root only", 2002}));
    EXPECT_EQ(
        refusal::node_config.below("Memory specification can not be satisfied"),
        (Error{ErrorCode::invalid,
               "Memory specification can not be satisfied\nRequested node configuration is not available", 2014}));
    EXPECT_EQ(refusal::invalid_node.as(ErrorCode::not_found, " ({})", "n9"),
              (Error{ErrorCode::not_found, "Invalid node name specified (n9)", 2018}));
}

}  // namespace
}  // namespace spur
