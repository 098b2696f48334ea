// Encoding and decoding each kind of message, and the socket they travel on.
#include "daemons/spurstepd/frame.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "daemons/spurstepd/fields.hpp"

namespace spur::step {

namespace {

constexpr std::size_t header_bytes = 5;

std::uint32_t narrow(const Field& field) { return static_cast<std::uint32_t>(field.number); }

// Reads every field with `take`; the value if the bytes were whole.
template <class Value, class Take>
std::optional<Value> decode(std::string_view bytes, Take take) {
    Value value{};
    FieldReader in{bytes};
    while (const auto field = in.next()) take(*field, value);
    if (!in.is_whole()) return std::nullopt;
    return value;
}

}  // namespace

std::string encode(const SignalOrder& order) {
    FieldWriter out;
    out.number(1, order.signal);
    out.number(2, static_cast<std::uint64_t>(order.target));
    return out.take();
}
std::optional<SignalOrder> decode_signal(std::string_view bytes) {
    return decode<SignalOrder>(bytes, [](const Field& field, SignalOrder& order) {
        if (field.tag == 1) order.signal = narrow(field);
        if (field.tag == 2 && field.number <= 2) order.target = static_cast<SignalOrder::Target>(field.number);
    });
}

std::string encode(const EndOrder& order) {
    FieldWriter out;
    out.text(1, order.because);
    out.number(2, order.wait_s);
    out.number(3, order.has_wait);
    out.number(4, order.timed_out);
    out.number(5, order.tell);
    return out.take();
}
std::optional<EndOrder> decode_end(std::string_view bytes) {
    return decode<EndOrder>(bytes, [](const Field& field, EndOrder& order) {
        if (field.tag == 1) order.because = field.text;
        if (field.tag == 2) order.wait_s = narrow(field);
        if (field.tag == 3) order.has_wait = field.number != 0;
        if (field.tag == 4) order.timed_out = field.number != 0;
        if (field.tag == 5) order.tell = field.number != 0;
    });
}

std::string encode(const LimitOrder& order) {
    FieldWriter out;
    out.number(1, static_cast<std::uint64_t>(order.end_time));
    out.number(2, static_cast<std::uint64_t>(order.end_boot_s));
    return out.take();
}
std::optional<LimitOrder> decode_limit(std::string_view bytes) {
    return decode<LimitOrder>(bytes, [](const Field& field, LimitOrder& order) {
        if (field.tag == 1) order.end_time = static_cast<std::int64_t>(field.number);
        if (field.tag == 2) order.end_boot_s = static_cast<std::int64_t>(field.number);
    });
}

std::string encode(const Chunk& chunk) {
    FieldWriter out;
    out.number(1, chunk.task);
    out.number(2, chunk.error_stream);
    out.number(3, chunk.eof);
    out.text(4, chunk.data);
    return out.take();
}
std::optional<Chunk> decode_chunk(std::string_view bytes) {
    return decode<Chunk>(bytes, [](const Field& field, Chunk& chunk) {
        if (field.tag == 1) chunk.task = narrow(field);
        if (field.tag == 2) chunk.error_stream = field.number != 0;
        if (field.tag == 3) chunk.eof = field.number != 0;
        if (field.tag == 4) chunk.data = field.text;
    });
}

std::string encode(const WindowSize& size) {
    FieldWriter out;
    out.number(1, size.rows);
    out.number(2, size.columns);
    return out.take();
}
std::optional<WindowSize> decode_window(std::string_view bytes) {
    return decode<WindowSize>(bytes, [](const Field& field, WindowSize& size) {
        if (field.tag == 1) size.rows = narrow(field);
        if (field.tag == 2) size.columns = narrow(field);
    });
}

std::string encode(const Hello& hello) {
    FieldWriter out;
    out.number(1, hello.job);
    out.number(2, hello.attempt);
    out.number(3, hello.step);
    out.number(4, hello.uid);
    out.number(5, hello.pid);
    out.number(6, hello.started);
    return out.take();
}
std::optional<Hello> decode_hello(std::string_view bytes) {
    return decode<Hello>(bytes, [](const Field& field, Hello& hello) {
        if (field.tag == 1) hello.job = narrow(field);
        if (field.tag == 2) hello.attempt = narrow(field);
        if (field.tag == 3) hello.step = narrow(field);
        if (field.tag == 4) hello.uid = narrow(field);
        if (field.tag == 5) hello.pid = narrow(field);
        if (field.tag == 6) hello.started = field.number != 0;
    });
}

// Pairs, stored plus one so that task 0 is not taken for an absent field.
std::string encode(const Started& started) {
    FieldWriter out;
    for (std::size_t i = 0; i < started.tasks.size(); ++i) {
        out.number(1, std::uint64_t{started.tasks[i]} + 1);
        out.number(2, std::uint64_t{started.pids[i]} + 1);
    }
    return out.take();
}
std::optional<Started> decode_started(std::string_view bytes) {
    auto started = decode<Started>(bytes, [](const Field& field, Started& value) {
        if (field.tag == 1) value.tasks.push_back(narrow(field) - 1);
        if (field.tag == 2) value.pids.push_back(narrow(field) - 1);
    });
    if (started && started->tasks.size() != started->pids.size()) return std::nullopt;
    return started;
}

std::string encode(const Count& count) {
    FieldWriter out;
    out.number(1, count.number);
    return out.take();
}
std::optional<Count> decode_count(std::string_view bytes) {
    return decode<Count>(bytes, [](const Field& field, Count& count) {
        if (field.tag == 1) count.number = field.number;
    });
}

std::string encode(const TaskExit& task) {
    FieldWriter out;
    out.number(1, task.task);
    out.number(2, task.status);
    out.number(3, task.oom);
    return out.take();
}
std::optional<TaskExit> decode_task_exit(std::string_view bytes) {
    return decode<TaskExit>(bytes, [](const Field& field, TaskExit& task) {
        if (field.tag == 1) task.task = narrow(field);
        if (field.tag == 2) task.status = narrow(field);
        if (field.tag == 3) task.oom = field.number != 0;
    });
}

// ---- the socket ----------------------------------------------------------------------------------------------------

FrameSocket::FrameSocket(int fd) : fd_{fd} {
    if (fd < 0) return;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // whoever holds it can speak for the step: no task may
}
FrameSocket::FrameSocket(FrameSocket&& other) noexcept { *this = std::move(other); }
FrameSocket& FrameSocket::operator=(FrameSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    std::swap(taken_, other.taken_);
    std::swap(sent_, other.sent_);
    std::swap(broken_, other.broken_);
    std::swap(sender_, other.sender_);
    return *this;
}
FrameSocket::~FrameSocket() { close(); }

void FrameSocket::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

bool FrameSocket::send(FrameType type, std::string_view payload) {
    if (fd_ < 0 || payload.size() >= largest_frame) return false;
    const auto length = static_cast<std::uint32_t>(payload.size() + 1);
    char header[header_bytes];
    std::memcpy(header, &length, 4);
    header[4] = static_cast<char>(type);
    out_.append(header, header_bytes);
    out_.append(payload);
    return flush();
}

bool FrameSocket::flush() {
    while (sent_ < out_.size()) {
        const auto count = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        sent_ += static_cast<std::size_t>(count);
    }
    out_.clear();
    sent_ = 0;
    return true;
}

void FrameSocket::watch_sender() {
    const int on = 1;
    setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

FrameSocket::Read FrameSocket::receive() {
    if (taken_ == in_.size()) {
        in_.clear();
        taken_ = 0;
    } else if (taken_ > (1U << 20)) {
        in_.erase(0, std::exchange(taken_, 0));
    }
    char buffer[64 * 1024];
    iovec data{buffer, sizeof buffer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const auto count = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
    if (count > 0) {
        for (auto* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
            ucred who{};
            if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) continue;
            std::memcpy(&who, CMSG_DATA(header), sizeof who);
            sender_ = who.pid;
        }
        in_.append(buffer, static_cast<std::size_t>(count));
        return Read::some;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Read::none_now;
    return Read::closed;
}

std::optional<Frame> FrameSocket::next() {
    const auto rest = std::string_view{in_}.substr(taken_);
    if (rest.size() < header_bytes || broken_) return std::nullopt;
    std::uint32_t length{};
    std::memcpy(&length, rest.data(), 4);
    if (length == 0 || length > largest_frame) {
        broken_ = true;
        return std::nullopt;
    }
    if (rest.size() < 4 + std::size_t{length}) return std::nullopt;
    Frame frame{static_cast<FrameType>(rest[4]), std::string{rest.substr(header_bytes, length - 1)}};
    taken_ += 4 + std::size_t{length};
    return frame;
}

}  // namespace spur::step
