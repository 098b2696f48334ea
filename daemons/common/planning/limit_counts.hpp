// Limits as the scheduler asks about them: counts of what runs, kept up to date with the read model, plus what the plan
// in the making has started. Answers without asking the engine, and remembers what it found out within a plan.
// [scheduler thread only]
#pragma once

#include <spur/plugin/view.h>

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/machine/limits.hpp"
#include "daemons/common/planning/priority_report.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::planning {

class LimitCounts {
public:
    // Brings the counts up to date.
    void update(const std::shared_ptr<const ReadModel>& model, const Changes& changes);
    // The fair-share factors that UsageThreshold is held against, as the priority plugin last had them.
    void set_shares(std::shared_ptr<const PriorityReport::Shares> shares) { shares_ = std::move(shares); }
    // A plan begins: nothing has been started yet.
    void begin_plan();

    // Why limits do not let one more task of `job` start; none: they do. `view` is the job as planners see it: what was
    // found out about one holds for all that look the same. `partition` is where it would start.
    Reason judge(const Job& job, const spur_job_view& view, const Text& partition);
    // The same for the very resources it would get.
    Reason judge(const Job& job, const TresList& would_use, const Text& partition);
    // The limit behind that reason, with its numbers.
    LimitHit find(const Job& job);
    // The plan has started it with these.
    void start(const Job& job, const TresList& uses, const Text& partition);

    bool enforces() const { return enforces_; }

private:
    struct Place {  // of all jobs with the same association, QOS, user, account and partition
        JobLimits limits;
        bool free;  // no limit is set anywhere
    };
    struct Key {
        AssociationId association;
        Text qos, partition, account;
        Uid uid{};
        auto operator<=>(const Key&) const = default;
    };
    struct Counted {
        Key key;
        TresList tres;
    };
    struct Verdict {
        Reason reason{Reason::none};
        std::uint64_t found_at{};  // before so many starts of this plan
        bool free{false};
    };

    static Key key_of(const Job& job, const Text& partition);
    Place& place_of(const Key& key);
    void count(const Key& key, int jobs, const TresList& tres);
    void update_job(JobId id);
    void rebuild();
    Reason judge(Place& place, const Job& job, const TresList& wanted);
    std::uint64_t run_minutes(const LimitPlace::Group* group, const LimitPlace::Quality* quality,
                              std::string_view tres) const;
    bool is_below_threshold(const Job& job) const;

    std::shared_ptr<const ReadModel> model_;
    std::shared_ptr<const PriorityReport::Shares> shares_;
    bool enforces_{false};
    std::map<Key, std::unique_ptr<Place>> places_;
    std::unordered_map<JobId, Counted> running_;
    std::vector<Counted> started_;  // by this plan
    // The counts; nodes of these maps stay where they are, places_ point at them.
    std::map<AssociationId, Usage> associations_;
    std::map<Text, Usage> qos_;
    std::map<std::pair<Text, Uid>, Usage> qos_users_;
    std::map<std::pair<Text, Text>, Usage> qos_accounts_;
    std::unordered_map<std::uint64_t, Verdict> verdicts_;  // by what matters of a view
};

}  // namespace spur::planning
