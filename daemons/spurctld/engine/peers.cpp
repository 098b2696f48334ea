// Asking the other controllers in turn, and raising the state's version.
#include "daemons/spurctld/engine/peers.hpp"

#include <algorithm>
#include <cstdlib>

#include "daemons/common/log/log.hpp"
#include "daemons/common/wire/members.hpp"
#include "spur/v1/peer.pb.h"

namespace spur::ctld {

namespace {

constexpr std::chrono::seconds between_rounds{30};
constexpr std::chrono::milliseconds patience{500};
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
            if (facts.error().code == ErrorCode::denied && distrusted_.insert(member.address).second)
                log_(distrust(member.address, facts.error()));
            continue;
        }
        distrusted_.erase(member.address);
        understood = std::min(understood, facts->state_version);
        check_clock(member.address, *facts);
    }
    engine_.post([this, understood] {
        if (engine_.leadership().is_leader && engine_.cluster().state_version() < understood)
            engine_.propose(SetStateVersion{understood},
                            [understood](const Result<Events>& raised) { say_version(raised, understood); });
    });
}

// [its thread] So rarely that a channel for each question will do.
Peers::Ask Peers::by_wire(wire::ChannelOptions options) {
    return [options = std::move(options)](const std::string& address) -> Result<PeerFacts> {
        auto there = options;
        there.endpoints.resize(1);
        SPUR_TRY(there.endpoints.front(), wire::resolve({wire::controller_name, address}));
        wire::Channel channel{std::move(there)};
        const auto reply = wire::call<v1::AboutReply>(
            channel, "/spur.v1.Peer/About", v1::AboutRequest{},
            {.timeout = patience, .unreachable_timeout = patience, .idempotent = true, .metadata = {}});
        if (reply) return PeerFacts{reply->state_version(), reply->now()};
        const bool is_distrust = reply.error().status == wire::Status::unauthenticated;
        return fail(is_distrust ? ErrorCode::denied : ErrorCode::unavailable, "{}", reply.error().text);
    };
}

std::string Peers::distrust(const std::string& address, const Error& error) {
    return fmt::format(
        "controller {} has another auth key than this one, or another clock ({}): whoever asks it is refused; copy one "
        "and the same key to all controllers, and restart those where it changed",
        address, error.text);
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
