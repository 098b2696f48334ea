// Smaller requests than a job's own, one thing made smaller at a time: what `spur why` tries out. Nothing here decides
// whether they would help.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/model/job.hpp"

namespace spur::ctld {

struct SmallerRequest {
    std::uint64_t least{1}, most{};                        // values to try; the larger, the less is given up
    std::function<Job(std::uint64_t)> with;                // the job with this value
    std::function<std::string(std::uint64_t)> option;      // "--nodes=2"
    std::function<std::string(std::uint64_t)> difference;  // "2 nodes instead of 4"
};

std::vector<SmallerRequest> smaller_requests(const Job& job);

}  // namespace spur::ctld
