// Asking the other controllers in turn, and raising the state's version.
#include "daemons/spurctld/engine/peers.hpp"

#include <algorithm>
#include <cstdlib>

#include "daemons/common/log/log.hpp"

namespace spur::ctld {

namespace {

constexpr std::chrono::seconds between_rounds{30};
constexpr std::chrono::seconds soon{3};  // while not everyone has answered

void say_version(const Result<Events>& raised, std::uint32_t version) {
    if (raised) log::info("version {} of the state is in force: all controllers understand it", version);
}

}  // namespace

Peers::Peers(Engine& engine, Ask ask, Now wall_clock, Log log)
    : engine_{engine},
      ask_{std::move(ask)},
      wall_clock_{std::move(wall_clock)},
      log_{std::move(log)},
      thread_{[this](const std::stop_token& stop) { loop(stop); }} {}

void Peers::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

void Peers::on_leadership(const Cluster& cluster, const Leadership& now) {
    // One that is alone need not ask anybody, and what it proposes next may use all it knows.
    const auto members = engine_.log().members();
    if (now.is_leader && members && members->size() <= 1 && cluster.state_version() < newest_state_version)
        engine_.propose(SetStateVersion{newest_state_version},
                        [](const Result<Events>& raised) { say_version(raised, newest_state_version); });
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        news_ = true;
    }
    wake_.notify_all();
}

void Peers::loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock{mutex_};
            wake_.wait_for(lock, stop, all_answered_ ? between_rounds : soon, [&] { return news_; });
            news_ = false;
            if (!leads_) continue;
        }
        if (!stop.stop_requested()) look_round();
    }
}

void Peers::look_round() {
    const auto members = engine_.log().members();
    const auto self = engine_.log().status();
    if (!members || !self) return;
    auto understood = newest_state_version;
    all_answered_ = true;
    for (const auto& member : *members) {
        if (member.address == self->self) continue;
        const auto facts = ask_(member.address);
        if (!facts) {
            understood = first_state_version;  // it may be of any release
            all_answered_ = false;
            continue;
        }
        understood = std::min(understood, facts->state_version);
        check_clock(member.address, *facts);
    }
    engine_.post([this, understood] {
        if (engine_.leadership().is_leader && engine_.cluster().state_version() < understood)
            engine_.propose(SetStateVersion{understood},
                            [understood](const Result<Events>& raised) { say_version(raised, understood); });
    });
}

void Peers::check_clock(const std::string& address, const PeerFacts& facts) {
    const auto ahead = facts.now - wall_clock_();
    const bool is_off = std::abs(ahead) > most_skew_s;
    if (std::exchange(skewed_[address], is_off) == is_off) return;
    if (is_off)
        log_(fmt::format("the clock of controller {} is {} s {} the one here; set both by NTP", address,
                         std::abs(ahead), ahead > 0 ? "ahead of" : "behind"));
    else
        log_(fmt::format("the clock of controller {} agrees with the one here again", address));
}

}  // namespace spur::ctld
