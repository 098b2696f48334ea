// A job's request, read: what the texts of its JobSpec mean. Made once, when the job is submitted, changed or loaded,
// and hung on the job beside the spec, so that nobody reads a grammar twice, nor differently.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/constraint.hpp"
#include "core/model/distribution.hpp"
#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/resources.hpp"
#include "core/text/hostlist.hpp"

namespace spur {

// What is asked for in numbers, with every default in force.
struct Demand {
    std::uint32_t min_nodes{1};
    std::uint32_t max_nodes{1};
    std::uint32_t tasks{1};
    std::uint32_t cpus_per_task{1};
    std::uint32_t min_cpus{1};   // in all
    std::uint64_t memory_mib{};  // in all, as far as known before nodes are chosen
    bool operator==(const Demand&) const = default;
};

struct Request {
    Demand demand;
    GresList gres_per_node;
    GresList gres_per_job;
    GresList gres_per_task;
    GresList gres_per_socket;
    std::vector<LicenseCount> licenses;
    Distribution distribution;
    Constraint features;
    Constraint prefer;
    HostSet required_nodes;
    HostSet excluded_nodes;
    bool operator==(const Request&) const = default;

    // A text that cannot be read counts as not said: submission refuses it, but an old log may hold one.
    static Request of(const JobSpec& spec);
};

// Gives the job this spec and its request. Where `known` is the same request, it is shared.
void set_spec(Job& job, std::shared_ptr<const JobSpec> spec, const std::shared_ptr<const Request>& known = {});

// "matlab:2,ansys" and "matlab=2"; the name alone is one.
Result<std::vector<LicenseCount>> parse_licenses(std::string_view text);

}  // namespace spur
