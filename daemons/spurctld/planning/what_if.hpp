// What would become of a request: the policy plugins' own answer, from a plan nobody carries out. It is made on a
// frozen copy of the cluster by plugin instances of its own, so neither the engine nor the scheduler waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "daemons/common/planning/cycle.hpp"
#include "daemons/spurctld/engine/background.hpp"

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
    using OpenPlugins = std::function<Result<planning::PolicyPlugins>()>;  // called once, when first asked
    using Clock = std::chrono::steady_clock;
    // `limit`: how long the plugins have for one question, waiting for others included.
    explicit WhatIf(OpenPlugins open, std::chrono::milliseconds limit = std::chrono::seconds{10});
    ~WhatIf() { stop(); }

    // Runs `question` on the thread where forecast() may be called, after those that were asked before it. If it has
    // not ended within the limit (a plugin that hangs never does), `late` runs elsewhere with the reason, and the
    // question may still end after it.
    void ask(std::function<void()> question, std::function<void(const std::string& why)> late);
    void stop();

    // If `job` stood in the queue of `model` as it is, eligible, and all the other jobs as they are. [inside ask()]
    Result<Forecast> forecast(const planning::ReadModel& model, Job job, UnixSeconds now);

private:
    struct Asked {
        Clock::time_point until;
        std::function<void(const std::string&)> late;
        bool is_done{false};
        bool reaches_plugins{true};  // false: it came while they hung, and is answered without them
    };
    void watch(const std::stop_token& stop);

    OpenPlugins open_;
    const std::chrono::milliseconds limit_;
    std::unique_ptr<planning::PlanningCycle> planning_;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::shared_ptr<Asked>> asked_;  // not done when last looked at, the oldest first
    std::shared_ptr<Asked> overdue_;            // the plugins are inside of it
    BackgroundWorker worker_;
    std::jthread watcher_;
};

}  // namespace spur::ctld
