// What a pending job is worth: the weighted sum of what speaks for it. Plain C++ over the ABI's view; no clock, no I/O.
#pragma once

#include <spur/plugin/priority.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tree.hpp"

namespace spur::fairshare {

// "cpu", "mem", "node", "billing" or "gres/gpu", and what a job that asks for all of it in its partition gets.
struct TresWeight {
    std::string name, spelling;  // in lower case, and as it was written
    double weight{};
};
// "CPU=1000" and "GRES/gpu=2000"; throws std::invalid_argument with a sentence.
TresWeight parse_tres_weight(std::string_view text);

struct Settings {
    double age{}, fairshare{}, job_size{}, partition{}, qos{}, association{};  // weights
    std::vector<TresWeight> tres;
    double max_age_s{7 * 86'400.0};
    double half_life_s{7 * 86'400.0};  // 0: usage never fades
    bool favor_small{false};
    bool small_relative_to_time{false};
    bool fair_tree{true};
    double dampening{1};  // classic only
};

// A column of the answers.
struct Factor {
    std::string name;
    double weight{};
};

// One job's answer, and its factors in the order of Scorer::factors().
struct Answer {
    spur_priority priority{};
    std::vector<double> raw, weighted;
};

class Scorer {
public:
    explicit Scorer(Settings settings);
    const std::vector<Factor>& factors() const { return factors_; }

    // Begins a round over `view`; the tree is worked out again only if it changed since the last one.
    void set_view(const spur_cluster_view& view);
    const Answer& score(const spur_priority_query& query);  // of the view last looked at; until the next call
    const std::vector<Share>& shares() const { return shares_; }

    double decay(std::int64_t from, std::int64_t to) const;
    const Settings& settings() const { return settings_; }

private:
    struct Totals {  // of the cluster, or of a partition
        double nodes{}, cpus{}, memory_mib{};
        std::vector<double> gres;  // by number in gres_names
        bool known{false};
    };
    double size_factor(const spur_job_view& job) const;
    double association_factor(const spur_job_view& job) const;
    void add_tres_factors(const spur_job_view& job, std::uint32_t partition);
    const Totals& totals_of(std::uint32_t partition);

    Settings settings_;
    std::vector<Factor> factors_;
    Answer answer_;
    const spur_cluster_view* view_{};
    std::vector<Line> lines_;  // what shares_ was worked out from
    std::vector<Share> shares_;
    Totals cluster_;
    std::vector<Totals> partitions_;
    double highest_qos_{}, highest_job_factor_{}, highest_association_{};
};

}  // namespace spur::fairshare
