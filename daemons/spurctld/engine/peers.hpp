// What the leader asks the other controllers now and then: which version of the state they understand, and what their
// clocks say. Once all understand a later version it is put in force (core/store/state_version.hpp); a clock that is
// far from the leader's is named in the log, and so is a controller that has another auth key.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "daemons/common/wire/client.hpp"
#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

struct PeerFacts {
    std::uint32_t state_version{};  // the newest it understands
    UnixSeconds now{};              // by its wall clock
};

class Peers final : public EngineObserver {
public:
    using Ask = std::function<Result<PeerFacts>(const std::string& address)>;
    // Asks over the network. An error is `denied` where one of the two does not believe the other's credentials.
    static Ask by_wire(wire::ChannelOptions options);
    static std::string distrust(const std::string& address, const Error& error);  // a sentence with the remedy
    using Now = std::function<UnixSeconds()>;
    using Log = std::function<void(std::string)>;
    static constexpr UnixSeconds most_skew_s = 5;

    Peers(Engine& engine, Ask ask, Now wall_clock, Log log);
    ~Peers() override { stop(); }
    void stop();

    void on_applied(const Cluster&, const Events&, const planning::Changes&,
                    const std::shared_ptr<const planning::ReadModel>&, bool) override {}
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    void loop(const std::stop_token& stop);
    void look_round();
    void check_clock(const std::string& address, const PeerFacts& facts);

    Engine& engine_;
    Ask ask_;
    Now wall_clock_;
    Log log_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool leads_{false};
    bool news_{false};
    // its thread's
    std::map<std::string, bool> skewed_;
    std::set<std::string> distrusted_;
    bool all_answered_{true};
    std::jthread thread_;
};

}  // namespace spur::ctld
