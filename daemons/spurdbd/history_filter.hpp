// Which runs sacct means: what conditions of a query cannot say, decided row by row. Pure.
#pragma once

#include "core/model/array_spec.hpp"
#include "spur/v1/accounting.pb.h"

#include <vector>

namespace spur::dbd {

// Does `-j ref` mean this job? `whole_het` as in the request.
bool matches(const JobRef& ref, const v1::Job& job, const v1::ListHistoryRequest& request);

// Was it there, or in one of the states, between `start` and `end`?
bool lies_in_window(const v1::Job& job, const v1::ListHistoryRequest& request);

// Constraints, reasons and ranges.
bool has_asked_properties(const v1::Job& job, const v1::ListHistoryRequest& request);

}  // namespace spur::dbd
