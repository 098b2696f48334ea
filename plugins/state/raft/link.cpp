// The life of one connection.
#include "link.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include "libraft.hpp"

#include <memory>

#include "bytes.hpp"

namespace spur::raftlog {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;
constexpr unsigned dead_after_ms = 4000;  // unacknowledged data for that long: the peer is gone, connect anew

template <class Handle>
uv_stream_t* as_stream(Handle* handle) {
    return reinterpret_cast<uv_stream_t*>(handle);
}
template <class Handle>
uv_handle_t* as_handle(Handle* handle) {
    return reinterpret_cast<uv_handle_t*>(handle);
}

Fault from_uv(const char* what, int error) { return {SPUR_E_IO, fmt::format("{}: {}", what, uv_strerror(error))}; }

struct Write {
    uv_write_t request{};
    std::string bytes;
    Link* link = nullptr;
    std::function<void()> then;
};

}  // namespace

Link::Link(uv_loop_t* loop, const SecureContext& secure, Side side, Handlers handlers)
    : handlers_(std::move(handlers)), side_(side), session_(secure, side), net_buffer_(buffer_size, '\0') {
    uv_tcp_init(loop, &net_);
    uv_timer_init(loop, &timer_);
    uv_pipe_init(loop, &local_, 0);
    for (auto* handle : {as_handle(&net_), as_handle(&timer_), as_handle(&local_)}) handle->data = this;
    connect_.data = this;
    open_handles_ = 3;
    uv_timer_start(
        &timer_,
        [](uv_timer_t* timer) {
            static_cast<Link*>(timer->data)->close({SPUR_E_UNAVAILABLE, "no answer in time"});
        },
        patience_ms, 0);
}

Link::~Link() = default;

void Link::connect(const sockaddr* to) {
    const int error = uv_tcp_connect(&connect_, &net_, to, [](uv_connect_t* request, int status) {
        auto* link = static_cast<Link*>(request->data);
        if (link->closing_) return;
        if (status != 0) return link->close(from_uv("cannot connect", status));
        link->begin();
    });
    if (error != 0) close(from_uv("cannot connect", error));
}

void Link::begin() {
    tune_socket();
    start_reading_net();
    flush();  // the client's proof
}

void Link::tune_socket() {
    uv_tcp_nodelay(&net_, 1);
    uv_tcp_keepalive(&net_, 1, 10);
    uv_os_fd_t fd = -1;
    const unsigned timeout = dead_after_ms;
    if (uv_fileno(as_handle(&net_), &fd) == 0) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
}

void Link::start_reading_net() {
    const int error = uv_read_start(
        as_stream(&net_),
        [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
            auto& memory = static_cast<Link*>(handle->data)->net_buffer_;
            *buffer = uv_buf_init(memory.data(), static_cast<unsigned>(memory.size()));
        },
        [](uv_stream_t* stream, ssize_t length, const uv_buf_t* buffer) {
            static_cast<Link*>(stream->data)->on_net(length, buffer);
        });
    if (error != 0) close(from_uv("cannot read", error));
}

void Link::start_reading_local() {
    const int error = uv_read_start(
        as_stream(&local_),
        [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
            auto& memory = static_cast<Link*>(handle->data)->local_buffer_;
            *buffer = uv_buf_init(memory.data(), static_cast<unsigned>(memory.size()));
        },
        [](uv_stream_t* stream, ssize_t length, const uv_buf_t* buffer) {
            static_cast<Link*>(stream->data)->on_local(length, buffer);
        });
    if (error != 0) close(from_uv("cannot read", error));
}

void Link::on_net(ssize_t length, const uv_buf_t* buffer) {
    if (closing_ || length == 0) return;
    if (length < 0) {
        if (phase_ == Phase::proving && side_ == Side::client && (length == UV_EOF || length == UV_ECONNRESET))
            return close({SPUR_E_DENIED, "it hung up on our proof; do both have the same key file?"});
        return close(from_uv("connection lost", static_cast<int>(length)));
    }
    const auto received =
        session_.receive({reinterpret_cast<const std::uint8_t*>(buffer->base), static_cast<std::size_t>(length)});
    if (!received) return close(received.error());
    flush();
    advance();
}

void Link::advance() {
    if (phase_ == Phase::proving && session_.is_ready()) {
        phase_ = Phase::greeting;
        if (side_ == Side::client && session_.send(as_bytes(write_greeting(handlers_.own_greeting())))) flush();
    }
    if (phase_ == Phase::greeting) take_greeting();
    if (relaying_ && !closing_) forward_to_local();
}

void Link::take_greeting() {
    inbox_ += session_.take_plain();
    const auto end = inbox_.find("\n\n");
    if (end == std::string::npos) {
        if (inbox_.size() > longest_greeting) close({SPUR_E_DENIED, "the greeting is too long"});
        return;
    }
    const auto greeting = read_greeting(std::string_view(inbox_).substr(0, end + 2));
    inbox_.erase(0, end + 2);
    if (!greeting) return close({SPUR_E_DENIED, "the greeting makes no sense: is it another release of spur?"});
    if (side_ == Side::server && session_.send(as_bytes(write_greeting(handlers_.own_greeting())))) flush();
    phase_ = Phase::greeted;
    uv_timer_stop(&timer_);
    std::exchange(handlers_.greeted, {})(*this, *greeting);
}

Outcome<uv_stream_t*> Link::hand_over() {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return fault(SPUR_E_IO, "no socket pair: {}", uv_strerror(uv_translate_sys_error(errno)));
    auto* theirs = static_cast<uv_pipe_t*>(raft_malloc(sizeof(uv_pipe_t)));
    if (theirs == nullptr) throw std::bad_alloc();
    uv_pipe_init(net_.loop, theirs, 0);
    if (uv_pipe_open(&local_, ends[0]) != 0 || uv_pipe_open(theirs, ends[1]) != 0)
        return fault(SPUR_E_INTERNAL, "libuv refused a socket pair");
    local_buffer_.resize(buffer_size);
    relaying_ = true;
    start_reading_local();
    forward_to_local();
    return as_stream(theirs);
}

void Link::forward_to_local() {
    auto plain = std::exchange(inbox_, {}) + session_.take_plain();
    if (plain.empty()) return;
    uv_read_stop(as_stream(&net_));
    write(as_stream(&local_), std::move(plain), [this] { start_reading_net(); });
}

void Link::on_local(ssize_t length, const uv_buf_t* buffer) {
    if (closing_ || length == 0) return;
    if (length < 0) return close({SPUR_E_STOPPED, "closed"});
    const auto sent =
        session_.send({reinterpret_cast<const std::uint8_t*>(buffer->base), static_cast<std::size_t>(length)});
    if (!sent) return close(sent.error());
    uv_read_stop(as_stream(&local_));
    write(as_stream(&net_), session_.take_wire(), [this] { start_reading_local(); });
}

void Link::flush() {
    auto wire = session_.take_wire();
    if (!wire.empty() && !closing_) write(as_stream(&net_), std::move(wire), {});
}

void Link::write(uv_stream_t* to, std::string bytes, std::function<void()> then) {
    auto job = std::make_unique<Write>();
    job->bytes = std::move(bytes);
    job->link = this;
    job->then = std::move(then);
    job->request.data = job.get();
    const auto buffer = uv_buf_init(job->bytes.data(), static_cast<unsigned>(job->bytes.size()));
    const int error = uv_write(&job->request, to, &buffer, 1, [](uv_write_t* request, int status) {
        const std::unique_ptr<Write> done(static_cast<Write*>(request->data));
        if (done->link->closing_) return;
        if (status != 0) return done->link->close(from_uv("connection lost", status));
        if (done->then) done->then();
    });
    if (error != 0) return close(from_uv("connection lost", error));
    job.release();
}

void Link::close(Fault why) {
    if (closing_) return;
    closing_ = true;
    reason_ = std::move(why);
    for (auto* handle : {as_handle(&net_), as_handle(&timer_), as_handle(&local_)})
        uv_close(handle, [](uv_handle_t* closed) { static_cast<Link*>(closed->data)->on_handle_closed(); });
}

void Link::on_handle_closed() {
    if (--open_handles_ > 0) return;
    if (handlers_.greeted) std::exchange(handlers_.greeted, {})(*this, std::unexpected(*reason_));
    const auto gone = std::move(handlers_.gone);  // it deletes us
    gone(*this);
}

}  // namespace spur::raftlog
