// One scheduling cycle: the picture, its slots, and the answers.
#pragma once

#include <spur/plugin/select.h>

#include <string>
#include <vector>

#include "search.hpp"

namespace spur::select_gpu {

struct Options {
    bool first_fit{};
    NeedRules rules;
};

class Cycle {
public:
    explicit Cycle(const Options& options);
    Cycle(const Cycle&) = delete;  // its parts refer to each other
    Cycle& operator=(const Cycle&) = delete;

    // Reuses the memory of earlier cycles.
    void begin(const spur_cluster_view& view);
    std::uint32_t slots() const { return Slots::offered; }
    bool copy(std::uint32_t from, std::uint32_t to);
    void take(std::uint32_t slot, spur_span shares, std::uint32_t job_flags);
    void give(std::uint32_t slot, spur_span shares, std::uint32_t job_flags);
    spur_status pick(const spur_pick& pick, spur_placement* out);
    void screen(std::uint32_t slot, const std::uint32_t* jobs, std::uint32_t count, spur_status* verdicts);
    void idle_nodes(std::uint32_t slot, std::uint64_t* words) const;
    std::string explain(const spur_pick& pick);

private:
    const spur_job_view& job(std::uint32_t slot) const {
        return *SPUR_AT(spur_job_view, picture_.view().pending, slot);
    }
    bool fits_empty(const spur_job_view& job, std::uint32_t partition, const Need& need);

    // What an empty cluster says is the same for all jobs of a class.
    struct Remembered {
        std::uint64_t klass{}, cycle{};
        std::uint32_t partition{};
        bool fits{};
    };

    Options options_;
    DeviceChooser chooser_;
    Picture picture_;
    Slots slots_;
    Fitter fitter_{picture_, slots_, chooser_};
    Search search_{picture_, slots_, fitter_};
    std::uint64_t number_{};
    std::vector<Remembered> remembered_;
};

// The answer: who gets what on each chosen node. SPUR_NO_ROOM where the caller's memory is too small.
class PlacementWriter {
public:
    PlacementWriter(const Picture& picture, const Slots& slots, const Fitter& fitter, spur_placement& out);
    spur_status write(const Question& question, std::vector<Chosen>& chosen);

private:
    void deal_tasks(const Question& question, std::vector<Chosen>& chosen);
    void deal_pooled(const Question& question, std::vector<Chosen>& chosen);
    void write_share(const Question& question, const Chosen& one);
    void write_gres(const Question& question, const Chosen& one, const Amounts& amounts, const Devices& devices,
                    spur_node_share& share);
    void write_rest(const Question& question, const Chosen& one, const Devices& devices);
    void write_devices(std::uint32_t name, const Gres& gres, std::uint64_t set);
    std::uint64_t* claim_words(std::uint32_t count);
    void push_gres(std::uint32_t name, std::uint32_t type, std::uint64_t amount, std::uint64_t set,
                   std::uint32_t devices);

    const Picture& picture_;
    const Slots& slots_;
    const Fitter& fitter_;
    spur_placement& out_;
    std::uint32_t shares_{}, gres_{}, words_{};  // wanted so far
};

}  // namespace spur::select_gpu
