// Comparing a request with those that were denied in this pass.
#include "denials.hpp"

#include <algorithm>

#include <spur/plugin/hash.hpp>

namespace spur::backfill {

namespace {

// Can any smaller number of its nodes hold its part of the job? Not where the nodes are named, lie side by side, or
// share what the whole job wants.
bool is_divisible(const spur_job_view& job) {
    for (const auto& gres : plugin::Records<spur_gres_request>{job.gres})
        if (gres.scope == SPUR_GRES_PER_JOB) return false;
    return job.required_nodes.words == nullptr && job.quotas.count == 0 && job.alternatives.count == 0 &&
           job.max_switches == 0 && job.spread_nodes != SPUR_SPREAD_PLANE && (job.flags & SPUR_JOB_CONTIGUOUS) == 0;
}

}  // namespace

Amounts amounts_of(const spur_job_view& job, std::uint64_t rest) {
    Amounts amounts;
    amounts.tasks = job.tasks;
    amounts.max_nodes = job.max_nodes;
    auto& least = amounts.least;
    least = {job.min_nodes,        job.tasks,           job.cpus_per_task,   job.min_cpus_per_node,
             job.mem_per_node_mib, job.mem_per_cpu_mib, job.mem_per_gpu_mib, job.tmp_mib};
    auto next = least.begin() + 8;
    plugin::Hash family;
    family(rest);
    for (const auto& gres : plugin::Records<spur_gres_request>{job.gres}) {
        family(gres.name, gres.type, gres.scope);
        if (next != least.end())
            *next++ = gres.count;
        else
            family(gres.count);
    }
    for (const auto amount : least) family(amount == 0);  // what nobody said may mean all there is
    if (!is_divisible(job)) family(job.min_nodes, job.max_nodes, job.tasks);
    amounts.family = family.value();
    return amounts;
}

void Denials::clear() {
    for (std::size_t i = 0; i < used_; ++i) families_[i].denials.clear();
    used_ = 0;
    std::ranges::fill(places_, 0U);
}

std::vector<Denials::Denial>& Denials::of(std::uint64_t family) {
    if (places_.size() < 4 * (used_ + 1)) {
        places_.assign(std::max<std::size_t>(64, 2 * places_.size()), 0);
        for (std::uint32_t i = 0; i < used_; ++i) {
            auto at = families_[i].hash % places_.size();
            while (places_[at] != 0) at = (at + 1) % places_.size();
            places_[at] = i + 1;
        }
    }
    auto at = family % places_.size();
    for (; places_[at] != 0; at = (at + 1) % places_.size())
        if (auto& found = families_[places_[at] - 1]; found.hash == family) return found.denials;
    if (used_ == families_.size()) families_.emplace_back();
    families_[used_].hash = family;
    places_[at] = static_cast<std::uint32_t>(++used_);
    return families_[used_ - 1].denials;
}

bool Denials::is_within(const Denial& denial, const Amounts& wanted, std::uint32_t seconds) {
    if (denial.seconds > seconds) return false;
    for (std::size_t i = 0; i < Amounts::kinds; ++i)
        if (denial.wanted.least[i] > wanted.least[i]) return false;
    return denial.wanted.tasks * wanted.max_nodes <= wanted.tasks * denial.wanted.max_nodes;
}

void Denials::add(const Amounts& wanted, std::uint32_t seconds, std::uint8_t why) {
    auto& denials = of(wanted.family);
    const Denial denial{wanted, seconds, why};
    std::erase_if(denials, [&](const Denial& old) { return is_within(denial, old.wanted, old.seconds); });
    if (denials.size() == most) denials.pop_back();
    denials.insert(denials.begin(), denial);
}

std::uint8_t Denials::covering(const Amounts& wanted, std::uint32_t seconds) {
    auto& denials = of(wanted.family);
    for (std::size_t i = 0; i < denials.size(); ++i)
        if (is_within(denials[i], wanted, seconds)) {
            const auto why = denials[i].why;
            if (i != 0) std::swap(denials[i], denials[i / 2]);
            return why;
        }
    return 0;
}

}  // namespace spur::backfill
