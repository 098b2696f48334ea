// What is remembered of waiting jobs from pass to pass: a card each, small enough to walk 100,000 of them in a
// millisecond or two.
//
// Jobs of one shape ask for the same but for how long: what the selector said of one holds for the others while the
// pass lasts. Jobs of one owner are the same to the limits of users, accounts and QOS.
#pragma once

#include <spur/plugin/sched.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "denials.hpp"

namespace spur::backfill {

struct Card {
    std::uint32_t shape, owner;
    std::uint32_t limit_s, least_s;  // least: with what --time-min allows
    std::uint32_t rank;              // an index into Cards::ranks()
    std::uint64_t expected;          // a digest of the last expected start told; 0: none
    std::uint8_t said;               // the last reason told; 0: none
    bool has_deadline, is_component, has_tasks;
};

// What is known of a shape while a pass lasts.
struct Shape {
    static constexpr std::uint64_t nobody = UINT64_MAX;

    std::uint32_t first_open, open_count;  // partitions that would start it, see Cards::open_partitions()
    std::uint8_t refusal;                  // why it cannot start at all; 0: it may
    std::uint8_t why;                      // it does not start now
    bool is_examined;                      // is it possible at all? If not, refusal says why
    bool never_in_window;                  // no booking was found for it
    std::uint64_t fails_from_s;            // a job that wants it for so long or longer cannot have it now
    std::int64_t earliest;                 // no booking of `earliest_length` or longer can begin before
    std::int64_t earliest_length;
};

class Cards {
public:
    // Only what changed, where the host says what that is and `complete`: the pass before this one saw everything.
    void update(const spur_cluster_view& view, bool complete);
    bool was_full() const { return was_full_; }  // all cards are new

    Card& card(std::uint32_t slot) { return cards_[slot]; }
    Shape& shape(const Card& card) { return shapes_[card.shape]; }
    const Amounts& amounts(const Card& card) const { return amounts_[card.shape]; }
    std::span<const std::uint32_t> open_partitions(const Shape& shape) const {
        return {open_partitions_.data() + shape.first_open, shape.open_count};
    }
    // 0: not asked in this pass. Else 1 + the answer of may_start().
    std::uint8_t& permission(const Card& card) { return permissions_[card.owner]; }

    // Slots in the order to look at: who may preempt others, who has a reservation, partitions of higher tiers,
    // priority.
    const std::vector<std::uint32_t>& order(const spur_cluster_view& view);
    std::size_t shape_count() const { return shapes_.size(); }

private:
    void rebuild(const spur_cluster_view& view);
    void fill(const spur_cluster_view& view, std::uint32_t slot);
    bool are_nodes_alike(const spur_cluster_view& view);
    void rank_qos(const spur_cluster_view& view);
    std::uint32_t rank_of(const spur_cluster_view& view, const spur_job_view& job);

    std::vector<Card> cards_;  // by slot
    std::unordered_map<std::uint64_t, std::uint32_t> shape_numbers_, owner_numbers_;
    std::vector<Shape> shapes_;
    std::vector<Amounts> amounts_;  // of each shape
    std::vector<std::uint32_t> open_partitions_;
    std::vector<std::uint8_t> permissions_;
    std::vector<std::uint64_t> nodes_;       // what each is, whatever runs there
    std::vector<std::uint64_t> ranks_;       // distinct
    std::vector<std::uint32_t> qos_depths_;  // how long a chain of QOS it may preempt
    std::vector<std::uint32_t> order_, counts_, by_rank_;
    std::uint64_t seen_{0};
    std::size_t stale_{0};  // shapes and owners that nobody may have any more
    bool users_matter_{false}, was_full_{false};
};

}  // namespace spur::backfill
