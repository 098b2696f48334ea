// Drawing users, arrivals, sizes and run times from the model's distributions.
#include "cli/sim/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace spur::cli::sim {
namespace {

// xoshiro256** by Blackman and Vigna, public domain: the standard library's distributions differ between libraries, so
// the dice and what is made of them are our own.
class Dice {
public:
    explicit Dice(std::uint64_t seed) {
        for (auto& word : state_) {  // splitmix64
            seed += 0x9e3779b97f4a7c15ULL;
            auto z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
            word = z ^ (z >> 31);
        }
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
    bool chance(double share) { return uniform() < share; }
    double normal() {
        const auto radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    double lognormal(double median, double sigma) { return median * std::exp(sigma * normal()); }
    double exponential(double mean) { return -mean * std::log(1 - uniform()); }
    // A place in a list of running sums.
    std::size_t pick(const std::vector<double>& sums) {
        const auto at = std::ranges::upper_bound(sums, uniform() * sums.back());
        return std::min(static_cast<std::size_t>(at - sums.begin()), sums.size() - 1);
    }

private:
    static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
    std::uint64_t next() {
        const auto result = rotate(state_[1] * 5, 7) * 9;
        const auto shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    std::array<std::uint64_t, 4> state_{};
};

// Submissions per hour against the mean: few at night, most before and after lunch.
constexpr std::array<double, 24> hourly{0.45, 0.40, 0.35, 0.35, 0.35, 0.40, 0.50, 0.70, 1.10, 1.55, 1.80, 1.75,
                                        1.50, 1.55, 1.75, 1.75, 1.65, 1.45, 1.15, 0.95, 0.80, 0.70, 0.60, 0.50};
constexpr double default_gpu_share = 0.6;
constexpr double zipf_exponent = 1.1;
constexpr double serial_share = 0.24, power_share = 0.75, small_share = 0.86;
constexpr double small_spread = 0.7;  // where of log2(size) most jobs end
constexpr double repeat_share = 0.5;  // a user submits what they submitted before
constexpr double short_median_s = 180, short_sigma = 1.6, long_median_s = 7200, long_sigma = 1.0;
constexpr double over_limit_share = 0.03;  // runs that their limit cuts short
constexpr double overestimate = 3.0;       // mean of limit / run, less 1
constexpr double longest_run_s = 2 * 86'400.0;
constexpr std::array<std::int64_t, 13> round_limits{300,   600,   900,   1800,   3600,   7200,  14400,
                                                    28800, 43200, 86400, 172800, 345600, 604800};

std::vector<double> running_sums(std::vector<double> weights) {
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    return weights;
}

struct Draft {
    std::int64_t submit{};
    std::uint32_t user{}, cpus{1}, gpus{};
    double run{};
};

class Maker {
public:
    explicit Maker(const SynthOptions& options) : options_{options}, dice_{options.seed} {
        max_cpus_ = options.max_cpus != 0 ? options.max_cpus : std::max(options.cpus / 2, 1U);
        std::vector<double> users;
        for (std::uint32_t i = 1; i <= std::max(options.users, 1U); ++i) users.push_back(std::pow(i, -zipf_exponent));
        users_ = running_sums(std::move(users));
    }

    Trace make() {
        auto drafts = arrivals();
        std::vector<Draft> last(users_.size());
        for (auto& draft : drafts) {
            draft.user = static_cast<std::uint32_t>(dice_.pick(users_));
            auto& before = last[draft.user];
            if (before.run > 0 && dice_.chance(repeat_share)) {
                draft.cpus = before.cpus;
                draft.gpus = before.gpus;
                draft.run = before.run * dice_.lognormal(1, 0.25);
            } else {
                size(draft);
                draft.run = run_time(draft.cpus);
            }
            before = draft;
        }
        fit_load(drafts);
        Trace trace;
        trace.source = fmt::format("synthetic, seed {}", options_.seed);
        trace.begins = default_beginning;
        for (std::uint32_t i = 0; i < drafts.size(); ++i) trace.jobs.push_back(job(drafts[i], i + 1));
        return trace;
    }

private:
    std::vector<Draft> arrivals() {
        std::vector<double> weights;
        for (std::int64_t at = 0; at < options_.duration_s; at += 3600)
            weights.push_back(hourly[static_cast<std::size_t>(at / 3600 % 24)] *
                              static_cast<double>(std::min<std::int64_t>(3600, options_.duration_s - at)));
        const auto hours = running_sums(std::move(weights));
        std::vector<Draft> drafts(options_.jobs);
        for (auto& draft : drafts) {
            const auto hour = static_cast<std::int64_t>(dice_.pick(hours));
            const auto length = std::min<std::int64_t>(3600, options_.duration_s - hour * 3600);
            draft.submit = hour * 3600 + static_cast<std::int64_t>(dice_.uniform() * static_cast<double>(length));
        }
        std::ranges::stable_sort(drafts, {}, &Draft::submit);
        return drafts;
    }

    void size(Draft& draft) {
        if (options_.gpus_per_node != 0 && dice_.chance(options_.gpu_share.value_or(default_gpu_share)))
            return gpu_size(draft);
        if (dice_.chance(serial_share) || max_cpus_ == 1) return;
        const auto widest = std::log2(max_cpus_);
        const auto middle = widest * small_spread;
        const auto exponent = dice_.chance(small_share) ? 0.5 + dice_.uniform() * (middle - 0.5)
                                                        : middle + dice_.uniform() * (widest - middle);
        const auto wanted =
            dice_.chance(power_share) ? std::exp2(std::round(exponent)) : std::round(std::exp2(exponent));
        draft.cpus = static_cast<std::uint32_t>(std::clamp(wanted, 1.0, static_cast<double>(max_cpus_)));
    }

    // One GPU, a few of one node, all of a node, seldom several nodes; each with its share of the node's cores.
    void gpu_size(Draft& draft) {
        static const auto sizes = running_sums({0.42, 0.20, 0.18, 0.14, 0.04, 0.02});  // 1 2 4 8 16 32
        const auto most = options_.gpus_per_node;
        const auto wanted = 1U << dice_.pick(sizes);
        const auto nodes = std::max(options_.cpus / options_.cpus_per_node, 1U);
        draft.gpus = std::min(wanted, most * std::max(nodes / 4, 1U));
        if (draft.gpus > most) draft.gpus -= draft.gpus % most;
        draft.cpus = draft.gpus * std::max(options_.cpus_per_node / most, 1U);
    }

    double run_time(std::uint32_t cpus) {
        const auto long_share = std::min(0.25 + 0.04 * std::log2(cpus), 0.6);
        return dice_.chance(long_share) ? dice_.lognormal(long_median_s, long_sigma)
                                        : dice_.lognormal(short_median_s, short_sigma);
    }

    // Longer or shorter runs, until what is asked for is the wanted part of what the cluster has.
    void fit_load(std::vector<Draft>& drafts) const {
        const auto nodes = static_cast<double>(options_.cpus) / std::max(options_.cpus_per_node, 1U);
        const auto seconds = static_cast<double>(options_.duration_s);
        const auto cpu_room = seconds * options_.cpus;
        const auto gpu_room = seconds * nodes * options_.gpus_per_node;
        for (int round = 0; round < 30; ++round) {
            double cpu = 0, gpu = 0;
            for (const auto& draft : drafts) {
                cpu += draft.run * draft.cpus;
                gpu += draft.run * draft.gpus;
            }
            const auto load = std::max(cpu / cpu_room, gpu_room > 0 ? gpu / gpu_room : 0);
            if (load <= 0) return;
            for (auto& draft : drafts) draft.run = std::clamp(draft.run * options_.load / load, 1.0, longest_run_s);
        }
    }

    std::int64_t limit(double run_s) {
        auto wanted = run_s * (1 + dice_.exponential(overestimate));
        if (dice_.chance(over_limit_share)) wanted = run_s * (0.5 + dice_.uniform() * 0.45);
        const auto up = std::ranges::lower_bound(round_limits, static_cast<std::int64_t>(wanted));
        if (wanted >= run_s) return up == round_limits.end() ? round_limits.back() : *up;
        return std::max<std::int64_t>(static_cast<std::int64_t>(wanted) / 60 * 60, 60);
    }

    TraceJob job(const Draft& draft, std::uint32_t number) {
        TraceJob out;
        out.id = fmt::format("{}", number);
        out.submit_s = draft.submit;
        out.run_s = std::max<std::int64_t>(std::llround(draft.run), 1);
        out.limit_s = limit(draft.run);
        out.user = fmt::format("u{:02}", draft.user + 1);
        out.account = fmt::format("a{}", draft.user % std::max(options_.accounts, 1U) + 1);
        if (draft.gpus == 0) {
            out.tasks = draft.cpus;
            return out;
        }
        const auto per_node = std::min(draft.gpus, options_.gpus_per_node);
        out.min_nodes = draft.gpus / per_node;
        out.tasks = draft.gpus;
        out.cpus_per_task = draft.cpus / draft.gpus;
        out.gres = fmt::format("gpu:{}", per_node);
        return out;
    }

    const SynthOptions& options_;
    Dice dice_;
    std::uint32_t max_cpus_{};
    std::vector<double> users_;
};

}  // namespace

Trace synthesize(const SynthOptions& options) { return Maker{options}.make(); }

}  // namespace spur::cli::sim
