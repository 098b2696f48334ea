// The server's I/O loop.
#include "daemons/common/wire/io_thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace spur::wire {
namespace {

constexpr std::string_view fatal_tls_alert{"\x15\x03\x01\x00\x02\x02\x46", 7};  // protocol version

using namespace std::chrono_literals;

constexpr std::uint64_t listener_id = 0, inbox_id = 1;  // connections start at 2
constexpr auto linger_time = 1s;
constexpr std::size_t read_size = 64 * 1024;
constexpr std::size_t socket_backlog = 256 * 1024;  // bytes we make for a socket before it takes them
constexpr std::size_t fair_share = 2u << 20;        // bytes one socket takes before the others have their turn

// Often enough for the shortest of the time limits, and at most once a second.
ServerClock::duration tick_interval(const ServerOptions& limits) {
    const auto shortest = std::min({limits.request_timeout, limits.stall_timeout, limits.keepalive_interval,
                                    limits.keepalive_timeout, limits.idle_timeout});
    return std::clamp<ServerClock::duration>(shortest / 4, 10ms, 1s);
}

bool control(int epoll, int operation, int fd, std::uint64_t id, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    return epoll_ctl(epoll, operation, fd, &event) == 0;
}

std::string host_of(const SocketConnection& connection) {
    const auto& address = connection.peer->address;
    return address.substr(0, address.rfind(':'));
}

}  // namespace

Result<std::unique_ptr<IoThread>> IoThread::make(Service& service, std::shared_ptr<TlsContext> tls) {
    Fd epoll{epoll_create1(EPOLL_CLOEXEC)};
    if (!epoll) return fail(ErrorCode::internal, "epoll: {}", std::strerror(errno));
    SPUR_TRY(auto inbox, Inbox::make());
    if (!control(epoll.get(), EPOLL_CTL_ADD, inbox->event_fd(), inbox_id, EPOLLIN))
        return fail(ErrorCode::internal, "epoll: {}", std::strerror(errno));
    return std::make_unique<IoThread>(service, std::move(tls), std::move(epoll), std::move(inbox));
}

IoThread::IoThread(Service& service, std::shared_ptr<TlsContext> tls, Fd epoll, std::shared_ptr<Inbox> inbox)
    : service_(service),
      tls_(std::move(tls)),
      epoll_(std::move(epoll)),
      inbox_(std::move(inbox)),
      tick_interval_(tick_interval(service.options)),
      now_(ServerClock::now()),
      last_tick_(now_) {}

IoThread::~IoThread() {
    drain(ServerClock::now());
    join();
}

Result<void> IoThread::accept_on(Fd listener, std::function<IoThread&()> choose) {
    listener_ = std::move(listener);
    choose_ = std::move(choose);
    if (!control(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), listener_id, EPOLLIN))
        return fail(ErrorCode::internal, "epoll: {}", std::strerror(errno));
    accepting_ = true;
    return {};
}

void IoThread::start() {
    thread_ = std::thread{[this] { run(); }};
}

void IoThread::join() {
    if (thread_.joinable()) thread_.join();
}

void IoThread::adopt(Fd fd, std::string peer_address) {
    {
        const std::lock_guard lock{arrivals_mutex_};
        arrivals_.push_back({std::move(fd), std::move(peer_address)});
    }
    if (!inbox_->is_on_own_thread()) inbox_->wake();
}

void IoThread::drain(ServerClock::time_point deadline) {
    if (!drain_requested_ || deadline < drain_deadline_.load()) drain_deadline_ = deadline;
    drain_requested_ = true;
    inbox_->wake();
}

void IoThread::run() {
    inbox_->belong_to_this_thread();
    pthread_setname_np(pthread_self(), "spur-io");
    sigset_t all;  // signals are the main thread's business
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!draining_ || (!connections_.empty() && now_ < drain_deadline_.load())) {
        const bool timed = !connections_.empty() || (listener_ && !accepting_);
        handle_events(has_orders_ ? 0 : draining_ ? 20 : timed ? static_cast<int>(tick_interval_ / 1ms) : -1);
        take_arrivals();
        if (drain_requested_ && !draining_) begin_draining();
        if (now_ - last_tick_ >= tick_interval_) tick();
        serve_orders();
        if (draining_) drop_lingering(linger_time / 10);
    }
    while (!connections_.empty()) drop(connections_.begin()->first, {});
    inbox_->close();
}

void IoThread::handle_events(int timeout_ms) {
    std::array<epoll_event, 256> events;
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), timeout_ms);
    now_ = ServerClock::now();
    for (int i = 0; i < count; ++i) {
        const std::uint64_t id = events[i].data.u64;
        if (id == listener_id) {
            accept_waiting();
        } else if (id == inbox_id) {
            inbox_->clear_event();
        } else if (const auto found = connections_.find(id); found != connections_.end()) {
            auto& connection = *found->second;
            if ((events[i].events & ~std::uint32_t{EPOLLOUT}) != 0) readable(connection);
            if (connection.is_stranger && connection.http->is_known()) unseat_stranger(id, connection);
            mark(id, connection);
        }
    }
}

void IoThread::accept_waiting() {
    for (int burst = 0; burst < 64; ++burst) {
        std::string address;
        auto fd = accept_from(listener_.get(), address);
        if (!fd && fd.error().code == ErrorCode::limit) {  // the next tick tries again
            service_.warn(
                fmt::format("no new connections for a moment: {}; raise the limit of open files", fd.error().text));
            control(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), listener_id, 0);
            accepting_ = false;
        }
        if (!fd) return;
        if (service_.connections >= service_.options.max_connections) {
            service_.warn(fmt::format("connection from {} refused: {} are open, the limit", address,
                                      service_.connections.load()));
            continue;
        }
        ++service_.connections;
        choose_().adopt(*std::move(fd), std::move(address));
    }
}

void IoThread::take_arrivals() {
    std::vector<Arrival> arrivals;
    {
        const std::lock_guard lock{arrivals_mutex_};
        arrivals.swap(arrivals_);
    }
    for (auto& arrival : arrivals) add_connection(std::move(arrival));
}

void IoThread::add_connection(Arrival arrival) {
    auto connection = std::make_unique<SocketConnection>();
    const std::uint64_t id = next_id_++;
    connection->peer = std::make_shared<Peer>(Peer{std::move(arrival.address), {}});
    connection->accepted = connection->last_progress = now_;
    connection->fd = std::move(arrival.fd);
    if (tls_ != nullptr) {
        auto engine = TlsEngine::make(tls_);
        if (!engine) {
            service_.warn(engine.error().text);
            --service_.connections;
            return;
        }
        connection->tls.emplace(*std::move(engine));
    }
    connection->http = std::make_unique<ServerConnection>(service_, inbox_, id, connection->peer, now_);
    if (!control(epoll_.get(), EPOLL_CTL_ADD, connection->fd.get(), id, EPOLLIN)) {
        service_.warn(
            fmt::format("connection from {} dropped: epoll: {}", connection->peer->address, std::strerror(errno)));
        --service_.connections;
        return;
    }
    auto& placed = *connections_.emplace(id, std::move(connection)).first->second;
    if (!placed.http->is_known()) seat_stranger(id, placed);
    if (!connections_.contains(id)) return;
    readable(placed);  // the first request often comes with the connection
    if (placed.http->is_known()) unseat_stranger(id, placed);
    mark(id, placed);
}

// A host that opens many connections without a credential loses its oldest one, and keeps nobody else out.
void IoThread::seat_stranger(std::uint64_t id, SocketConnection& connection) {
    const auto& limits = service_.options;
    auto& same_host = strangers_[host_of(connection)];
    same_host.push_back(id);
    ++stranger_count_;
    connection.is_stranger = true;
    if (same_host.size() > limits.max_strangers_per_host)
        return drop(same_host.front(), "it showed no credential, and its host has opened too many like it");
    if (stranger_count_ <= limits.max_strangers) return;
    const auto most = std::ranges::max_element(strangers_, {}, [](const auto& host) { return host.second.size(); });
    drop(most->second.front(), "it showed no credential, and too many like it are open");
}

void IoThread::unseat_stranger(std::uint64_t id, SocketConnection& connection) {
    if (!std::exchange(connection.is_stranger, false)) return;
    const auto same_host = strangers_.find(host_of(connection));
    std::erase(same_host->second, id);
    --stranger_count_;
    if (same_host->second.empty()) strangers_.erase(same_host);
}

// False: the TLS session cannot go on.
bool IoThread::decrypt(SocketConnection& connection, std::string_view bytes) {
    plain_.clear();
    const bool was_established = connection.tls->established();
    const auto opened = connection.tls->receive(bytes, plain_, connection.out);
    if (!was_established && connection.tls->established()) {
        connection.peer->certificate = connection.tls->peer_name();
        connection.peer->names = connection.tls->peer_names();
    }
    if (!opened && !connection.tls->established()) {
        service_.warn(fmt::format("connection from {} refused: {}", connection.peer->address, opened.error().text));
        // OpenSSL says nothing to a client that does not speak TLS at all; one of ours would ask again and again.
        if (connection.out.empty()) connection.out = fatal_tls_alert;
    }
    const bool spoken = plain_.empty() || connection.http->receive(plain_, now_);
    return opened && spoken;
}

void IoThread::readable(SocketConnection& connection) {
    char buffer[read_size];
    for (int round = 0; round < 16; ++round) {
        std::size_t count = 0;
        std::string why;
        const auto moved = receive_bytes(connection.fd.get(), buffer, sizeof buffer, count, why);
        if (moved == Moved::none_now) return;
        if (moved == Moved::closed) {
            connection.fd = Fd{};
            return;
        }
        if (connection.lingering) continue;
        const std::string_view bytes{buffer, count};
        if (!(connection.tls ? decrypt(connection, bytes) : connection.http->receive(bytes, now_))) linger(connection);
        if (count < sizeof buffer) return;
    }
}

// All is said, or nothing sensible can be said any more: send what is queued and wait a moment for the peer to close
// first, so that bytes we have not read do not reset the connection before our last ones arrive.
void IoThread::linger(SocketConnection& connection) {
    if (connection.lingering) return;
    connection.lingering = true;
    connection.lingering_since = now_;
}

void IoThread::mark(std::uint64_t id, SocketConnection& connection) {
    if (connection.dirty) return;
    connection.dirty = true;
    dirty_.push_back(id);
}

// Orders and what they lead to. Flushing runs callbacks (a session drained, a stream closed) that may order more; after
// some rounds the sockets get their turn again, so that one busy session cannot starve the rest.
void IoThread::serve_orders() {
    has_orders_ = true;
    for (int round = 0; round < 8 && has_orders_; ++round) {
        execute_orders();
        for (const auto id : std::exchange(dirty_, {})) {
            const auto found = connections_.find(id);
            if (found == connections_.end()) continue;
            found->second->dirty = false;
            flush(id, *found->second);
        }
        has_orders_ = !dirty_.empty() || inbox_->has_orders();
    }
}

void IoThread::execute_orders() {
    inbox_->take(orders_);
    for (auto& order : orders_) {
        const auto found = connections_.find(order.connection);
        if (found == connections_.end()) continue;
        mark(order.connection, *found->second);
        found->second->http->execute(std::move(order));
    }
    orders_.clear();
}

// Tops up the socket's bytes from HTTP/2. False: HTTP/2 has nothing more to say, ever.
bool IoThread::fill(SocketConnection& connection) {
    const std::size_t backlog = connection.out.size() - connection.sent;
    if (backlog >= socket_backlog) return true;
    if (!connection.tls) {
        if (connection.sent > 0) connection.out.erase(0, connection.sent);
        connection.sent = 0;
        return connection.http->produce(connection.out, socket_backlog);
    }
    if (!connection.tls->established()) return true;
    plain_.clear();
    const bool more = connection.http->produce(plain_, socket_backlog - backlog);
    if (!plain_.empty() && !connection.tls->send(plain_, connection.out)) return false;
    return more;
}

void IoThread::flush(std::uint64_t id, SocketConnection& connection) {
    bool blocked = false;
    for (std::size_t moved_bytes = 0; connection.fd && !blocked; blocked = blocked || moved_bytes > fair_share) {
        if (!fill(connection)) linger(connection);
        if (connection.sent == connection.out.size()) break;
        std::size_t count = 0;
        std::string why;
        const auto moved =
            send_bytes(connection.fd.get(), std::string_view{connection.out}.substr(connection.sent), count, why);
        connection.sent += count;
        moved_bytes += count;
        if (moved == Moved::some) connection.last_progress = now_;
        if (moved == Moved::closed) connection.fd = Fd{};
        blocked = moved == Moved::none_now;
        if (connection.sent == connection.out.size()) {
            connection.out.clear();
            connection.sent = 0;
        }
    }
    if (!connection.fd) return drop(id, {});
    if (connection.lingering && connection.out.empty()) shutdown(connection.fd.get(), SHUT_WR);
    watch_writes(id, connection, blocked);
}

void IoThread::watch_writes(std::uint64_t id, SocketConnection& connection, bool wanted) {
    if (connection.watching_writes == wanted) return;
    connection.watching_writes = wanted;
    if (wanted) connection.last_progress = now_;
    control(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), id, EPOLLIN | (wanted ? std::uint32_t{EPOLLOUT} : 0u));
}

void IoThread::drop(std::uint64_t id, std::string_view why) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    if (!why.empty()) service_.warn(fmt::format("connection from {} dropped: {}", found->second->peer->address, why));
    unseat_stranger(id, *found->second);
    const auto connection = std::move(found->second);
    connections_.erase(found);
    --service_.connections;
}

Result<void> IoThread::check_time(SocketConnection& connection) {
    const auto& limits = service_.options;
    if (connection.tls && !connection.tls->established() && now_ - connection.accepted > limits.request_timeout)
        return fail(ErrorCode::unavailable, "the TLS handshake took longer than {} ms", limits.request_timeout.count());
    if (connection.watching_writes && now_ - connection.last_progress > limits.stall_timeout)
        return fail(ErrorCode::unavailable, "it took no bytes for {} ms", limits.stall_timeout.count());
    return connection.http->tick(now_);
}

void IoThread::drop_lingering(ServerClock::duration longer_than) {
    std::vector<std::uint64_t> drops;
    for (const auto& [id, connection] : connections_)
        if (connection->lingering && now_ - connection->lingering_since > longer_than) drops.push_back(id);
    for (const auto id : drops) drop(id, {});
}

void IoThread::tick() {
    last_tick_ = now_;
    drop_lingering(linger_time);
    std::vector<std::pair<std::uint64_t, std::string>> drops;
    for (auto& [id, connection] : connections_) {
        if (connection->lingering) continue;
        if (const auto good = check_time(*connection); !good) drops.emplace_back(id, good.error().text);
        mark(id, *connection);
    }
    for (const auto& [id, why] : drops) drop(id, why);
    if (listener_ && !accepting_)
        accepting_ = control(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), listener_id, EPOLLIN);
}

void IoThread::begin_draining() {
    execute_orders();  // last words to sessions, which end now
    draining_ = true;
    listener_ = Fd{};
    accepting_ = false;
    for (auto& [id, connection] : connections_) {
        connection->http->drain("the daemon is stopping");
        mark(id, *connection);
    }
}

}  // namespace spur::wire
