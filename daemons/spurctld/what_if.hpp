// What would become of a request: the policy plugins' own answer, from a plan nobody carries out. It is made on a
// frozen copy of the cluster by plugin instances of its own, so neither the engine nor the scheduler waits for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "daemons/common/planning/cycle.hpp"
#include "daemons/spurctld/background.hpp"

namespace spur::ctld {

struct Forecast {
    bool starts_now{false};
    UnixSeconds start{};  // 0: the planner could not say
    std::string nodes;    // expected, a hostlist; may be empty
    std::string partition;
    std::uint32_t cpus{};
    Reason reason{Reason::none};  // why not now
    std::string text;             // the sentence behind it
};

class WhatIf {
public:
    using OpenPlugins = std::function<Result<PolicyPlugins>()>;  // called once, when first asked
    explicit WhatIf(OpenPlugins open) : open_{std::move(open)} {}

    // Runs `question` on the thread where forecast() may be called, after those that were asked before it.
    void ask(std::function<void()> question) { worker_.post(std::move(question)); }
    void stop() { worker_.stop(); }

    // If `job` stood in the queue of `model` as it is, eligible, and all the other jobs as they are. [inside ask()]
    Result<Forecast> forecast(const ReadModel& model, Job job, UnixSeconds now);

private:
    OpenPlugins open_;
    std::unique_ptr<PlanningCycle> planning_;
    BackgroundWorker worker_;
};

}  // namespace spur::ctld
