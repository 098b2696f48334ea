// The fields of each frame's message, and the socket they travel through.
#include "daemons/spurstepd/frame.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/store/tagged.hpp"

namespace spur::archive {

using namespace step;

template <>
inline constexpr auto fields_of<SignalOrder> = numbered(&SignalOrder::signal, &SignalOrder::target).skipping_unknown();
template <>
inline constexpr auto fields_of<EndOrder> =
    numbered(&EndOrder::because, &EndOrder::wait_s, &EndOrder::has_wait, &EndOrder::timed_out, &EndOrder::tell)
        .skipping_unknown();
template <>
inline constexpr auto fields_of<LimitOrder> =
    numbered(&LimitOrder::end_time, &LimitOrder::end_boot_s).skipping_unknown();
template <>
inline constexpr auto fields_of<Chunk> =
    numbered(&Chunk::task, &Chunk::error_stream, &Chunk::eof, &Chunk::data).skipping_unknown();
template <>
inline constexpr auto fields_of<WindowSize> = numbered(&WindowSize::rows, &WindowSize::columns).skipping_unknown();
template <>
inline constexpr auto fields_of<Hello> =
    numbered(&Hello::job, &Hello::attempt, &Hello::step, &Hello::uid, &Hello::pid, &Hello::started).skipping_unknown();
template <>
inline constexpr auto fields_of<StartedTask> = numbered(&StartedTask::id, &StartedTask::pid).skipping_unknown();
template <>
inline constexpr auto fields_of<Started> = numbered(&Started::tasks).skipping_unknown();
template <>
inline constexpr auto fields_of<Count> = numbered(&Count::number).skipping_unknown();
template <>
inline constexpr auto fields_of<TaskExit> =
    numbered(&TaskExit::task, &TaskExit::status, &TaskExit::oom).skipping_unknown();

}  // namespace spur::archive

namespace spur::step {

template <class T>
std::string encode(const T& message) {
    return archive::to_bytes(message);
}
template <class T>
std::optional<T> decode(std::string_view bytes) {
    return archive::from_bytes<T>(bytes);
}
#define SPUR_MESSAGE(T)                    \
    template std::string encode(const T&); \
    template std::optional<T> decode(std::string_view)
SPUR_MESSAGE(SignalOrder);
SPUR_MESSAGE(EndOrder);
SPUR_MESSAGE(LimitOrder);
SPUR_MESSAGE(Chunk);
SPUR_MESSAGE(WindowSize);
SPUR_MESSAGE(Hello);
SPUR_MESSAGE(Started);
SPUR_MESSAGE(Count);
SPUR_MESSAGE(TaskExit);
#undef SPUR_MESSAGE

namespace {

constexpr std::size_t header_bytes = 5;

}  // namespace

// ---- the socket ----------------------------------------------------------------------------------------------------

FrameSocket::FrameSocket(int fd) : fd_{fd} {
    if (fd < 0) return;
    fcntl(fd, F_SETFL, O_NONBLOCK);  // a socket has no other status flags
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
