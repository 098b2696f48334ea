// Finding the leader, connecting, retrying with pauses, and noticing silence.
#include "daemons/spurd/controller_link.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <random>
#include <utility>

#include "daemons/common/log/log.hpp"

namespace spur::agent {

namespace {

using namespace std::chrono_literals;

// The longest pause is how late a node may come back once a controller leads again.
constexpr auto first_pause = 100ms, longest_pause = 4'000ms;
constexpr auto open_patience = 5s;
// A controller that hangs is noticed well before its successor stops waiting for this node.
constexpr auto ping_after = 1s, longest_silence = 4s;
constexpr unsigned most_hops = 3;  // two controllers that point at each other are not followed for ever

std::uint32_t epoll_events(short events) {
    return (events & POLLIN ? EPOLLIN : 0U) | (events & POLLOUT ? EPOLLOUT : 0U);
}

// Doubles with each failure, and differs from node to node: ten thousand agents must not come back in step.
std::chrono::milliseconds pause_after(unsigned failures) {
    static std::minstd_rand dice{std::random_device{}()};
    const auto longest = std::min(first_pause * (1U << std::min(failures, 10U)), longest_pause);
    return std::chrono::milliseconds{std::uniform_int_distribution<long>{longest.count() / 2, longest.count()}(dice)};
}

bool names_leader(const wire::RpcError* error) {
    const auto* const leader = error == nullptr ? nullptr : error->trailers.find(wire::leader_key);
    return leader != nullptr && !leader->empty();
}

}  // namespace

ControllerLink::ControllerLink(Loop& loop, wire::ChannelOptions options, Events events)
    : loop_{loop},
      events_{std::move(events)},
      has_alternative_{options.endpoints.size() > 1},
      channel_{std::move(options)},
      alive_{std::make_shared<bool>(true)} {}

ControllerLink::~ControllerLink() {
    *alive_ = false;
    loop_.cancel(retry_);
    loop_.cancel(silence_);
    if (watched_ >= 0) loop_.forget(watched_);
    if (connecting_.joinable()) connecting_.join();
}

void ControllerLink::start() { connect(); }

// Opening may take seconds (names, addresses that do not answer), so it happens beside the loop.
void ControllerLink::connect() {
    if (connecting_.joinable()) connecting_.join();
    connecting_ = std::jthread{[this, alive = alive_] {
        auto opened = std::make_shared<wire::RpcResult<wire::Stream>>(
            channel_.open("/spur.v1.Controller/AgentSession", {.timeout = open_patience}));
        loop_.post([this, alive, opened] {
            if (*alive) connected(std::move(*opened));
        });
    }};
}

void ControllerLink::connected(wire::RpcResult<wire::Stream> stream) {
    if (!stream) return retry(stream.error().text);
    stream_ = std::move(*stream);
    events_.on_open();
    if (has_alternative_) silence_ = loop_.after(ping_after, [this] { watch_silence(); });
    pump();
}

void ControllerLink::watch_silence() {
    pump();  // what has arrived counts, however late this timer is
    if (!stream_) return;
    const auto silent = stream_->silent_for();
    if (silent >= longest_silence) {
        stream_->give_up("it has said nothing for some time; does it hang?");
        return pump();
    }
    if (silent >= ping_after) stream_->ping();
    silence_ = loop_.after(ping_after, [this] { watch_silence(); });
}

void ControllerLink::send(const v1::AgentMessage& message) {
    if (!stream_) return;
    static_cast<void>(stream_->write(message.SerializeAsString()));  // that it has ended shows in pump()
    watch();
    // Writing reads as well: what came in must be looked at even if the socket stays silent from now on.
    if (std::exchange(look_pending_, true)) return;
    loop_.post([this, alive = alive_] {
        if (*alive) pump();
    });
}

// Keeps the loop's idea of what to wait for in step with the stream's.
void ControllerLink::watch() {
    const int fd = stream_ ? stream_->fd() : -1;
    const short events = stream_ ? stream_->events() : short{0};
    if (fd == watched_ && events == events_wanted_) return;
    if (fd != watched_ && watched_ >= 0) loop_.forget(watched_);
    if (fd >= 0 && fd == watched_) loop_.change(fd, epoll_events(events));
    if (fd >= 0 && fd != watched_) loop_.watch(fd, epoll_events(events), [this](std::uint32_t) { pump(); });
    watched_ = fd;
    events_wanted_ = events;
}

void ControllerLink::pump() {
    look_pending_ = false;
    if (!stream_) return;
    stream_->pump();
    watch();  // first of all: a descriptor that was closed must be forgotten before its number is used again
    while (stream_) {
        const auto bytes = stream_->next();
        if (!bytes) break;
        v1::ControllerMessage message;
        if (message.ParseFromString(*bytes))
            events_.on_message(message);
        else
            log::warning("the controller sent bytes that are not a ControllerMessage; is it another version?");
    }
    if (stream_ && stream_->ended()) {
        const auto* const error = stream_->error();
        return close(error != nullptr ? error->text : "the controller ended the session", names_leader(error));
    }
    watch();
}

void ControllerLink::close(const std::string& why, bool is_sent_on) {
    if (!stream_) return;
    if (watched_ >= 0) loop_.forget(watched_);
    watched_ = -1;
    loop_.cancel(silence_);
    stream_.reset();
    events_.on_closed(why);
    // Whoever is told where the leader is goes there at once.
    if (is_sent_on && hops_++ < most_hops) {
        retry_ = loop_.after(pause_after(0), [this] { connect(); });
        return;
    }
    retry(why);
}

void ControllerLink::retry(const std::string& why) {
    hops_ = 0;
    const auto pause = pause_after(failures_++);
    if (failures_ == 1 || failures_ % 30 == 0) log::warning("no session with the controller: {}; trying again", why);
    retry_ = loop_.after(pause, [this] { connect(); });
}

}  // namespace spur::agent
