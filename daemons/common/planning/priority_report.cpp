// Storing and handing out what the plugin said, under a lock.
#include "daemons/common/planning/priority_report.hpp"

namespace spur::planning {

void PriorityReport::clear() {
    const std::lock_guard lock{mutex_};
    lines_.clear();
}

void PriorityReport::put(JobId job, std::vector<Line> lines) {
    const std::lock_guard lock{mutex_};
    lines_.insert_or_assign(job, std::move(lines));
}

void PriorityReport::put(Shares shares) {
    auto made = std::make_shared<const Shares>(std::move(shares));
    const std::lock_guard lock{mutex_};
    shares_ = std::move(made);
}

void PriorityReport::put(std::vector<Factor> factors) {
    auto made = std::make_shared<const std::vector<Factor>>(std::move(factors));
    const std::lock_guard lock{mutex_};
    factors_ = std::move(made);
}

std::vector<PriorityReport::Line> PriorityReport::find(JobId job) const {
    const std::lock_guard lock{mutex_};
    const auto found = lines_.find(job);
    return found == lines_.end() ? std::vector<Line>{} : found->second;
}

std::shared_ptr<const PriorityReport::Shares> PriorityReport::shares() const {
    const std::lock_guard lock{mutex_};
    return shares_;
}

std::shared_ptr<const std::vector<PriorityReport::Factor>> PriorityReport::factors() const {
    const std::lock_guard lock{mutex_};
    return factors_;
}

}  // namespace spur::planning
