// The step daemon's dealings with spurd: the connection, and what it is told to do.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "daemons/spurstepd/step_daemon.hpp"

namespace spur::step {

namespace {

using namespace std::chrono_literals;

constexpr auto reader_patience = 60s;  // for spurd to be restarted, and for srun to find it
constexpr auto confirm_patience = 2s;  // for srun to say that it has everything
constexpr auto ending_patience = 10s;  // of a step that is being ended, altogether
constexpr auto sample_pause = 1s;      // between two looks at the tasks that somebody asks for
constexpr auto stop_delay = 1s;        // between SIGTSTP, which a program may handle, and SIGSTOP

std::int64_t unix_now() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

std::string local_time() {
    const auto now = static_cast<time_t>(unix_now());
    tm parts{};
    localtime_r(&now, &parts);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return text;
}

}  // namespace

// ---- the connection ------------------------------------------------------------------------------------------------

void StepDaemon::greet() {
    send(FrameType::hello, encode(Hello{spec_.job, spec_.attempt, spec_.step, spec_.uid,
                                        static_cast<std::uint32_t>(getpid()), started_}));
}

// A restarted spurd finds the step by this socket. The name is relative: the path may be longer than a socket's
// address.
Result<void> StepDaemon::listen() {
    const auto name = socket_name(spec_.step);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
    unlink(name.c_str());
    listener_ = Descriptor{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto before = umask(0177);
    const bool bound = listener_ && bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       ::listen(listener_.get(), 4) == 0;
    umask(before);
    if (!bound) log('2', std::string{"a restarted spurd will not find this step: "} + std::strerror(errno));
    return {};
}

void StepDaemon::accept_connection() {
    FrameSocket caller{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!caller.is_open()) return;
    ucred who{};
    socklen_t length = sizeof who;
    if (getsockopt(caller.fd(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0 || (who.uid != 0 && who.uid != geteuid()))
        return;
    connection_ = std::move(caller);
    has_reader_ = spec_.is_batch();  // srun comes to spurd again, and says how far it has read
    greet();
}

void StepDaemon::drop_connection() { connection_.close(); }

void StepDaemon::read_connection() {
    if (!connection_.is_open()) return;
    if (connection_.receive() == FrameSocket::Read::closed) return drop_connection();
    while (connection_.is_open()) {
        const auto frame = connection_.next();
        if (!frame) break;
        take_order(*frame);
    }
    if (connection_.is_broken()) drop_connection();
}

void StepDaemon::send(FrameType type, const std::string& payload) {
    if (connection_.is_open() && !connection_.send(type, payload)) drop_connection();
}

// Frames for srun are kept until it has confirmed them. Confirmations may be held up behind the tasks' input, so
// nothing waits for them: frames beyond what can be under way count as arrived.
void StepDaemon::tell_reader(FrameType type, std::string payload) {
    if (spec_.is_batch() || discards_) return send(type, payload);
    const auto& frame = unread_.add(type, std::move(payload));
    if (is_read()) send(frame.type, frame.payload);
    if (is_read()) unread_.shrink_to(UnreadFrames::limit);
}

void StepDaemon::attach_reader(std::uint64_t next) {
    if (next < unread_.first()) log('2', "some output was lost on its way to srun while spurd was restarted");
    unread_.forget_before(next);
    has_reader_ = true;
    send(FrameType::resumed, encode(Count{inputs_}));
    for (const auto& frame : unread_.frames()) send(frame.type, frame.payload);
}

// The tasks are over. Waits until srun has read the last of their output, however slowly, even while spurd is being
// restarted.
void StepDaemon::deliver() {
    const auto begun = Clock::now();
    auto alive = begun;  // when the reader was last known to be there, or slow
    while (!unread_.frames().empty() && !discards_) {
        const auto now = Clock::now();
        const bool is_busy = is_read() && connection_.unsent() > 0;
        if (is_busy) alive = now;
        if (now - alive > (is_read() ? confirm_patience : reader_patience)) return;
        if (kill_at_ && now - begun > ending_patience) return;
        pollfd waits[] = {{listener_.get(), POLLIN, 0},
                          {connection_.fd(), static_cast<short>(is_busy ? POLLIN | POLLOUT : POLLIN), 0}};
        if (poll(waits, 2, 100) <= 0) continue;
        if (waits[1].revents & POLLOUT && !connection_.flush()) drop_connection();
        if (waits[1].revents & (POLLIN | POLLHUP | POLLERR)) read_connection();
        if (waits[0].revents != 0) accept_connection();
    }
}

// "3: a line", one write for all of them.
void StepDaemon::write_labelled(const Task& task, int file, std::string_view lines) {
    auto number = std::to_string(task.id);
    number.insert(0, spec_.label_width - std::min<std::size_t>(number.size(), spec_.label_width), ' ');
    std::string text;
    while (!lines.empty()) {
        const auto end = std::min(lines.find('\n'), lines.size());
        text.append(number).append(": ").append(lines.substr(0, end)).append("\n");
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    files_.write(file, std::move(text));
}

void StepDaemon::forward(const Task& task, bool error_stream, std::string_view data, bool eof) {
    if (const int file = error_stream ? task.err_file : task.out_file; file >= 0)
        return write_labelled(task, file, data);
    if (discards_ || (data.empty() && !eof)) return;
    tell_reader(FrameType::output, encode(Chunk{task.id, error_stream, eof, data}));
}

void StepDaemon::log(char level, const std::string& text) { send(FrameType::log, level + text); }

// What is for the tasks waits for them; an end does not.
void StepDaemon::take_order(Frame frame) {
    const auto is_kill = [&] {
        const auto order = decode<SignalOrder>(frame.payload);
        return order && order->signal == SIGKILL;
    };
    const bool for_tasks = frame.type == FrameType::input || frame.type == FrameType::window ||
                           (frame.type == FrameType::signal && !is_kill());
    if (for_tasks && !started_)
        early_.push_back(std::move(frame));
    else
        obey(frame);
}

void StepDaemon::obey(const Frame& frame) {
    switch (frame.type) {
        case FrameType::signal:
            if (const auto order = decode<SignalOrder>(frame.payload)) signal_step(*order);
            break;
        case FrameType::end:
            if (const auto order = decode<EndOrder>(frame.payload)) {
                if (!spec_.is_batch() && !kill_at_) tell_reader(FrameType::aborted, "");
                end(*order);
            }
            break;
        case FrameType::suspend:
            suspend();
            break;
        case FrameType::resume:
            resume();
            break;
        case FrameType::limit:
            if (const auto order = decode<LimitOrder>(frame.payload)) set_limit(*order);
            break;
        case FrameType::input:
            ++inputs_;
            if (const auto chunk = decode<Chunk>(frame.payload)) take_input(*chunk);
            break;
        case FrameType::window:
            if (const auto size = decode<WindowSize>(frame.payload)) resize(*size);
            break;
        case FrameType::measure:
            if (const auto question = decode<Count>(frame.payload)) tell_usage(*question);
            break;
        case FrameType::discard:
            discards_ = true;
            unread_.clear();
            break;
        case FrameType::attach:
            if (const auto next = decode<Count>(frame.payload)) attach_reader(next->number);
            break;
        case FrameType::received:
            if (const auto count = decode<Count>(frame.payload)) unread_.forget_before(count->number);
            break;
        default:
            break;  // a newer spurd may know more than we do
    }
}

// ---- orders --------------------------------------------------------------------------------------------------------

void StepDaemon::signal_step(const SignalOrder& order) {
    const auto number = static_cast<int>(order.signal);
    if (number < 0 || number >= NSIG) return;
    if (number == SIGKILL && !spec_.is_batch()) tell_reader(FrameType::aborted, "");
    if (number == SIGKILL && !started_) return end({.has_wait = true});  // and nothing is to start
    if (order.target == SignalOrder::Target::everything) {
        containment_.signal_all(number);
    } else {
        for (const auto& task : tasks_) {
            if (task.state != Task::State::running) continue;
            kill(order.target == SignalOrder::Target::leaders ? task.pid : -task.pid, number);
        }
    }
    if (number == SIGKILL || number == SIGTERM) tell({});
}

// SIGCONT and SIGTERM now, SIGKILL once the wait is over. A second order may shorten the wait, never lengthen it.
void StepDaemon::end(const EndOrder& order) {
    if (order.timed_out && !kill_at_) result_.timed_out = true;
    const auto wait = std::chrono::seconds{order.has_wait ? order.wait_s : spec_.kill_wait_s};
    const auto deadline = Clock::now() + wait;
    if (kill_at_) {
        kill_at_ = std::min(*kill_at_, deadline);
    } else {
        kill_at_ = deadline;
        stop_at_.reset();
        if (suspended_) resume();
        containment_.signal_all(SIGCONT);
        if (wait > 0s) containment_.signal_all(SIGTERM);
    }
    if (order.tell) tell(order.because);
}

// Whoever asks often gets the same answer for a while.
void StepDaemon::tell_usage(const Count& question) {
    if (started_ && Clock::now() - sampled_ >= sample_pause) sample_tasks();
    Readings readings{.number = question.number, .usage = read_usage(), .tasks = meter_.tasks(), .pids = {}};
    for (const auto pid : meter_.pids()) readings.pids.push_back(static_cast<std::uint32_t>(pid));
    send(FrameType::usage, encode(readings));
}

void StepDaemon::tell(std::string_view because) {
    if (told_ || !spec_.tells || all_tasks_done()) return;
    told_ = true;
    auto line = std::string{"*** "} + (spec_.is_batch() ? "JOB " : "STEP ") + std::to_string(spec_.job);
    if (!spec_.is_batch()) line.append(".").append(step_name(spec_.step));
    line.append(" ON ").append(spec_.node);
    if (!because.starts_with("FAILED")) line.append(" CANCELLED AT ").append(local_time());
    if (!because.empty()) line.append(" ").append(because);
    if (!tasks_.empty()) say(tasks_.front(), line.append(" ***"));
}

// To the task's stderr, or to the file that stands for it.
void StepDaemon::say(const Task& task, const std::string& text) {
    const auto line = "slurmstepd: error: " + text + "\n";
    if (notice_file_ < 0) return forward(task, true, line, false);
    files_.write(notice_file_, line);
}

void StepDaemon::suspend() {
    if (suspended_ || kill_at_) return;
    suspended_ = true;
    suspended_since_ = boot_now();
    containment_.signal_all(SIGTSTP);
    stop_at_ = Clock::now() + stop_delay;
}

void StepDaemon::resume() {
    if (!suspended_) return;
    suspended_ = false;
    stop_at_.reset();
    containment_.stop_all(false);
    containment_.signal_all(SIGCONT);
    const auto lost = boot_now() - suspended_since_;
    if (spec_.end_boot_s != 0) spec_.end_boot_s += lost;
    if (spec_.own_end_boot_s != 0) spec_.own_end_boot_s += lost;
}

void StepDaemon::set_limit(const LimitOrder& order) {
    const auto own = spec_.own_end_boot_s;
    auto end = order.end_boot_s != 0 ? order.end_boot_s : boot_of(order.end_time);
    if (own != 0 && (end == 0 || own < end)) end = own;
    spec_.end_boot_s = end;
    if (end == 0 || boot_now() < end - spec_.warn_before_s) warned_ = false;
}

void StepDaemon::warn_tasks() {
    warned_ = true;
    if (spec_.warn_batch_only != spec_.is_batch()) return;  // B: the batch shell alone; otherwise all steps but it
    signal_step({spec_.warn_signal, spec_.is_batch() ? SignalOrder::Target::leaders : SignalOrder::Target::tasks});
}

void StepDaemon::take_input(const Chunk& chunk) {
    std::uint64_t taken = 0;
    bool wanted = false;
    for (auto& task : tasks_) {
        if (chunk.task != every_task && chunk.task != task.id) continue;
        wanted = true;
        taken = std::max(taken, task.input.add(chunk.data, chunk.eof));
    }
    if (!wanted) taken = chunk.data.size();
    if (taken > 0) send(FrameType::input_taken, encode(Count{taken}));
}

void StepDaemon::resize(const WindowSize& size) {
    for (const auto& task : tasks_)
        if (task.terminal >= 0 && task.output.is_open()) set_window(task.terminal, size.rows, size.columns);
}

}  // namespace spur::step
