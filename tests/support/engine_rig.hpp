// An engine on a log that the test plays, with a clock that the test moves.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemons/spurctld/engine/engine.hpp"
#include "tests/support/cluster_builder.hpp"
#include "tests/support/fake_log.hpp"

namespace spur::testing {

class EngineRig {
public:
    // `prepare` says what the log holds before the start; without it, it is empty and leads.
    explicit EngineRig(const std::function<void(FakeLog&)>& prepare = {});
    ~EngineRig();

    void start();                             // after the observers are known
    Result<Events> propose(Command command);  // and waits for what becomes of it
    // All that was posted has been done, and what it proposed has been applied: it takes a round to the log and one
    // back.
    void settle();
    // Runs `look` on the engine thread, where cluster() may be looked at, and waits.
    void look(const std::function<void(const Cluster&)>& look);
    std::string snapshot();  // of the engine's cluster

    std::vector<std::string> warnings() const;
    bool has_warning(std::string_view part) const;
    std::string fatal() const;  // why it cannot go on; empty: it can

    FakeLog* log;  // the engine's
    std::atomic<UnixSeconds> now{ClusterBuilder::start};
    std::unique_ptr<ctld::Engine> engine;

private:
    mutable std::mutex mutex_;
    std::vector<std::string> warnings_;
    std::string fatal_;
};

}  // namespace spur::testing
