// The policy: priority grows with age, and with nothing else.
#pragma once

#include <spur/plugin/priority.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

struct ByAge {
    double weight, max_age_s, half_life_s;

    double age(const spur_job_view& job, std::int64_t now) const {
        const auto waited = static_cast<double>(std::max<std::int64_t>(0, now - job.eligible));
        return max_age_s > 0 ? std::min(1.0, waited / max_age_s) : 0.0;
    }
    spur_priority total(double points, const spur_priority_query& query) const {
        spur_priority answer{};
        const auto sum = points + static_cast<double>(query.site_factor) - static_cast<double>(query.nice);
        answer.exact = std::clamp(sum, 1.0, 4294967295.0);
        answer.total = static_cast<std::uint64_t>(answer.exact);
        return answer;
    }
    double decay(std::int64_t from, std::int64_t to) const {
        const auto seconds = static_cast<double>(to) - static_cast<double>(from);
        return half_life_s > 0 && seconds > 0 ? std::exp2(-seconds / half_life_s) : 1.0;
    }
};
