// What spurd and spurstepd say to each other: any bytes on the socket are frames or the end of it, any frame's bytes
// mean something or nothing, and what means something means the same when written again.
#include <sys/socket.h>
#include <unistd.h>

#include "daemons/spurstepd/frame.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace spur;
using namespace spur::step;

template <class Decode>
void check(std::string_view bytes, Decode decode) {
    const auto meant = decode(bytes);
    if (!meant) return;
    const auto again = encode(*meant);
    const auto reread = decode(again);
    must(reread && encode(*reread) == again);
}

void check_payload(FrameType type, std::string_view bytes) {
    switch (type) {
        case FrameType::spec:
            return check(bytes, decode_spec);
        case FrameType::signal:
            return check(bytes, decode<SignalOrder>);
        case FrameType::end:
            return check(bytes, decode<EndOrder>);
        case FrameType::limit:
            return check(bytes, decode<LimitOrder>);
        case FrameType::input:
        case FrameType::output:
            return check(bytes, decode<Chunk>);
        case FrameType::window:
            return check(bytes, decode<WindowSize>);
        case FrameType::hello:
            return check(bytes, decode<Hello>);
        case FrameType::started:
            return check(bytes, decode<Started>);
        case FrameType::input_taken:
        case FrameType::attach:
        case FrameType::received:
        case FrameType::resumed:
            return check(bytes, decode<Count>);
        case FrameType::task_exit:
            return check(bytes, decode<TaskExit>);
        case FrameType::finished:
            return check(bytes, decode_result);
        default:
            return;
    }
}

void check_socket(std::string_view bytes) {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    must(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    close(ends[1]);
    FrameSocket socket{ends[0]};
    while (socket.receive() == FrameSocket::Read::some) {
    }
    std::size_t total = 0;
    while (const auto frame = socket.next()) {
        total += frame->payload.size();
        check_payload(frame->type, frame->payload);
    }
    must(total <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto rest = as_text(data + 1, size - 1);
    if (data[0] == 0)
        check_socket(rest);
    else
        check_payload(static_cast<FrameType>(data[0]), rest);
    return 0;
}
