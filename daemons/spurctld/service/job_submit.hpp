// The job_submit plugins: what they make of a request before it is checked.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::ctld {

using JobSubmitChain = host::Chain<host::JobSubmitAxis>;

// A request as the plugins left it. What only operators may ask for, and a plugin set, is kept apart: it is put in
// after the request was checked as its owner's.
struct SubmittedJob {
    JobSpec spec;
    std::optional<Text> admin_comment;

    void put_in_what_is_the_plugins() {
        if (admin_comment) spec.admin_comment = *admin_comment;
    }
};

// Asks them all, one after the other; may wait for them. Lines for the user's terminal are added to `notes`.
Result<SubmittedJob> run_job_submit(const JobSubmitChain& chain, JobSpec spec, const planning::ReadModel& model,
                                    UnixSeconds now, std::vector<std::string>& notes);

}  // namespace spur::ctld
