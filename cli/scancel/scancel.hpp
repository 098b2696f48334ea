// scancel: cancel or signal jobs and steps.
#pragma once

#include "cli/common/invocation.hpp"
#include "cli/common/options.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::cli {

namespace scancel {

struct Options {
    v1::SignalJobsRequest request;
    std::string clusters;  // -M
    bool interactive = false;
    bool quiet = false;
    int verbose = 0;
    int signal = 0;  // 0: cancel

    bool has_filters() const;
    // Nothing but ids: jobs that are gone already are what the user wants, and no error.
    bool is_plain() const;
    std::string filters_text() const;  // "account=a user_name=u "
};

std::span<const OptionRow<Options>> option_table();
Result<void> add_ids(Options& options, const std::vector<std::string>& words);

}  // namespace scancel

int run_scancel(Invocation& self);

}  // namespace spur::cli
