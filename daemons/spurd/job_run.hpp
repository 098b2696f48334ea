// One job on this node, and its steps: what spurd knows about them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemons/spurd/step_link.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

using JobKey = std::pair<std::uint32_t, std::uint32_t>;  // job, attempt

// Whoever started a step and reads its output: srun, at the other end of a stream. Calls may come after it has gone.
class StepClient {
public:
    virtual ~StepClient() = default;
    virtual void started(const step::Started& started) = 0;
    virtual void output(const step::Chunk& chunk) = 0;
    virtual void input_taken(std::uint64_t bytes) = 0;
    virtual void task_exited(const step::TaskExit& task) = 0;
    virtual void resumed(std::uint64_t inputs) = 0;       // after an attach: so many frames of input have arrived
    virtual void aborted() = 0;                           // somebody is ending the step
    virtual void ended(std::uint32_t status) = 0;         // the last call, or
    virtual void failed(const std::string& error) = 0;    // this one
    [[nodiscard]] virtual bool is_congested() const = 0;  // hold the output back until it asks for more
};

struct StepRun {
    std::uint32_t step{};
    std::unique_ptr<StepLink> link;  // none once it has ended
    std::shared_ptr<StepClient> client;
    std::optional<std::string> spec;  // as sent, until the step daemon has said hello
    bool tried_again{false}, started{false}, ended{false};
    std::uint32_t status{};                               // once it has ended
    std::uint64_t started_report{0}, finished_report{0};  // not acknowledged yet; 0: none

    Loop::Clock::time_point heard{};                 // when it last said anything
    std::optional<Loop::Clock::time_point> over_by;  // it was told to end: what is silent after that is killed
    bool killed{false};                              // because it was
    step::Descriptor daemon;                         // its process, once it has said hello
    Loop::Clock::time_point swept_until{};           // its daemon has died: so long its processes are looked for
    Loop::TimerId watchdog{0};

    [[nodiscard]] bool is_reported() const { return ended && finished_report == 0; }
};

struct JobRun {
    enum class Phase : std::uint8_t {
        prolog,   // nothing may start yet
        running,  // steps come and go
        epilog,   // all steps are over
        done,     // nothing is left but reports
    };

    JobKey key;
    v1::JobLaunch launch;
    std::string directory;
    Phase phase{Phase::running};
    std::optional<v1::LaunchBatch> batch;               // until it is started
    std::vector<std::function<void(JobRun&)>> waiting;  // steps that came during the prolog
    std::map<std::uint32_t, StepRun> steps;
    std::set<std::uint32_t> seen_steps;  // a credential starts its step once
    std::optional<v1::EndJob> ending;
    bool prolog_failed{false};
    bool epilog_done{false};
    std::string epilog_error;                         // what went wrong with it
    std::optional<v1::StepReport> batch_end;          // as it was reported
    bool unknown_to_controller{false};                // end it and tell nobody
    std::uint64_t done_report{0}, failure_report{0};  // not acknowledged yet; 0: none

    [[nodiscard]] bool has_live_steps() const {
        for (const auto& [id, step] : steps)
            if (!step.ended) return true;
        return false;
    }
    [[nodiscard]] bool is_reported() const {
        for (const auto& [id, step] : steps)
            if (!step.is_reported()) return false;
        return phase == Phase::done && done_report == 0 && failure_report == 0;
    }
};

}  // namespace spur::agent
