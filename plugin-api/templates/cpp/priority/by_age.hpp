// The policy: priority grows with age, and with nothing else.
#pragma once

#include <spur/plugin/priority.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

struct ByAge {
    double weight, max_age_s, half_life_s;

    spur_priority score(const spur_job_view& job, std::int64_t now, std::int64_t nice) const {
        spur_priority answer{};
        const auto waited = static_cast<double>(std::max<std::int64_t>(0, now - job.eligible));
        answer.raw[SPUR_FACTOR_AGE] = max_age_s > 0 ? std::min(1.0, waited / max_age_s) : 0.0;
        answer.weighted[SPUR_FACTOR_AGE] = weight * answer.raw[SPUR_FACTOR_AGE];
        answer.nice = nice;
        const double total = answer.weighted[SPUR_FACTOR_AGE] - static_cast<double>(nice);
        answer.total = static_cast<std::uint64_t>(std::clamp(total, 1.0, 4294967295.0));
        return answer;
    }

    double decay(double seconds) const { return half_life_s > 0 ? std::exp2(-seconds / half_life_s) : 1.0; }
};
