// What the priority plugin last said, for sprio and sshare: written by the scheduler, read by any thread. Soft: a new
// leader's scheduler fills its own.
#pragma once

#include <spur/plugin/priority.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"

namespace spur::planning {

class PriorityReport {
public:
    // A factor as the plugin named it; the order is that of Line::raw.
    struct Factor {
        std::string name, help;
        double weight{};
        bool operator==(const Factor&) const = default;
    };
    struct Line {
        Text partition;
        spur_priority answer{};
        std::vector<double> raw, weighted;  // empty: the priority was set by hand
    };
    using Shares = std::map<AssociationId, spur_share>;

    // ---- the scheduler
    void clear();
    void put(JobId job, std::vector<Line> lines);
    void put(Shares shares);
    void put(std::vector<Factor> factors);

    // ---- any thread
    std::vector<Line> find(JobId job) const;
    std::shared_ptr<const Shares> shares() const;
    std::shared_ptr<const std::vector<Factor>> factors() const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<JobId, std::vector<Line>> lines_;
    std::shared_ptr<const Shares> shares_{std::make_shared<Shares>()};
    std::shared_ptr<const std::vector<Factor>> factors_{std::make_shared<std::vector<Factor>>()};
};

}  // namespace spur::planning
