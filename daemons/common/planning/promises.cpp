// Holding starts against what is kept for others.
#include "daemons/common/planning/promises.hpp"

#include <algorithm>

namespace spur::planning {

namespace {

bool meets(const std::vector<GresShare>& kept, const std::vector<GresShare>& wanted) {
    for (const auto& a : kept)
        for (const auto& b : wanted)
            if (a.name == b.name && a.devices.intersects(b.devices)) return true;
    return false;
}

std::uint64_t memory_on(NodeId node, const std::vector<NodeShare>& shares) {
    std::uint64_t sum = 0;
    for (const auto& share : shares)
        if (share.node == node) sum += share.memory_mib;
    return sum;
}

// Memory has no places of its own: there must be enough left of it when the victims are gone.
bool lacks_memory(const Promise& promise, const NodeShare& kept, const NodeShare& wanted,
                  const std::vector<Placement>& starts, const ReadModel& model) {
    const auto* const node = model.find_node(kept.node);
    if (node == nullptr) return false;
    auto used = node->use.memory_mib + wanted.memory_mib + kept.memory_mib;
    for (const auto& start : starts) used += memory_on(kept.node, start.shares);
    for (const auto victim : promise.victims)
        if (const auto& job = model.jobs.get(victim.value); job && job->allocation && !job->is_pending())
            used -= std::min(used, memory_on(kept.node, job->allocation->shares));
    return used > node->usable_memory_mib();
}

}  // namespace

void Promises::update(const ReadModel& model, UnixSeconds now) {
    std::erase_if(all_, [&](const Promise& promise) {
        const auto& job = model.jobs.get(promise.job.value);
        return !job || !job->is_pending() || promise.until <= now;
    });
}

void Promises::keep(Promise promise) {
    end(promise.job);
    all_.push_back(std::move(promise));
}

void Promises::end(JobId job) {
    std::erase_if(all_, [&](const Promise& promise) { return promise.job == job; });
}

const Promise* Promises::find_broken(JobId job, const std::vector<NodeShare>& shares, bool whole,
                                     const std::vector<Placement>& starts, const ReadModel& model) const {
    for (const auto& promise : all_) {
        if (promise.job == job) continue;
        for (const auto& kept : promise.shares)
            for (const auto& wanted : shares)
                if (kept.node == wanted.node &&
                    (whole || promise.whole || kept.cores.intersects(wanted.cores) || meets(kept.gres, wanted.gres) ||
                     lacks_memory(promise, kept, wanted, starts, model)))
                    return &promise;
    }
    return nullptr;
}

}  // namespace spur::planning
