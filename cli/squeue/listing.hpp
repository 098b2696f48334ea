// squeue's output as text: what was asked for, applied to what the controller answered. No I/O.
#pragma once

#include "cli/squeue/options.hpp"
#include "spur/v1/controller.pb.h"

#include <string>

namespace spur::cli::squeue {

struct Printed {
    std::string text;
    std::vector<std::string> complaints;  // unknown format letters; the rest is printed all the same
};
Result<Printed> print_listing(const Options& options, const v1::ListJobsReply& reply);

}  // namespace spur::cli::squeue
