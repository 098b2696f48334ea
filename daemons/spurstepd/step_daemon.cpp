// Starting the tasks, the loop that serves them, and the end of the step.
#include "daemons/spurstepd/step_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/slurm/phase.hpp"
#include "core/slurm/refusal.hpp"
#include "daemons/spurstepd/program.hpp"

namespace spur::step {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t launch_failed_status = 53;   // what Slurm's listings show for it: 0:53
constexpr std::uint32_t out_of_memory_status = 125;  // 0:125
constexpr auto leftover_pause = 100ms;               // between rounds of SIGKILL
constexpr auto unkillable_after = 60s;
constexpr auto sign_of_life = 1s;    // how often spurd hears that everything is being killed
constexpr auto write_patience = 3s;  // once a step is being ended: for files to take the rest of its output
constexpr auto longest_wait = 60s;
constexpr std::size_t output_backlog = 1U << 20;
const std::string cannot_contain = "Step cannot be contained: ";

std::int64_t unix_now() { return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()); }

std::uint64_t microseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

StepDaemon::StepDaemon(LaunchSpec spec, FrameSocket connection, const CgroupChoice& cgroup)
    : spec_{std::move(spec)}, connection_{std::move(connection)}, containment_{cgroup, spec_}, files_{spec_} {
    result_.job = spec_.job;
    result_.attempt = spec_.attempt;
    result_.step = spec_.step;
    if (spec_.end_boot_s == 0) spec_.end_boot_s = boot_of(spec_.end_time);
    if (spec_.own_end_boot_s == 0) spec_.own_end_boot_s = boot_of(spec_.own_end_time);
    for (std::size_t i = 0; i < spec_.tasks.size(); ++i) {
        auto& task = tasks_.emplace_back();
        task.id = spec_.tasks[i].id;
        task.index = i;
    }
}

// What hangs on each phase of a step, in order; see core/slurm/phase.hpp. What happens in a task's own process is in
// program.cpp.
struct StepDaemon::Hooks {
    static constexpr Hook<Result<void> (StepDaemon::*)()> begin[]{
        {Phase::init, &StepDaemon::watch_children},
        {Phase::init, &StepDaemon::go_to_directory},
        {Phase::init, &StepDaemon::listen},
        {Phase::init, &StepDaemon::contain},
        {Phase::user_init, &StepDaemon::take_early_orders},
        {Phase::user_init, &StepDaemon::load_environment},
        {Phase::user_init, &StepDaemon::open_files},
    };
    static constexpr Hook<void (StepDaemon::*)(Task&)> task[]{
        {Phase::task_post_fork, &StepDaemon::connect_streams},
        {Phase::task_exit, &StepDaemon::note_exit},
        {Phase::task_exit, &StepDaemon::start_epilog},
    };
    static constexpr Hook<void (StepDaemon::*)()> end[]{
        {Phase::exit, &StepDaemon::check_memory},  // before the end of stderr
        {Phase::exit, &StepDaemon::drain_streams},   {Phase::exit, &StepDaemon::write_out},
        {Phase::exit, &StepDaemon::deliver},         {Phase::exit, &StepDaemon::measure},
        {Phase::exit, &StepDaemon::end_containment}, {Phase::exit, &StepDaemon::report},
    };
    static_assert(is_in_order(begin) && is_in_order(task) && is_in_order(end));
};

void StepDaemon::run() {
    greet();
    auto ready = run_phase(Hooks::begin, Phase::init, *this);
    const bool prepared = ready.has_value();
    if (ready) ready = run_phase(Hooks::begin, Phase::user_init, *this);
    if (ready) ready = start_tasks();
    if (!ready) {
        result_.launch_failed = true;
        result_.user_error = prepared && ready.error().code == ErrorCode::invalid;
        result_.status = launch_failed_status;
        result_.error = ready.error().text;
        containment_.signal_all(SIGKILL);
    }
    if (ready) loop();
    run_phase(Hooks::end, Phase::exit, *this);
}

Result<void> StepDaemon::watch_children() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    child_events_ = Descriptor{signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!child_events_) return fail(ErrorCode::unavailable, "signalfd: {}", std::strerror(errno));
    return {};
}

Result<void> StepDaemon::go_to_directory() {
    if (chdir(spec_.directory.c_str()) == 0) return {};
    return fail(ErrorCode::unavailable, "{}: {}", spec_.directory, std::strerror(errno));
}

Result<void> StepDaemon::contain() {
    containment_.set_log([this](char level, const std::string& line) { log(level, line); });
    auto made = containment_.prepare(spec_);
    if (!made) fail_containment(made.error().text);
    return made;
}

// Nothing runs here that cannot be held to its limits and killed. The node is drained until somebody has looked.
void StepDaemon::fail_containment(const std::string& why) {
    result_.launch_failed = true;
    result_.status = launch_failed_status;
    result_.error = why;
    result_.drain = cannot_contain + why;
}

// ---- starting ------------------------------------------------------------------------------------------------------

// What came right after the spec is in the buffer already, where poll() does not see it.
Result<void> StepDaemon::take_early_orders() {
    read_connection();
    return {};
}

Result<void> StepDaemon::load_environment() {
    if (spec_.load_user_environment) load_login_environment();
    environment_.put_all(spec_.environment);
    return {};
}

Result<void> StepDaemon::start_tasks() {
    if (is_ending()) return end_unstarted(), Result<void>{};
    for (auto& task : tasks_) SPUR_CHECK(start_task(task));
    started_ = true;
    if (spec_.sample_s != 0) sample_at_ = Clock::now() + std::chrono::seconds{spec_.sample_s};
    if (suspended_) stop_at_ = Clock::now();  // it was told so before there was anything to stop
    for (const auto& frame : std::exchange(early_, {})) obey(frame);
    Started started;
    for (const auto& task : tasks_) started.tasks.push_back({task.id, static_cast<std::uint32_t>(task.pid)});
    tell_reader(FrameType::started, encode(started));
    return {};
}

// The user's profile may take its time: orders and limits count meanwhile.
void StepDaemon::load_login_environment() {
    auto login = LoginShell::start(spec_, containment_);
    if (!login) return log('2', "the user's environment could not be loaded: " + login.error().text);
    login_ = *std::move(login);
    while (!login_->is_over() && !is_ending()) wait_once();
    containment_.signal_all(SIGKILL);  // there is nothing else yet
    if (const auto found = login_->environment())
        environment_.put_all(*found);
    else if (!is_ending())
        log('2', "the user's environment could not be loaded: " + found.error().text);
    login_.reset();
}

Result<void> StepDaemon::open_files() {
    SPUR_CHECK(files_.begin());
    while (files_.is_opening() && !is_ending()) wait_once();
    return files_.opened();
}

// Told to end before there were tasks: they end as if they had been told themselves.
void StepDaemon::end_unstarted() {
    for (auto& task : tasks_) {
        task.state = Task::State::done;
        task.status = SIGTERM;
    }
    result_.status = SIGTERM;
}

Result<void> StepDaemon::start_task(Task& task) {
    const auto& spec = spec_.tasks[task.index];
    auto& streams = task.streams;
    SPUR_TRY(streams, open_streams(spec_, task.index, files_));
    if (notice_file_ < 0) notice_file_ = files_.output(spec.std_err);

    Program program;
    program.argv = spec.argv.empty() ? spec_.argv : spec.argv;
    if (program.argv.empty()) return fail(ErrorCode::invalid, "task {} has no command", task.id);
    program.environment = environment_;
    program.environment.put_all(spec.environment);
    program.in = streams.in_fd;
    program.out = streams.out_fd;
    program.err = streams.err_fd;
    program.terminal = streams.terminal;
    program.task = task.index;
    program.cpu_list = spec.cpu_list;
    if (spec_.bind_verbose) program.bind_label = fmt::format("{}, task {:2} {:2}", spec_.node, task.id, task.index);
    program.prolog = spec_.task_prolog;
    program.user_prolog = spec_.user_task_prolog;
    SPUR_TRY(task.pid, start(program, spec_, containment_));
    task.state = Task::State::running;
    meter_.add(task.id, task.pid);
    run_phase(Hooks::task, Phase::task_post_fork, *this, task);
    return {};
}

void StepDaemon::connect_streams(Task& task) {
    auto streams = std::exchange(task.streams, {});
    streams.close_task_ends();
    const bool whole_lines = !spec_.unbuffered && !streams.terminal;
    if (streams.terminal) task.terminal = streams.from_out.get();
    task.out_file = streams.out_file;
    task.err_file = streams.err_file;
    task.input.open(std::move(streams.to_task), streams.terminal);
    task.output.open(std::move(streams.from_out), whole_lines);
    task.error.open(std::move(streams.from_err), whole_lines);
}

// Runs as the user after the task, like its prolog; what it prints is lost, as in Slurm.
void StepDaemon::start_epilog(Task& task) {
    task.state = Task::State::done;
    const auto& scripts = {spec_.user_task_epilog, spec_.task_epilog};
    std::string command;
    for (const auto& script : scripts)
        if (!script.empty()) command.append(command.empty() ? "" : "; ").append("'" + script + "'");
    if (command.empty() || kill_at_) return;
    const Descriptor null{open("/dev/null", O_RDWR | O_CLOEXEC)};
    Program program;
    program.argv = {"/bin/sh", "-c", command};
    program.environment.put_all(spec_.environment);
    program.environment.put_all(spec_.tasks[task.index].environment);
    program.environment.set("SLURM_SCRIPT_CONTEXT", "epilog_task");
    program.in = program.out = program.err = null.get();
    program.task = task.index;
    const auto pid = start(program, spec_, containment_);
    if (!pid) return log('2', "task epilog: " + pid.error().text);
    task.pid = *pid;
    task.state = Task::State::epilog;
}

// ---- the loop ------------------------------------------------------------------------------------------------------

bool StepDaemon::all_tasks_done() const {
    return std::ranges::all_of(tasks_, [](const Task& task) { return task.state == Task::State::done; });
}

// Whatever lives on below a task that has ended is a child of ours: no children, nothing left of the step.
bool StepDaemon::has_children() {
    pid_t pid{};
    do pid = waitpid(-1, nullptr, WNOHANG);
    while (pid > 0);
    return pid == 0;
}

void StepDaemon::loop() {
    reap();
    while (true) {
        if (all_tasks_done()) {
            if (!has_children()) return;
            clear_leftovers();
            if (gone_by_ && Clock::now() > *gone_by_) {
                result_.error = "processes of the step could not be killed";
                result_.drain = refusal::kill_failed.sentence;
                return;
            }
        }
        wait_once();
    }
}

void StepDaemon::clear_leftovers() {
    if (suspended_) resume();
    kill_everything();
}

void StepDaemon::kill_everything() {
    const auto now = Clock::now();
    if (!gone_by_) gone_by_ = now + unkillable_after;
    containment_.signal_all(SIGKILL);
    if (tell_at_ && now < *tell_at_) return;
    tell_at_ = now + sign_of_life;
    send(FrameType::killing, "");
}

int StepDaemon::wait_ms() const {
    auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(longest_wait);
    const auto no_longer_than = [&](std::chrono::milliseconds limit) { wait = std::clamp(limit, 0ms, wait); };
    const auto until = [&](const std::optional<Clock::time_point>& moment) {
        if (moment) no_longer_than(std::chrono::ceil<std::chrono::milliseconds>(*moment - Clock::now()));
    };
    until(sample_at_);
    until(kill_at_);
    until(stop_at_);
    until(write_by_);
    if (gone_by_) no_longer_than(leftover_pause);
    if (login_) no_longer_than(1s);
    if (spec_.end_boot_s != 0 && !suspended_ && !kill_at_) {
        const auto now = boot_now();
        no_longer_than(std::chrono::seconds{spec_.end_boot_s - now});
        if (is_warning_due()) no_longer_than(std::chrono::seconds{spec_.end_boot_s - spec_.warn_before_s - now});
    }
    return static_cast<int>(wait.count());
}

void StepDaemon::add_streams(std::vector<pollfd>& waits, std::vector<std::pair<Task*, int>>& owners) {
    const auto add = [&](Task& task, int stream, int fd, short events) {
        waits.push_back({fd, events, 0});
        owners.emplace_back(&task, stream);
    };
    const bool forwards =
        discards_ || (is_read() ? connection_.unsent() < output_backlog : unread_.bytes() < UnreadFrames::limit);
    const auto takes = [&](int file) { return file >= 0 ? files_.unwritten(file) < output_backlog : forwards; };
    for (auto& task : tasks_) {
        if (task.output.is_open() && takes(task.out_file)) add(task, 1, task.output.fd(), POLLIN);
        if (task.error.is_open() && takes(task.err_file)) add(task, 2, task.error.fd(), POLLIN);
        if (task.input.is_waiting()) add(task, 0, task.input.fd(), POLLOUT);
    }
}

void StepDaemon::wait_once() {
    std::vector<pollfd> waits{{child_events_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    std::vector<std::pair<Task*, int>> owners;
    const short wanted = connection_.unsent() > 0 ? POLLIN | POLLOUT : POLLIN;
    waits.push_back({connection_.fd(), wanted, 0});  // -1 is ignored by poll
    waits.push_back({files_.news_fd(), POLLIN, 0});
    waits.push_back({login_ ? login_->fd() : -1, POLLIN, 0});
    waits.push_back({containment_.events_fd(), POLLIN, 0});
    const auto first_stream = waits.size();
    add_streams(waits, owners);
    if (poll(waits.data(), waits.size(), wait_ms()) < 0 && errno != EINTR) return;

    for (std::size_t i = 0; i < owners.size(); ++i)
        if (waits[first_stream + i].revents != 0) serve(waits[first_stream + i], *owners[i].first, owners[i].second);
    if (waits[3].revents != 0) files_.take_news();
    if (waits[4].revents != 0) login_->pump();
    if (waits[5].revents != 0) take_events();
    if (waits[2].revents & POLLOUT && !connection_.flush()) drop_connection();
    if (waits[2].revents & (POLLIN | POLLHUP | POLLERR)) read_connection();
    if (waits[1].revents != 0) accept_connection();
    if (waits[0].revents != 0) reap();
    check_time();
}

void StepDaemon::serve(const pollfd&, Task& task, int stream) {
    const bool error_stream = stream == 2;
    const auto onward = [&](std::string_view data, bool eof) { forward(task, error_stream, data, eof); };
    if (stream == 1) task.output.pump(onward);
    if (stream == 2) task.error.pump(onward);
    if (stream == 0)
        if (const auto bytes = task.input.pump(); bytes > 0) send(FrameType::input_taken, encode(Count{bytes}));
}

void StepDaemon::reap() {
    signalfd_siginfo info;
    while (read(child_events_.get(), &info, sizeof info) == sizeof info) {
    }
    while (true) {
        siginfo_t ended{};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) break;
        const auto pid = ended.si_pid;
        meter_.read_last(pid);
        int status{};
        rusage used{};
        if (wait4(pid, &status, WNOHANG, &used) != pid) break;
        meter_.end(pid, used);
        const auto task = std::ranges::find(tasks_, pid, &Task::pid);
        if (task == tasks_.end() || task->state == Task::State::done) continue;
        if (task->state == Task::State::epilog) {
            task->state = Task::State::done;
            if (status != 0) say(*task, "--task-epilog failed status=" + std::to_string(status));
            continue;
        }
        task->status = static_cast<std::uint32_t>(status);
        run_phase(Hooks::task, Phase::task_exit, *this, *task);
    }
}

void StepDaemon::note_exit(Task& task) {
    const auto status = static_cast<int>(task.status);
    if (const auto outside = containment_.entry_failure(task.index, status); !outside.empty()) {
        fail_containment(outside);
        containment_.signal_all(SIGKILL);
    }
    task.input.close();
    result_.status = std::max(result_.status, task.status);
    const bool oom =
        WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && (over_memory_ || containment_.oom_kills() > 0);
    tell_reader(FrameType::task_exit, encode(TaskExit{task.id, task.status, oom}));
}

// The user hears of it at the end, as from Slurm; the log of the node at once.
void StepDaemon::take_events() {
    const auto kills = containment_.take_events();
    if (kills > oom_kills_)
        log('2', fmt::format("the kernel has killed {} of its processes for want of memory", kills - oom_kills_));
    oom_kills_ = std::max(oom_kills_, kills);
}

void StepDaemon::check_time() {
    const auto now = Clock::now();
    if (kill_at_ && now >= *kill_at_) {
        kill_at_ = now + leftover_pause;
        kill_everything();
    }
    if (stop_at_ && now >= *stop_at_) {
        stop_at_.reset();
        containment_.stop_all(true);
    }
    if (sample_at_ && now >= *sample_at_) {
        sample_at_ = now + std::chrono::seconds{spec_.sample_s};
        sample_tasks();
    }
    if (spec_.end_boot_s == 0 || suspended_ || kill_at_) return;
    const auto boot = boot_now();
    if (is_warning_due() && boot >= spec_.end_boot_s - spec_.warn_before_s) warn_tasks();
    if (boot < spec_.end_boot_s) return;
    if (spec_.end_boot_s != spec_.own_end_boot_s) tell_reader(FrameType::aborted, "");
    end(EndOrder{.tell = true, .because = "DUE TO TIME LIMIT", .timed_out = true});
}

void StepDaemon::sample_tasks() {
    if (all_tasks_done()) return sample_at_.reset();
    sampled_ = Clock::now();
    meter_.sample(getpid());
    check_resident();
}

// For where no cgroup holds the step to its memory.
void StepDaemon::check_resident() {
    const auto limit = spec_.memory_mib << 20;
    if (!spec_.kill_over_memory || limit == 0 || kill_at_ || meter_.resident_bytes() <= limit) return;
    over_memory_ = true;
    say(tasks_.front(), fmt::format("StepId={} exceeded memory limit ({} > {}), being killed", spec_.label,
                                    meter_.resident_bytes(), limit));
    say(tasks_.front(), "Exceeded job memory limit");
    if (!spec_.is_batch()) tell_reader(FrameType::aborted, "");
    end({.tell = true, .has_wait = true});
}

// ---- finishing -----------------------------------------------------------------------------------------------------

void StepDaemon::drain_streams() {
    for (auto& task : tasks_) {
        drain(task, task.output, false);
        drain(task, task.error, true);
    }
}

// Every writer is dead: the pipe holds all that will ever come.
void StepDaemon::drain(Task& task, OutputStream& stream, bool error_stream) {
    const auto onward = [&](std::string_view data, bool eof) { forward(task, error_stream, data, eof); };
    for (int round = 0; stream.is_open() && round < 1000; ++round) {
        pollfd wait{stream.fd(), POLLIN, 0};
        if (poll(&wait, 1, 0) <= 0) break;
        stream.pump(onward);
    }
    stream.finish(onward);
}

// Waits for the user's files to take what is for them, however slow they are, until the step is told to end.
void StepDaemon::write_out() {
    while (const auto bytes = files_.unwritten()) {
        if (!write_by_ && is_ending()) write_by_ = Clock::now() + write_patience;
        if (write_by_ && Clock::now() >= *write_by_)
            return log('2', std::to_string(bytes) + " bytes were lost: the files that they are for do not take them");
        wait_once();
    }
}

void StepDaemon::check_memory() {
    const auto kills = containment_.oom_kills();
    if (tasks_.empty() || (kills == 0 && !over_memory_)) return;
    result_.oom = true;
    result_.status = out_of_memory_status;
    if (kills == 0) return;  // the user has been told
    say(tasks_.front(), fmt::format("Detected {} oom-kill event(s) in StepId={}. Some of your processes may have been "
                                    "killed by the cgroup out-of-memory handler.",
                                    kills, spec_.label));
}

// Of the step as a whole: as its cgroup counts, else what its processes had that have ended.
StepUsage StepDaemon::read_usage() const {
    rusage all{};
    getrusage(RUSAGE_CHILDREN, &all);
    StepUsage usage{.user_us = microseconds(all.ru_utime),
                    .system_us = microseconds(all.ru_stime),
                    .max_rss_kib = static_cast<std::uint64_t>(all.ru_maxrss),
                    .read_bytes = static_cast<std::uint64_t>(all.ru_inblock) * 512,
                    .write_bytes = static_cast<std::uint64_t>(all.ru_oublock) * 512};
    containment_.read_usage(usage);
    return usage;
}

void StepDaemon::measure() {
    result_.usage = read_usage();
    // Peaks are those of a task: what a cgroup counts has the files in it that the kernel keeps in memory.
    if (containment_.counts_usage()) meter_.set_cpu_if_single(result_.usage.user_us + result_.usage.system_us);
    result_.tasks = meter_.tasks();
    for (const auto& task : result_.tasks)
        result_.usage.max_rss_kib =
            std::max(result_.usage.max_rss_kib, task.values[static_cast<std::size_t>(Measured::rss_bytes)] / 1024);
    result_.time = unix_now();
}

void StepDaemon::end_containment() {
    if (!containment_.remove()) result_.drain = refusal::kill_failed.sentence;
    const auto broken = containment_.breakdown();
    if (!broken.empty() && result_.drain.empty()) result_.drain = cannot_contain + broken;
}

void StepDaemon::report() {
    write_result();
    unlink(socket_name(spec_.step).c_str());
    send(FrameType::finished, encode(result_));
    for (int round = 0; connection_.is_open() && connection_.unsent() > 0 && round < 100; ++round) {
        pollfd wait{connection_.fd(), POLLOUT, 0};
        if (poll(&wait, 1, 100) > 0 && !connection_.flush()) drop_connection();
    }
}

// In one write: a torn file could only come from a crash of the machine, and then the step is lost anyway.
void StepDaemon::write_result() const {
    const auto bytes = encode(result_);
    const int fd = open(result_name(spec_.step).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    [[maybe_unused]] const auto written = write(fd, bytes.data(), bytes.size());
    close(fd);
}

}  // namespace spur::step
