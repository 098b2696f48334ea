// What the server's handles (Call, Session) share with the I/O thread that owns their connection. Handles never touch a
// connection: they post orders to its thread's inbox.
#pragma once

#include "daemons/common/wire/framing.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/common/wire/socket.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace spur::wire {

struct Ending {
    Status status{Status::ok};
    std::string message;
    Metadata trailers;

    static Ending of(Error error, Metadata trailers = {});
    [[nodiscard]] std::optional<Error> error() const;
};

// One wish of a handle, for one stream of one connection.
struct Order {
    enum class Kind : std::uint8_t {
        reply,   // `bytes` is the whole answer
        send,    // `bytes` is one message of a session
        end,     // after what is queued
        abort,   // at once; what is queued is dropped
        resume,  // deliver messages again
    };
    std::uint64_t connection{0};
    std::int32_t stream{0};
    Kind kind{Kind::end};
    std::string bytes{};
    Ending ending{};
    std::string packed{};  // `bytes` compressed, which then travels in their place

    [[nodiscard]] OutgoingMessage take_message() {
        return packed.empty() ? OutgoingMessage{std::move(bytes)} : OutgoingMessage{std::move(packed), true};
    }
};

// The one place where other threads meet an I/O thread.
class Inbox {
public:
    static Result<std::shared_ptr<Inbox>> make();
    explicit Inbox(Fd event) : event_(std::move(event)) {}

    void post(Order order);  // dropped once the thread has ended
    void wake();
    void take(std::vector<Order>& orders);  // [I/O thread] swaps; `orders` should come empty
    [[nodiscard]] bool has_orders();
    void belong_to_this_thread() { owner_ = std::this_thread::get_id(); }
    [[nodiscard]] bool is_on_own_thread() const {
        return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
    void close();
    [[nodiscard]] int event_fd() const { return event_.get(); }
    void clear_event();

private:
    Fd event_;
    std::atomic<std::thread::id> owner_{};
    std::mutex mutex_;
    std::vector<Order> orders_;
    bool signalled_{false};
    bool closed_{false};
};

// Where a handle's orders go.
struct Route {
    std::shared_ptr<Inbox> inbox;
    std::uint64_t connection{0};
    std::int32_t stream{0};
    bool accepts_gzip{false};  // whoever listens there

    void post(Order::Kind kind, std::string bytes = {}, Ending ending = {}, std::string packed = {}) const;
};

struct CallState {
    Route route;
    std::string method;
    std::shared_ptr<const Peer> peer;
    Caller caller;
    std::string request;
    Metadata metadata;
    std::optional<std::chrono::steady_clock::time_point> deadline;
    std::atomic<bool> answered{false};
    std::atomic<bool> gone{false};       // the stream has ended
    std::atomic<std::int64_t> as_of{0};  // unix seconds; 0: the reply is of now

    ~CallState();
};

struct SessionState {
    Route route;
    std::string method;
    std::shared_ptr<const Peer> peer;
    Caller caller;
    Metadata metadata;
    std::size_t max_queue{0};
    std::atomic<std::size_t> queued{0};
    std::atomic<bool> closed{false};
    std::atomic<bool> paused{false};

    // [I/O thread]
    std::function<void(std::string)> on_message;
    std::function<void()> on_half_closed;
    std::function<void()> on_drained;
    std::function<void(const std::optional<Error>&)> on_closed;
};

// What all connections of a server share: handlers, limits, counters.
class Service {
public:
    explicit Service(ServerOptions chosen);

    struct Method {
        RpcServer::UnaryHandler unary;
        RpcServer::StreamHandler stream;
        Access access{Access::with_credential};
    };
    [[nodiscard]] const Method* find(std::string_view name) const;
    [[nodiscard]] std::set<std::string> service_names() const;  // "spur.v1.Controller"
    // Adds to the bytes that this user's requests occupy; false: they would be too many, and nothing was added.
    bool charge(std::uint32_t uid, std::size_t bytes);
    void discharge(std::uint32_t uid, std::size_t bytes);
    void warn(std::string_view text);  // at most a few a second: a peer must not be able to fill the log

    ServerOptions options;
    const Audience audience;          // this server
    const std::string audience_text;  // the same as a text
    std::unordered_map<std::string, Method> methods;
    std::atomic<std::uint64_t> calls{0}, failed_calls{0}, refused_credentials{0}, sessions{0}, connections{0};
    std::atomic<std::size_t> buffered{0};  // bytes of requests still arriving
    std::atomic<std::size_t> headers{0};   // bytes of headers whose credential has not been looked at
    std::atomic<std::size_t> unread{0};    // bytes of answers that wait for their readers

private:
    std::mutex charges_mutex_;
    std::unordered_map<std::uint32_t, std::size_t> charges_;  // by uid
    std::mutex warn_mutex_;
    std::chrono::steady_clock::time_point warn_second_{};
    unsigned warned_{0}, unsaid_{0};
};

}  // namespace spur::wire
