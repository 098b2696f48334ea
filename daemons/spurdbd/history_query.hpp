// Answering sacct: from its request to conditions, and from rows to jobs with their steps.
#pragma once

#include "daemons/spurdbd/rights.hpp"

namespace spur::dbd {

// [waits] One page, of what is for the caller: jobs of others where they may be seen, scripts and environments of one's
// own.
Result<v1::ListHistoryReply> list_history(Database& database, const v1::ListHistoryRequest& request, Caller caller);

}  // namespace spur::dbd
