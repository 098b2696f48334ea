// What has been used, fading with time: the ground of fair-share.
#include <algorithm>
#include <cmath>

#include "core/machine/cluster_ops.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/validate.hpp"

namespace spur {

namespace {

// 0.5 ^ (elapsed / half_life) by additions and multiplications alone, which give the same bits on every machine;
// the library's pow() need not.
double fading(std::int64_t elapsed, std::uint64_t half_life) {
    if (half_life == 0 || elapsed <= 0) return 1.0;
    const auto halvings = static_cast<std::uint64_t>(elapsed) / half_life;
    if (halvings > 1000) return 0.0;
    const double rest =
        static_cast<double>(static_cast<std::uint64_t>(elapsed) % half_life) / static_cast<double>(half_life);
    constexpr double ln2 = 0.6931471805599453;
    double factor = 1.0;
    double term = 1.0;
    for (int i = 1; i < 20; ++i) {
        term *= -rest * ln2 / i;
        factor += term;
    }
    return std::ldexp(factor, -static_cast<int>(halvings));
}

void fade(Usage& usage, double factor) {
    usage.raw *= factor;
    usage.grp_wall_s *= factor;
    for (auto& entry : usage.tres_seconds) entry.seconds *= factor;
}

void add(Usage& usage, const TresList& tres, double seconds, double factor) {
    usage.grp_wall_s += seconds;
    usage.raw += static_cast<double>(tres.get("billing")) * seconds * factor;
    for (const auto& entry : tres.entries()) {
        auto place = std::ranges::find_if(usage.tres_seconds,
                                          [&](const TresSeconds& known) { return known.name == entry.name; });
        if (place == usage.tres_seconds.end())
            place = usage.tres_seconds.insert(usage.tres_seconds.end(), TresSeconds{Text{entry.name}, 0});
        place->seconds += static_cast<double>(entry.count) * seconds * factor;
    }
}

}  // namespace

void ClusterOps::charge(const Job& job) {
    if (!job.allocation || job.state != JobState::running) return;
    const auto qos = c.qos_.find(job.spec->qos);
    const auto seconds = static_cast<double>(at - std::max({job.start_time, job.suspend_time, c.usage_time_}));
    if (seconds <= 0) return;
    const auto tres = allocated_tres(c, *job.allocation);
    const double factor = qos == c.qos_.end() ? 1.0 : qos->second.usage_factor;
    for (const auto* each : qos_of(c, *job.spec)) add(c.qos_.find(each->name)->second.usage, tres, seconds, factor);
    for (auto id = job.association; id;) {
        const auto place = c.associations_.find(id);
        if (place == c.associations_.end()) break;
        add(place->second.usage, tres, seconds, factor);
        id = place->second.parent;
    }
}

Result<void> ClusterOps::on(const DecayUsage& cmd) {
    if (cmd.factor && !(*cmd.factor >= 0 && *cmd.factor <= 1))
        return fail(ErrorCode::invalid, "usage cannot fade by a factor of {}", *cmd.factor);
    for (const auto id : c.active_) charge(c.jobs_.at(id));
    end_spent();
    update_accrual();
    const auto elapsed = at - std::exchange(c.usage_time_, at);
    const double factor = cmd.factor.value_or(fading(elapsed, c.policies_.usage_half_life_s));
    for (auto& [id, entry] : c.associations_) fade(entry.usage, factor);
    for (auto& [name, qos] : c.qos_)
        if (!(qos.flags & qos_flag::no_decay)) fade(qos.usage, factor);
    events.push_back(AssociationsChanged{});
    return {};
}

Result<void> ClusterOps::on(const ResetUsage& cmd) {
    const auto reset = [](Usage& usage) {
        usage.raw = usage.grp_wall_s = 0;
        usage.tres_seconds.clear();
    };
    bool found = false;
    for (auto& [id, entry] : c.associations_)
        if (!cmd.account.empty() && entry.account == cmd.account && (cmd.user.empty() || entry.user == cmd.user)) {
            reset(entry.usage);
            found = true;
        }
    if (const auto place = c.qos_.find(cmd.qos); place != c.qos_.end()) {
        reset(place->second.usage);
        found = true;
    }
    if (!found)
        return fail(ErrorCode::not_found, "nothing is known under account \"{}\", user \"{}\", qos \"{}\"", cmd.account,
                    cmd.user, cmd.qos);
    events.push_back(AssociationsChanged{});
    return {};
}

}  // namespace spur
