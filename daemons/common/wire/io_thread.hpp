// One I/O thread of the server: epoll over its connections, orders from its inbox, a regular tick for everything that
// depends on time.
#pragma once

#include "daemons/common/wire/server_connection.hpp"
#include "daemons/common/wire/tls_engine.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace spur::wire {

// A socket, TLS if any, and the HTTP/2 connection behind them.
struct SocketConnection {
    Fd fd;
    std::optional<TlsEngine> tls;
    std::shared_ptr<Peer> peer;
    std::unique_ptr<ServerConnection> http;
    std::string out;  // bytes for the socket, from `sent` on
    std::size_t sent{0};
    ServerClock::time_point accepted{}, last_progress{};
    bool is_stranger{false};
    bool watching_writes{false};
    bool dirty{false};      // has to be flushed before the thread sleeps
    bool lingering{false};  // all is said; waiting for the peer to close
    ServerClock::time_point lingering_since{};
};

class IoThread {
public:
    static Result<std::unique_ptr<IoThread>> make(Service& service, std::shared_ptr<TlsContext> tls);
    IoThread(Service& service, std::shared_ptr<TlsContext> tls, Fd epoll, std::shared_ptr<Inbox> inbox);
    ~IoThread();

    // This thread accepts; each new connection goes to `choose()`. Before start().
    Result<void> accept_on(Fd listener, std::function<IoThread&()> choose);
    void start();
    void adopt(Fd fd, std::string peer_address);  // [any thread]

    void drain(
        ServerClock::time_point deadline);  // [any thread] the thread ends when all is finished, or at the deadline
    void join();

private:
    struct Arrival {
        Fd fd;
        std::string address;
    };

    void run();
    void handle_events(int timeout_ms);
    void accept_waiting();
    void take_arrivals();
    void add_connection(Arrival arrival);
    void readable(SocketConnection& connection);
    void seat_stranger(std::uint64_t id, SocketConnection& connection);
    void unseat_stranger(std::uint64_t id, SocketConnection& connection);
    bool decrypt(SocketConnection& connection, std::string_view bytes);
    void serve_orders();
    void execute_orders();
    void flush(std::uint64_t id, SocketConnection& connection);
    bool fill(SocketConnection& connection);
    void mark(std::uint64_t id, SocketConnection& connection);
    void watch_writes(std::uint64_t id, SocketConnection& connection, bool wanted);
    void linger(SocketConnection& connection);
    void drop(std::uint64_t id, std::string_view why);
    void drop_lingering(ServerClock::duration longer_than);
    void tick();
    [[nodiscard]] Result<void> check_time(SocketConnection& connection);
    void begin_draining();

    Service& service_;
    std::shared_ptr<TlsContext> tls_;
    Fd epoll_;
    std::shared_ptr<Inbox> inbox_;
    Fd listener_;
    bool accepting_{false};
    std::function<IoThread&()> choose_;

    std::mutex arrivals_mutex_;
    std::vector<Arrival> arrivals_;
    std::atomic<bool> drain_requested_{false};
    std::atomic<ServerClock::time_point> drain_deadline_{};

    // [I/O thread]
    std::unordered_map<std::uint64_t, std::unique_ptr<SocketConnection>> connections_;
    std::map<std::string, std::deque<std::uint64_t>> strangers_;  // by host, the oldest first
    std::size_t stranger_count_{0};
    std::vector<std::uint64_t> dirty_;
    std::vector<Order> orders_;
    std::uint64_t next_id_{2};
    ServerClock::duration tick_interval_;
    ServerClock::time_point now_, last_tick_;
    bool draining_{false};
    bool has_orders_{false};  // orders or bytes were left over: do not sleep
    std::string plain_;       // scratch for decryption
    std::thread thread_;
};

}  // namespace spur::wire
