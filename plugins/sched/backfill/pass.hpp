// One pass over the queue: who starts now, who is promised a start, who preempts whom, and why the others wait.
#pragma once

#include <spur/plugin/plugin.hpp>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backfill.hpp"

namespace spur::backfill {

class Pass {
public:
    Pass(const spur_cluster_view& view, const spur_plan_sink& sink, const Options& options, Workshop& workshop);
    bool run();  // false: told to stop before the end of the queue

private:
    // A job, or the components of a heterogeneous one: they start together or not at all.
    using Unit = std::span<const std::uint32_t>;
    struct Place {
        std::uint32_t slot;  // of the job
        std::uint32_t partition;
        const spur_placement* placement;
        std::uint32_t limit_s;
    };
    enum class Outcome { started, limited, waits };

    // ---- the walk
    void consider(std::uint32_t slot);
    bool is_denied(std::uint32_t slot);
    Outcome start_one(std::uint32_t slot);
    void consider_group(std::uint32_t slot);
    bool start_group(Unit group);
    void wait(Unit unit);
    bool is_stopped(std::uint32_t every = 1);
    void examine(std::uint32_t slot);

    // ---- fitting
    struct Question {
        std::uint32_t slot, partition;
        Stretch when;
    };
    // Would the selector place it so? With `write`, where: see placement.
    bool fits(const State& state, const Question& question, bool write);
    bool fits_on_few_switches(const State& state, const Question& question, spur_bits candidates, bool write);
    bool pick(const State& state, const Question& question, spur_bits candidates, bool write);
    spur_status ask(const State& state, const Question& question, spur_bits candidates, std::uint32_t flags);
    bool has_licenses(const Question& question) const;
    std::uint32_t switches_used() const;
    // The longest limit with which it fits from now on; 0: none.
    std::uint32_t longest_limit(std::uint32_t slot, std::uint32_t partition);
    // In the cursor's slot as it is: all of them, one after the other. Where, if `places` is given.
    bool fit_together(const State& state, Unit unit, std::int64_t start, std::vector<Place>* places);

    // ---- promises
    void promise(Unit unit);
    std::optional<std::int64_t> earliest_start(Unit unit);
    std::optional<std::int64_t> first_start_within(Unit unit, Stretch stretch, std::int64_t guess);
    bool may_fit(const State& state, std::uint32_t slot);
    bool fits_at(Unit unit, std::int64_t start, std::vector<Place>* places);
    std::optional<std::int64_t> opening(Unit unit, std::int64_t t) const;
    std::int64_t stretch_end(Unit unit, std::int64_t start) const;
    std::int64_t length_of(Unit unit) const;
    void book(Unit unit, std::int64_t start, const std::vector<Place>& places);
    bool may_promise(const Shape& shape) const;

    // ---- pushing out (preempt.cpp)
    bool preempt(Unit unit);
    void find_victims();
    bool may_push(const spur_job_view& job, const spur_job_view& victim) const;
    bool may_help(std::uint32_t slot, std::uint32_t victim);
    const State& cursor_now(Unit unit);
    std::vector<std::uint32_t> victims_for(Unit unit);
    std::vector<std::uint32_t> fewest(Unit unit, const std::vector<std::uint32_t>& all);
    std::vector<std::uint32_t> enough_of(Unit unit, const std::vector<std::uint32_t>& ordered);
    void lift(std::uint32_t victim);
    void put_back(std::uint32_t victim);

    // ---- saying why
    void say(std::uint32_t slot, std::uint32_t reason);
    std::uint32_t reason_for(std::uint32_t slot);
    bool is_kept_out(std::uint32_t slot);  // by reservations alone
    std::string obstacle(std::uint32_t slot);

    const spur_job_view& job(std::uint32_t slot) const { return *SPUR_AT(spur_job_view, view_.pending, slot); }
    const spur_partition_view& partition(std::uint32_t i) const {
        return *SPUR_AT(spur_partition_view, view_.partitions, i);
    }
    bool is_limited(std::uint32_t slot, std::uint32_t partition, bool ask_again);
    Shape& shape(std::uint32_t slot) { return cards_.shape(cards_.card(slot)); }
    std::span<const std::uint32_t> partitions_of(std::uint32_t slot) { return cards_.open_partitions(shape(slot)); }
    std::int64_t end_of(std::int64_t start, std::uint32_t limit_s) const {
        return limit_s == SPUR_UNLIMITED ? Timeline::never : start + limit_s;
    }

    const spur_cluster_view& view_;
    const spur_plan_sink& sink_;
    const Options& options_;
    Cards& cards_;
    Denials& denials_;
    Forecast& forecast_;
    Timeline& timeline_;
    Reserved& reserved_;
    PlacementBuffer& placement_;
    std::vector<std::uint64_t>& nodes_;

    struct Queue {  // of one partition
        bool has_front{false};
        std::uint32_t promised{0};
    };
    std::vector<Queue> queues_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> groups_;
    std::vector<std::uint32_t> victims_;  // running jobs somebody may preempt, youngest first
    std::vector<Place> places_;
    std::int64_t placed_at_{Timeline::never};  // the start places_ stand for, in a search for one
    Arena kept_;
    std::uint32_t asked_{0};
    std::uint32_t lack_{SPUR_WAIT_RESOURCES};  // what the last question that was denied lacked
    bool stopped_{false};
};

}  // namespace spur::backfill
