// Running a step: a stream to each of its agents, our stdin to the tasks, their output to us, signals both ways.
#pragma once

#include "cli/common/session.hpp"
#include "cli/srun/step_request.hpp"
#include "cli/srun/task_output.hpp"
#include "cli/srun/task_states.hpp"

#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spur::cli::srun {

// What runs in one component of the job: the whole step where there is only one.
struct StepPart {
    v1::CreateStepReply step;
    v1::StepLaunch launch;  // for each of its agents; the node's name is filled in
};

struct RunSettings {
    StreamPlan input;
    TaskOutput::Settings output;
    std::string work_dir;
    PatternValues values;  // for file names
    bool pty = false;
    bool kill_on_bad_exit = false;
    bool forward_interrupt = false;  // -X: the first Ctrl-C already
    bool quit_on_interrupt = false;
    std::uint32_t wait_s = 0;        // after the first task's end; 0: for ever
    std::uint32_t kill_wait_s = 30;  // what tasks are given to end in
};

using JobNodes = std::set<std::pair<std::uint32_t, std::string>>;  // the component's job id, and a node of it

class StepRun {
public:
    StepRun(Session& session, const Console& console, std::vector<StepPart> parts, RunSettings settings);
    ~StepRun();

    // Until every task has ended. The exit code is that of tasks().
    int run();
    const TaskStates& tasks() const { return tasks_; }
    JobNodes begun() const;  // where agents have taken the step over

private:
    using Clock = std::chrono::steady_clock;
    // Messages for the tasks' stdin, as long as the step may ask for them again.
    struct Inputs {
        std::deque<std::string> kept;
        std::uint64_t first = 0;  // the number of the first
        std::size_t bytes = 0;
        void add(const std::string& message);
        void forget_before(std::uint64_t number);
    };
    struct Agent {
        const StepPart* part;
        std::string node, address;
        std::vector<std::uint32_t> tasks;
        std::unique_ptr<wire::Channel> channel;
        std::optional<wire::Stream> stream;
        bool over = false;   // all its tasks have ended, or it is lost
        bool begun = false;  // it has said something about them

        // An agent may be restarted while the step goes on.
        std::uint64_t received = 0, confirmed = 0;  // messages of the step
        std::size_t unconfirmed_bytes = 0;
        Inputs inputs;
        std::vector<std::string> held;                            // signals and the like, until it is back
        std::optional<Clock::time_point> lost_at, look_again_at;  // the stream broke; it is looked for again
        std::string why;
    };

    void connect();
    void open_stream(Agent& agent, const v1::StepInput& first, Clock::duration patience);
    void miss(Agent& agent, std::string why);
    void look_for(Agent& agent);
    void resume(Agent& agent, std::uint64_t inputs);
    void count(Agent& agent, std::size_t bytes, bool at_once);
    void send(Agent& agent, const v1::StepInput& message);
    void connect(const StepPart& part, const v1::TaskLayout& layout);
    void end_input_of_others();
    void open_input();
    [[nodiscard]] bool is_over() const;
    void pump();
    void drain_agents();
    void take(Agent& agent, const v1::StepOutput& message, std::size_t bytes);
    void lose(Agent& agent, std::string_view why, int exit_code = 137);
    void read_input();
    void on_signal(int number);
    void interrupt();
    void abort_step();
    void announce_abort();
    void terminate_step(int number);
    void send_all(const v1::StepInput& message);
    void send_signal(int number);
    void send_window();
    void tell_exits();
    void check_timers();
    bool input_may_flow() const;

    Session& session_;
    const Console& console_;
    std::string step_id_;  // "12.0"
    std::vector<StepPart> parts_;
    RunSettings settings_;
    TaskStates tasks_;
    std::optional<TaskOutput> output_;
    std::vector<Agent> agents_;
    int signal_fd_ = -1;
    int input_fd_ = -1;  // -1: nothing (more) to send
    bool owns_input_ = false;
    Clock::time_point last_interrupt_{};
    std::optional<Clock::time_point> first_exit_, abort_at_, kill_at_;
    bool terminating_ = false;
    bool aborted_ = false;      // and said so
    bool interrupted_ = false;  // aborted by Ctrl-C: how tasks die of it is not told
    bool failed_to_launch_ = false;
};

}  // namespace spur::cli::srun
