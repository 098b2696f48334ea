// The handles' side of the server: Call and Session turn wishes into orders.
#include "daemons/common/wire/server_state.hpp"

#include "daemons/common/wire/gzip.hpp"

#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace spur::wire {
namespace {

std::uint64_t random_instance() {
    std::uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn))
        throw std::runtime_error{"the system gave no random bytes"};
    return drawn | 1;  // 0 means none
}

}  // namespace

Ending Ending::of(Error error, Metadata trailers) {
    trailers.add(error_key, name_of(error.code));
    if (error.slurm_error != 0) trailers.add(errno_key, std::to_string(error.slurm_error));
    return Ending{status_of(error.code), std::move(error.text), std::move(trailers)};
}

std::optional<Error> Ending::error() const {
    if (status == Status::ok) return std::nullopt;
    Error error{error_code_of(status), message};
    refine(error, trailers);
    return error;
}

Result<std::shared_ptr<Inbox>> Inbox::make() {
    Fd event{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (!event) return fail(ErrorCode::internal, "eventfd: {}", std::strerror(errno));
    return std::make_shared<Inbox>(std::move(event));
}

void Inbox::post(Order order) {
    {
        const std::lock_guard lock{mutex_};
        if (closed_) return;
        orders_.push_back(std::move(order));
        // The I/O thread looks here before it sleeps, so its own orders and those after the first need no signal.
        if (signalled_ || is_on_own_thread()) return;
        signalled_ = true;
    }
    wake();
}

void Inbox::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(event_.get(), &one, sizeof one);  // full only if already signalled
}

void Inbox::clear_event() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(event_.get(), &count, sizeof count);
}

void Inbox::take(std::vector<Order>& orders) {
    const std::lock_guard lock{mutex_};
    orders.swap(orders_);
    signalled_ = false;
}

bool Inbox::has_orders() {
    const std::lock_guard lock{mutex_};
    return !orders_.empty();
}

void Inbox::close() {
    std::vector<Order> dropped;  // destroyed outside the lock
    const std::lock_guard lock{mutex_};
    closed_ = true;
    dropped.swap(orders_);
}

void Route::post(Order::Kind kind, std::string bytes, Ending ending, std::string packed) const {
    inbox->post(Order{connection, stream, kind, std::move(bytes), std::move(ending), std::move(packed)});
}

CallState::~CallState() {
    if (answered || gone) return;
    route.post(
        Order::Kind::end, {},
        Ending::of({ErrorCode::internal, fmt::format("{}: the daemon dropped the request without an answer", method)}));
}

Service::Service(ServerOptions chosen)
    : options(std::move(chosen)),
      audience{options.cluster, options.name, random_instance()},
      audience_text{audience.text()} {}

const Service::Method* Service::find(std::string_view name) const {
    const auto found = methods.find(std::string{name});
    return found == methods.end() ? nullptr : &found->second;
}

std::set<std::string> Service::service_names() const {
    std::set<std::string> names;
    for (const auto& [path, method] : methods) names.insert(path.substr(1, path.rfind('/') - 1));
    return names;
}

bool Service::charge(std::uint32_t uid, std::size_t bytes) {
    if (uid == 0 || uid == ::geteuid()) return true;
    const std::lock_guard lock{charges_mutex_};
    auto& charged = charges_[uid];
    if (charged + bytes > options.max_caller_bytes) return false;
    charged += bytes;
    return true;
}

void Service::discharge(std::uint32_t uid, std::size_t bytes) {
    if (uid == 0 || uid == ::geteuid()) return;
    const std::lock_guard lock{charges_mutex_};
    const auto charged = charges_.find(uid);
    if (charged != charges_.end() && (charged->second -= bytes) == 0) charges_.erase(charged);
}

void Service::warn(std::string_view text) {
    if (!options.warn) return;
    constexpr unsigned per_second = 20;
    const auto now = std::chrono::steady_clock::now();
    unsigned unsaid = 0;
    {
        const std::lock_guard lock{warn_mutex_};
        if (now - warn_second_ >= std::chrono::seconds{1}) {
            warn_second_ = now;
            warned_ = 0;
            unsaid = std::exchange(unsaid_, 0);
        }
        if (++warned_ > per_second) {
            ++unsaid_;
            return;
        }
    }
    if (unsaid > 0) options.warn(fmt::format("{} more warnings like these were left out", unsaid));
    options.warn(text);
}

std::string_view Call::method() const { return state_->method; }
const Peer& Call::peer() const { return *state_->peer; }
const Caller& Call::caller() const { return state_->caller; }
std::string_view Call::request() const { return state_->request; }
const Metadata& Call::metadata() const { return state_->metadata; }
std::optional<std::chrono::steady_clock::time_point> Call::deadline() const { return state_->deadline; }

bool Call::abandoned() const {
    return state_->gone || (state_->deadline && std::chrono::steady_clock::now() >= *state_->deadline);
}

void Call::set_as_of(std::int64_t unix_seconds) const { state_->as_of = unix_seconds; }

void Call::reply(std::string message) const {
    if (state_->answered.exchange(true)) return;
    Ending ending;
    if (const auto as_of = state_->as_of.load(); as_of != 0) ending.trailers.add(as_of_key, std::to_string(as_of));
    // Compressed by whoever made the message: a long one must not hold up the other connections of the I/O thread.
    auto packed = state_->route.accepts_gzip ? gzip(message) : std::string{};
    state_->route.post(Order::Kind::reply, std::move(message), std::move(ending), std::move(packed));
}

void Call::fail(Error error, Metadata trailers) const {
    if (state_->answered.exchange(true)) return;
    state_->route.post(Order::Kind::end, {}, Ending::of(std::move(error), std::move(trailers)));
}

std::string_view Session::method() const { return state_->method; }
const Peer& Session::peer() const { return *state_->peer; }
const Caller& Session::caller() const { return state_->caller; }
const Metadata& Session::metadata() const { return state_->metadata; }
void Session::on_message(std::function<void(std::string)> callback) const { state_->on_message = std::move(callback); }
void Session::on_half_closed(std::function<void()> callback) const { state_->on_half_closed = std::move(callback); }
void Session::on_drained(std::function<void()> callback) const { state_->on_drained = std::move(callback); }
void Session::on_closed(std::function<void(const std::optional<Error>&)> callback) const {
    state_->on_closed = std::move(callback);
}
std::size_t Session::queued_bytes() const { return state_->queued; }
bool Session::is_open() const { return !state_->closed; }

bool Session::send(std::string message) const {
    if (state_->closed) return false;
    auto packed = state_->route.accepts_gzip ? gzip(message) : std::string{};
    const std::size_t queued = state_->queued += (packed.empty() ? message : packed).size() + prefix_size;
    if (queued <= state_->max_queue) {
        if (!packed.empty()) message.clear();
        state_->route.post(Order::Kind::send, std::move(message), {}, std::move(packed));
        return true;
    }
    if (!state_->closed.exchange(true))
        state_->route.post(
            Order::Kind::abort, {},
            Ending::of({ErrorCode::limit,
                        fmt::format("{}: the peer at {} does not read: {} bytes wait for it, the limit is {}",
                                    state_->method, state_->peer->address, queued, state_->max_queue)}));
    return false;
}

void Session::pause() const { state_->paused = true; }

void Session::resume() const {
    if (state_->paused.exchange(false)) state_->route.post(Order::Kind::resume);
}

void Session::close() const {
    if (!state_->closed.exchange(true)) state_->route.post(Order::Kind::end);
}

void Session::close(Error error, Metadata trailers) const {
    if (!state_->closed.exchange(true))
        state_->route.post(Order::Kind::end, {}, Ending::of(std::move(error), std::move(trailers)));
}

}  // namespace spur::wire
