// Which nodes a job gets. Looks only at nodes the slot's index lets through, in an order that leaves as much as
// possible for others: light nodes first, among them the ones that are nearly full, devices that are linked well before
// others.
#pragma once

#include <spur/plugin/select.h>

#include <cstdint>
#include <vector>

#include "fit.hpp"

namespace spur::select_gpu {

struct Chosen {
    std::uint32_t node{};
    Room room;
};

// One question: a job, where it may be, and in which slot.
struct Question {
    const spur_job_view& job;
    const spur_partition_view& partition;
    const Need& need;
    std::uint32_t slot{};
    spur_bits candidates{};
    bool empty{};               // as if nothing ran and every node were up
    const spur_bits* within{};  // an alternative of the constraint; nullptr: no such rule
};

class Search {
public:
    Search(const Picture& picture, const Slots& slots, Fitter& fitter)
        : picture_{picture}, slots_{slots}, fitter_{fitter} {}
    void begin();
    void use_first_fit(bool on) { first_fit_ = on; }

    // Fills chosen(); false: not enough.
    bool choose(Question question);
    std::vector<Chosen>& chosen() { return chosen_; }
    // Could it fit, by the index alone? True where a full search may say no, never the other way round.
    bool may_fit(const Question& question) const;

private:
    bool choose_set(Question& question);
    bool choose_preferred(const Question& question);
    bool choose_on_switches(const Question& question);
    bool choose_from(const Question& question);
    bool choose_even(const Question& question);
    bool choose_one(const Question& question, std::uint32_t tasks, std::uint64_t pooled);
    bool choose_some(const Question& question, std::uint32_t tasks, std::uint64_t pooled, bool perfect);
    bool choose_roomy(const Question& question, bool by_weight);
    bool choose_contiguous(const Question& question);
    bool add_obliged(const Question& question);
    bool add(const Question& question, std::uint32_t node);
    void add(const Chosen& chosen);
    void drop_first();
    void forget();
    void replace_last(const Question& question);

    bool lay_candidates(const Question& question);
    bool is_suitable(const spur_job_view& job, std::uint32_t node) const;
    Room room(const Question& question, std::uint32_t node) const;
    bool holds(const Question& question, std::uint32_t node, std::uint32_t tasks, std::uint64_t pooled) const;
    bool is_enough(const Question& question) const;
    bool has_quotas(const spur_job_view& job) const;
    bool has_required(const spur_job_view& job) const;
    bool is_candidate(std::uint32_t node) const { return (words_[node / 64] & bit(node)) != 0; }

    // Calls f(node, bucket) over the candidates, tightest first or loosest first, by weight; f says whether to go on.
    // `group` is the set of nodes of one weight.
    template <class F>
    bool in_order(const Question& question, const std::uint64_t* group, bool loosest_first, F&& f) const;

    const Picture& picture_;
    const Slots& slots_;
    Fitter& fitter_;
    bool first_fit_{};
    std::vector<std::uint64_t> words_, saved_, taken_;  // candidates; those before a narrower look; chosen nodes
    std::vector<Chosen> chosen_, rooms_;
    std::vector<std::uint32_t> leaves_;
    std::uint64_t tasks_{}, pooled_{};
};

}  // namespace spur::select_gpu
