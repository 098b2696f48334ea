// Requests that were denied in this pass. A job that wants as much of everything, for as long or longer, is denied
// too: after a start there is only less room. That spares the selector most of the questions of a pass.
#pragma once

#include <spur/plugin/view.h>

#include <array>
#include <cstdint>
#include <vector>

namespace spur::backfill {

// How much a job wants. Only jobs of one family can be compared: those that ask for the same in everything that is
// not an amount.
struct Amounts {
    static constexpr std::size_t kinds = 10;

    std::uint64_t family{};
    std::uint64_t tasks{}, max_nodes{};  // fewer tasks are no less if each node must hold more of them
    std::array<std::uint64_t, kinds> least{};
};

// `rest`: of all that a selector may look at and that is not an amount.
Amounts amounts_of(const spur_job_view& job, std::uint64_t rest);

class Denials {
public:
    void clear();
    void add(const Amounts& wanted, std::uint32_t seconds, std::uint8_t why);
    // Why a job that wants so much for so long cannot have it either; 0: nothing smaller was denied.
    std::uint8_t covering(const Amounts& wanted, std::uint32_t seconds);

private:
    struct Denial {
        Amounts wanted;
        std::uint32_t seconds;
        std::uint8_t why;
    };
    static constexpr std::size_t most = 64;  // of one family
    static bool is_within(const Denial& denial, const Amounts& wanted, std::uint32_t seconds);
    std::vector<Denial>& of(std::uint64_t family);

    struct Family {
        std::uint64_t hash;
        std::vector<Denial> denials;  // those that answered last come first
    };
    std::vector<Family> families_;       // `used_` of them; the others keep their memory
    std::vector<std::uint32_t> places_;  // by hash: 1 + an index into families_
    std::size_t used_{0};
};

}  // namespace spur::backfill
