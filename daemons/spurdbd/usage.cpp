// Sums.
#include "daemons/spurdbd/usage.hpp"

#include <algorithm>
#include <set>

#include "core/text/hostlist.hpp"

namespace spur::dbd {
namespace {

UsageKey cluster_key(std::string tres) { return {{}, {}, {}, {}, std::move(tres)}; }

// Seconds in which at least one of the spans was.
template <class Spans>
std::int64_t covered(Spans spans) {
    std::ranges::sort(spans, {}, [](const auto& span) { return span.from; });
    std::int64_t seconds = 0;
    UnixSeconds reached = 0;
    for (const auto& span : spans) {
        const auto from = std::max(span.from, reached);
        if (span.until > from) seconds += span.until - from;
        reached = std::max(reached, span.until);
    }
    return seconds;
}

// What was taken twice is given back: a node that works off its last jobs is not down, and no more is used than there
// is.
void balance(Usage& usage, std::int64_t total) {
    auto surplus = usage.allocated + usage.down + usage.planned_down - total;
    for (auto* part : {&usage.down, &usage.planned_down, &usage.allocated}) {
        const auto back = std::clamp<std::int64_t>(surplus, 0, *part);
        *part -= back;
        surplus -= back;
    }
    const auto left = total - usage.allocated - usage.down - usage.planned_down;
    const auto planned = usage.planned;
    usage.planned = std::min(planned, left);
    usage.over = planned - usage.planned;
    usage.idle = left - usage.planned;
}

}  // namespace

Usage& Usage::operator+=(const Usage& other) {
    allocated += other.allocated;
    planned += other.planned;
    idle += other.idle;
    down += other.down;
    planned_down += other.planned_down;
    over += other.over;
    count = std::max(count, other.count);
    return *this;
}

HourlyUsage::HourlyUsage(UnixSeconds from, UnixSeconds until, UnixSeconds now)
    : from_{hour_of(from)}, until_{until}, now_{now}, end_{std::max(from_, std::min(now, until))} {
    for (auto hour = from_; hour < until_; hour += hour_s) used_[hour];
}

HourlyUsage::Span HourlyUsage::within(Span span) const {
    return {std::max(span.from, from_), std::min(span.until == 0 ? end_ : span.until, end_)};
}

template <class F>
void HourlyUsage::by_hour(Span span, F&& use) const {
    span = within(span);
    for (auto hour = hour_of(span.from); hour < span.until; hour += hour_s) {
        const Span part{std::max(hour, span.from), std::min(hour + hour_s, span.until)};
        if (part.length() > 0) use(hour, part);
    }
}

void HourlyUsage::add_used(UsageSums& sums, const RunRecord& run, std::int64_t seconds) const {
    for (const auto& one : run.allocated.entries())
        sums[{run.account, run.user, run.qos, run.wckey, std::string{one.name}}].allocated +=
            seconds * static_cast<std::int64_t>(one.count);
}

void HourlyUsage::add(const RunRecord& run) {
    if (run.eligible != 0 && (run.start == 0 || run.start > run.eligible)) {
        const auto waited_until = run.start != 0 ? run.start : run.end;
        by_hour({run.eligible, waited_until}, [&](UnixSeconds hour, Span part) {
            for (const auto& one : run.requested.entries())
                used_.at(hour)[cluster_key(std::string{one.name})].planned +=
                    part.length() * static_cast<std::int64_t>(one.count);
        });
    }
    if (run.start == 0) return;
    // When it was suspended is not known: it is taken off the end.
    const auto end = run.end == 0 ? now_ : run.end;
    const Span ran{run.start, std::max(run.start, end - run.suspended_s)};
    if (ran.length() == 0) return;
    by_hour(ran, [&](UnixSeconds hour, Span part) {
        add_used(used_.at(hour), run, part.length());
        if (run.reservation.empty())
            for (const auto& one : run.allocated.entries())
                used_.at(hour)[cluster_key(std::string{one.name})].allocated +=
                    part.length() * static_cast<std::int64_t>(one.count);
        else
            in_reservations_.push_back({run.reservation, part, run.allocated});
    });
}

// A reservation is in use as a whole; whoever may use it pays for the time in which nobody did.
void HourlyUsage::add_reservations(std::map<UnixSeconds, UsageSums>& hours) const {
    for (const auto& reserved : reserved_) {
        if (reserved.ignores_jobs) continue;
        by_hour({reserved.start, reserved.end}, [&](UnixSeconds hour, Span part) {
            std::vector<Span> busy;
            for (const auto& run : in_reservations_)
                if (run.reservation == reserved.name && run.span.from < part.until && part.from < run.span.until)
                    busy.push_back({std::max(run.span.from, part.from), std::min(run.span.until, part.until)});
            const auto unused = part.length() - covered(busy);
            for (const auto& one : reserved.tres.entries()) {
                const auto count = static_cast<std::int64_t>(one.count);
                auto& all = hours.at(hour)[cluster_key(std::string{one.name})];
                (reserved.is_maintenance ? all.planned_down : all.allocated) += part.length() * count;
                if (unused == 0) continue;
                const auto payers = static_cast<std::int64_t>(reserved.payers.size());
                for (const auto& [account, user] : reserved.payers)
                    hours.at(hour)[{account, user, {}, {}, std::string{one.name}}].allocated += unused * count / payers;
            }
        });
    }
    // What jobs in them had of resources that the reservation does not count; and of those whose reservation nobody
    // knows.
    for (const auto& run : in_reservations_) {
        const auto is_its = [&](const ReservedRecord& one) {
            return one.name == run.reservation && !one.ignores_jobs && one.start <= run.span.from &&
                   run.span.from < one.end;
        };
        const auto reserved = std::ranges::find_if(reserved_, is_its);
        for (const auto& one : run.tres.entries()) {
            if (reserved != reserved_.end() && reserved->tres.find(one.name)) continue;
            hours.at(hour_of(run.span.from))[cluster_key(std::string{one.name})].allocated +=
                run.span.length() * static_cast<std::int64_t>(one.count);
        }
    }
}

bool HourlyUsage::is_maintained(const std::string& node, UnixSeconds from, UnixSeconds until) const {
    return std::ranges::any_of(reserved_, [&](const ReservedRecord& one) {
        if (!one.is_maintenance || one.start > from || one.end < until) return false;
        const auto nodes = HostSet::parse(one.nodes);
        return nodes && nodes->contains(node);
    });
}

void HourlyUsage::add_outages(std::map<UnixSeconds, UsageSums>& hours) const {
    for (const auto& outage : outages_) {
        if (outage.node.empty()) continue;
        by_hour({outage.start, outage.end}, [&](UnixSeconds hour, Span part) {
            if (is_maintained(outage.node, part.from, part.until)) return;
            for (const auto& one : outage.tres.entries())
                hours.at(hour)[cluster_key(std::string{one.name})].down +=
                    part.length() * static_cast<std::int64_t>(one.count);
        });
    }
}

std::map<UnixSeconds, UsageSums> HourlyUsage::sums() const {
    auto hours = used_;
    add_reservations(hours);
    add_outages(hours);
    std::map<std::pair<UnixSeconds, std::string>, std::int64_t> totals;
    for (const auto& outage : outages_) {
        if (!outage.node.empty()) continue;
        by_hour({outage.start, outage.end}, [&](UnixSeconds hour, Span part) {
            for (const auto& one : outage.tres.entries()) {
                const auto count = static_cast<std::int64_t>(one.count);
                totals[{hour, std::string{one.name}}] += part.length() * count;
                auto& usage = hours.at(hour)[cluster_key(std::string{one.name})];
                usage.count = std::max(usage.count, count);
            }
        });
    }
    for (auto& [hour, sums] : hours) {
        for (auto& [key, usage] : sums) {
            if (!key.is_cluster()) continue;
            const auto total = totals.find({hour, key.tres});
            // What nobody has said how much there is of: only what was used is known.
            balance(usage, total == totals.end() ? usage.allocated : total->second);
        }
        std::erase_if(sums, [](const auto& one) { return one.second == Usage{}; });
    }
    return hours;
}

}  // namespace spur::dbd
