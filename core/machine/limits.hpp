// Limits by association and QOS, judged on any picture of who uses how much: the cluster itself, or what a plan would
// make of it. The reasons are Slurm's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/association.hpp"
#include "core/model/gres.hpp"
#include "core/model/picture.hpp"
#include "core/model/reason.hpp"

namespace spur {

// One job's place among the accounts: what its limits are, and what counts against them already. `counts` hold running
// and submitted jobs; what was used in the past is in the records' own usage.
struct LimitPlace {
    struct Group {
        const Association* association{};
        const Usage* counts{};
    };
    struct Quality {
        const Qos* qos{};
        const Usage* counts{};   // of everybody
        const Usage* user{};     // of the job's user
        const Usage* account{};  // of the job's account
    };
    std::vector<Group> chain;        // the job's own association first, the root last
    std::vector<Quality> qualities;  // where two limit the same thing, the first decides
    const Limits* own{};             // per job and per user, inherited ones included; null: there is no association
    bool safe{false};                // nothing starts that could not run to its end within what may be used
};

// The place of a job with this association, QOS and first partition; `group` and `quality` add the counts.
struct JobLimits {
    LimitPlace place;
    Limits inherited;  // place.own
    JobLimits(const Picture& picture, AssociationId association, std::string_view qos, std::string_view partition,
              const std::function<const Usage*(const Association&)>& group,
              const std::function<LimitPlace::Quality(const Qos&)>& quality);
    JobLimits(const JobLimits&) = delete;
    JobLimits& operator=(const JobLimits&) = delete;
};

// The longest time limit its association and QOS let this request have; what a user who named none gets at most.
std::optional<std::uint32_t> longest_wall(const Picture& picture, const JobSpec& spec);

// TRES-minutes that running jobs of the group, or of the QOS, may still use until their time limits strike. Asked only
// where such a limit is set.
using RunMinutes =
    std::function<std::uint64_t(const LimitPlace::Group*, const LimitPlace::Quality*, std::string_view tres)>;

// A limit with its numbers: what it allows, what counts against it, and what the job would add.
struct LimitHit {
    Reason reason{Reason::none};
    std::string_view name{};  // as sacctmgr has it: "GrpTRES"
    std::string tres{};       // "cpu"; empty where the limit is on jobs or time
    double most{}, used{}, asked{};
    const Association* association{};  // whose limit it is; null: the QOS's
    const Qos* qos{};
};

// Why a job that wants this may not start now; none: it may.
LimitHit find_limit(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes, const RunMinutes& running);
inline Reason judge_limits(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes,
                           const RunMinutes& running) {
    return find_limit(place, wanted, minutes, running).reason;
}

// The same if it were the only job there is: what DenyOnLimit refuses at submission.
Reason judge_alone(const LimitPlace& place, const TresList& wanted, std::uint32_t minutes);

// Has what was used up to now passed what the group or a QOS may use? Jobs that run are ended for it.
Reason judge_spent(const LimitPlace& place);

// May one more of its pending jobs gain priority by age? `accruing` counts those that do, of a group, of a
// QOS's user or of a QOS's account.
struct Accruing {
    std::function<std::uint32_t(const Association&)> group;
    std::function<std::uint32_t(const Qos&)> user, account;
};
bool limits_accrual(const LimitPlace& place);
bool may_accrue(const LimitPlace& place, const Accruing& accruing);

// Would `tasks` more submitted jobs be too many? Refused at once, whatever the flags.
Reason judge_submit(const LimitPlace& place, std::uint32_t tasks);

// The QOS of a job and the one of its partition as limits apply them: the partition's first, unless the job's QOS has
// OverPartQOS.
std::vector<const Qos*> qos_of(const Picture& picture, std::string_view qos, std::string_view partition);
std::vector<const Qos*> qos_of(const Picture& picture, const JobSpec& spec);

// True if no limit of any kind is set, so that there is nothing to judge.
bool has_no_limits(const LimitPlace& place);

void count_usage(Usage& usage, int jobs, std::int64_t submitted, const TresList& tres);

}  // namespace spur
