// Messages between spurd and one spurstepd, over a unix stream socket: a length, a type, the bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::step {

enum class FrameType : std::uint8_t {
    // spurd to spurstepd
    spec = 1,  // LaunchSpec: the first frame to a new step daemon
    signal,    // SignalOrder
    end,       // EndOrder
    suspend,   // no payload: stop everything
    resume,    // no payload
    limit,     // LimitOrder: the end time has changed
    input,     // Chunk: for the tasks' stdin
    window,    // WindowSize
    discard,   // no payload: nobody reads the output any more
    attach,    // Count: the reader is back and goes on with this message
    received,  // Count: so many messages have reached the reader
    measure,   // Count: a number of the asker's; answered by usage
    // spurstepd to spurd
    hello = 32,   // Hello: the first frame on every connection
    started,      // Started
    output,       // Chunk
    input_taken,  // Count: so many bytes of stdin have left the buffer
    task_exit,    // TaskExit
    finished,     // StepResult, the last frame
    log,          // text for spurd's log: level digit and line
    aborted,      // no payload: the tasks are being ended, and not because srun asked for it
    resumed,      // Count: answers attach; so many frames of input have arrived
    killing,      // no payload: everything was sent SIGKILL again; says that the step daemon is at work
    usage,        // Readings: answers measure
};

struct Frame {
    FrameType type{};
    std::string payload;
};

inline constexpr std::size_t largest_frame = 64U << 20;  // a step's environment is the largest thing that travels
inline constexpr std::uint32_t every_task = 0xffffffff;

struct SignalOrder {
    enum class Target : std::uint8_t { tasks, leaders, everything };  // tasks: their process groups
    std::uint32_t signal{};
    Target target{Target::tasks};
};
struct EndOrder {
    bool tell{false};        // the job's stderr gets a line: *** JOB 12 ON n1 CANCELLED AT ... ***
    std::string because;     // "DUE TO TIME LIMIT", at the end of that line
    std::uint32_t wait_s{};  // from SIGTERM to SIGKILL
    bool has_wait{false};    // wait_s counts, instead of the spec's
    bool timed_out{false};
};
struct LimitOrder {  // as in LaunchSpec
    std::int64_t end_time{};
    std::int64_t end_boot_s{};
};
struct Chunk {
    std::uint32_t task{};
    bool error_stream{false};
    bool eof{false};
    std::string_view data;  // points into the frame
};
struct WindowSize {
    std::uint32_t rows{}, columns{};
};
struct Hello {
    std::uint32_t job{}, attempt{}, step{}, uid{}, pid{};
    bool started{false};
};
struct StartedTask {
    std::uint32_t id{}, pid{};
    bool operator==(const StartedTask&) const = default;
};
struct Started {
    std::vector<StartedTask> tasks;
};
struct Count {
    std::uint64_t number{};
};
struct TaskExit {
    std::uint32_t task{}, status{};
    bool oom{false};
};

// Of one of the messages above.
template <class T>
std::string encode(const T& message);
template <class T>
std::optional<T> decode(std::string_view bytes);  // nothing if the bytes make no sense

// One end of the socket: non-blocking, whole frames in and out. Owns the descriptor.
class FrameSocket {
public:
    FrameSocket() = default;
    explicit FrameSocket(int fd);
    FrameSocket(FrameSocket&& other) noexcept;
    FrameSocket& operator=(FrameSocket&& other) noexcept;
    ~FrameSocket();

    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    void close();

    // Queues a frame and sends what the socket takes now. False once the other side has gone.
    bool send(FrameType type, std::string_view payload);
    bool flush();  // more of what is queued; false once the other side has gone
    [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }

    enum class Read : std::uint8_t { some, none_now, closed };
    Read receive();               // moves what has arrived into the buffer
    std::optional<Frame> next();  // the next whole frame, if there is one
    // Asks the kernel for the process that sends: nothing in a frame could say so.
    void watch_sender();
    [[nodiscard]] pid_t sender() const { return sender_; }  // of what was received last; 0: not known
    // A length beyond largest_frame was announced: the other side is no spurd and no spurstepd.
    [[nodiscard]] bool is_broken() const { return broken_; }

private:
    int fd_{-1};
    std::string in_, out_;
    std::size_t taken_{0}, sent_{0};
    bool broken_{false};
    pid_t sender_{0};
};

}  // namespace spur::step
