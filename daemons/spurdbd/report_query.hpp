// Answering sreport and sacctmgr: rows of a table, and what jobs used in a time.
#pragma once

#include <optional>

#include "daemons/spurdbd/roll_up.hpp"

namespace spur::dbd {

// [waits] One page.
Result<v1::ListRowsReply> list_rows(Database& database, const v1::ListRowsRequest& request);

// [waits] `only_of`: what others used is not for the caller.
Result<v1::SumUsageReply> sum_usage(RollUp& roll_up, const v1::SumUsageRequest& request,
                                    const std::optional<std::string>& only_of);

// [waits] `only_of`: jobs of others are not for the caller.
Result<v1::SumJobsReply> sum_jobs(Database& database, const v1::SumJobsRequest& request, std::int64_t now,
                                  std::optional<Uid> only_of);

}  // namespace spur::dbd
