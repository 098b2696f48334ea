// The life of one step on one node: starts its tasks, moves their bytes, enforces its limits, and ends when the last
// process has gone. One thread, one loop. It needs spurd to be told things, not to live.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemons/spurstepd/boot_clock.hpp"
#include "daemons/spurstepd/containment.hpp"
#include "daemons/spurstepd/environment.hpp"
#include "daemons/spurstepd/frame.hpp"
#include "daemons/spurstepd/login_shell.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "daemons/spurstepd/task.hpp"
#include "daemons/spurstepd/unread_frames.hpp"
#include "daemons/spurstepd/usage_meter.hpp"

struct pollfd;

namespace spur::step {

class StepDaemon {
public:
    // `connection` is spurd's; `cgroup` outlives it.
    StepDaemon(LaunchSpec spec, FrameSocket connection, const CgroupChoice& cgroup);

    // Runs the step to its end. The result is in the job's directory when this returns.
    void run();

private:
    using Clock = std::chrono::steady_clock;

    // starting and finishing
    struct Hooks;  // what hangs on each phase, in order
    Result<void> watch_children();
    Result<void> go_to_directory();
    Result<void> contain();
    Result<void> take_early_orders();
    Result<void> load_environment();
    void load_login_environment();
    Result<void> open_files();
    Result<void> start_tasks();
    [[nodiscard]] bool is_ending() const { return kill_at_.has_value(); }
    void end_unstarted();
    void fail_containment(const std::string& why);
    Result<void> start_task(Task& task);
    void connect_streams(Task& task);
    void note_exit(Task& task);
    void start_epilog(Task& task);
    void check_memory();
    void drain_streams();
    void drain(Task& task, OutputStream& stream, bool error_stream);
    void write_out();
    void measure();
    [[nodiscard]] StepUsage read_usage() const;
    void end_containment();
    void report();
    void write_result() const;
    [[nodiscard]] bool all_tasks_done() const;
    [[nodiscard]] static bool has_children();

    // the loop
    void loop();
    void wait_once();
    [[nodiscard]] int wait_ms() const;
    void add_streams(std::vector<pollfd>& waits, std::vector<std::pair<Task*, int>>& owners);
    void serve(const pollfd& ready, Task& task, int stream);
    void reap();
    void check_time();
    void sample_tasks();
    void check_resident();
    void take_events();
    // A step that starts slowly is warned once its tasks are there to hear it.
    [[nodiscard]] bool is_warning_due() const { return spec_.warn_signal != 0 && !warned_ && started_; }
    void clear_leftovers();
    void kill_everything();

    // spurd
    void greet();
    Result<void> listen();
    void accept_connection();
    void read_connection();
    void take_order(Frame frame);
    void obey(const Frame& frame);
    void drop_connection();
    void send(FrameType type, const std::string& payload);
    void tell_reader(FrameType type, std::string payload);
    [[nodiscard]] bool is_read() const { return connection_.is_open() && has_reader_; }
    void attach_reader(std::uint64_t next);
    void deliver();
    void forward(const Task& task, bool error_stream, std::string_view data, bool eof);
    void write_labelled(const Task& task, int file, std::string_view lines);
    void log(char level, const std::string& text);

    // what it is told to do
    void signal_step(const SignalOrder& order);
    void end(const EndOrder& order);
    void suspend();
    void resume();
    void set_limit(const LimitOrder& order);
    void take_input(const Chunk& chunk);
    void resize(const WindowSize& size);
    void tell_usage(const Count& question);
    void tell(std::string_view because);
    void say(const Task& task, const std::string& text);
    void warn_tasks();

    LaunchSpec spec_;
    FrameSocket connection_;
    UnreadFrames unread_;       // of a step that srun started
    bool has_reader_{true};     // at the other end of the connection
    std::uint64_t inputs_{0};   // frames that have arrived
    std::vector<Frame> early_;  // orders for tasks that have not been started yet
    Containment containment_;
    UserFiles files_;
    std::optional<LoginShell> login_;  // while it is asked
    Environment environment_;          // of every task
    std::vector<Task> tasks_;
    StepResult result_;
    UsageMeter meter_;
    Clock::time_point sampled_{};  // when it last looked
    std::uint64_t oom_kills_{0};   // that the log has been told of
    Descriptor listener_, child_events_;
    int notice_file_{-1};  // messages about the step go there
    bool started_{false}, discards_{false}, warned_{false}, suspended_{false}, told_{false};
    bool over_memory_{false};  // it was found to have too much, and is killed for it

    std::optional<Clock::time_point> sample_at_;  // the tasks are measured
    std::optional<Clock::time_point> kill_at_;    // ending: SIGKILL is due
    std::optional<Clock::time_point> stop_at_;    // suspending: SIGTSTP was sent, everything stops at
    std::optional<Clock::time_point> tell_at_;    // killing: spurd is to hear of it
    std::optional<Clock::time_point> write_by_;   // ending: what the user's files have not taken by then is lost
    std::optional<Clock::time_point> gone_by_;    // everything was killed: what is left by then is unkillable
    std::int64_t suspended_since_{};              // by boot_now()
};

}  // namespace spur::step
