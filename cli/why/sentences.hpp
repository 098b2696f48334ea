// From the controller's facts about a job to what a person wants to read. No I/O.
#pragma once

#include "spur/v1/controller.pb.h"

#include <string>

namespace spur::cli::why {

// Paragraphs of one line each, every line ended.
std::string explain(const v1::ExplainReply& facts);

}  // namespace spur::cli::why
