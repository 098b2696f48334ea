// Forking salloc's command, passing the terminal to it, and ending it when the allocation ends.
#include "cli/submit/command_run.hpp"

#include "cli/common/job_text.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/script_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace spur::cli::submit {
namespace {

using namespace std::chrono_literals;

constexpr auto question_lasts = 60'000U;  // milliseconds; then it is asked again
constexpr auto pause_after_trouble = 1s;

// Asks the controller whether the job has ended, and tells when it has. A process of its own, since it waits for most
// of its life; it does not outlive us.
class AllocationWatch {
public:
    AllocationWatch(const Session& session, std::uint32_t job) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        const auto parent = ::getpid();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() == parent) watch(session, job, ends[1]);
            ::_exit(0);
        }
        ::close(ends[1]);
        fd_ = ends[0];
    }
    ~AllocationWatch() {
        if (fd_ >= 0) ::close(fd_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    AllocationWatch(const AllocationWatch&) = delete;
    AllocationWatch& operator=(const AllocationWatch&) = delete;

    // Readable once the job has ended. -1: nobody watches any more.
    int fd() const { return fd_; }

    // How it ended; nothing if the watcher has gone without a word.
    std::optional<JobState> take() {
        JobState state{};
        const bool told = ::read(fd_, &state, sizeof state) == static_cast<ssize_t>(sizeof state);
        ::close(std::exchange(fd_, -1));
        if (told) return state;
        return std::nullopt;
    }

private:
    static void watch(const Session& parents, std::uint32_t job, int out) {
        std::string controllers;
        for (const auto& endpoint : parents.cluster().controllers)
            controllers += (controllers.empty() ? "" : ",") + endpoint.text();
        v1::AwaitAllocationRequest request;
        request.set_job_id(job);
        request.set_timeout_ms(question_lasts);
        request.set_until_ended(true);
        auto session = Session::open(controllers);
        while (session) {
            const auto reply = session->call<v1::AwaitAllocationReply>(
                "AwaitAllocation", request, {.timeout = 90s, .idempotent = true, .metadata = {}, .long_poll = true});
            const bool gone = !reply && reply.error().code == ErrorCode::not_found;
            const auto state = reply ? job_state(reply->job()).state : JobState::cancelled;
            if (gone || (reply && job_state(reply->job()).is_finished())) {
                [[maybe_unused]] const auto written = ::write(out, &state, sizeof state);
                return;
            }
            if (!reply) std::this_thread::sleep_for(pause_after_trouble);  // a controller that restarts
        }
    }

    int fd_ = -1;
    pid_t pid_ = -1;
};

class CommandRun {
public:
    CommandRun(Session& session, const Console& console, std::uint32_t job, std::optional<int> kill_signal)
        : session_(session),
          console_(console),
          job_(job),
          kill_signal_(kill_signal),
          watch_(block_signals(session), job) {
        signal_fd_ = ::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
        has_terminal_ = ::isatty(STDIN_FILENO) && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    }
    ~CommandRun() {
        ::close(signal_fd_);
        ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    CommandRun(const CommandRun&) = delete;
    CommandRun& operator=(const CommandRun&) = delete;

    CommandEnd run(const std::vector<std::string>& command) {
        if (!start(command)) return {.status = 1 << 8};
        while (!over_) {
            pollfd waits[] = {{signal_fd_, POLLIN, 0}, {watch_.fd(), POLLIN, 0}};
            ::poll(waits, 2, -1);
            read_signals();
            if (over_ || waits[1].revents == 0) continue;
            if (const auto state = watch_.take()) revoke(*state);
        }
        take_terminal();
        return end_;
    }

private:
    // Before the watcher is born: it is not to be ended by what is meant for us.
    const Session& block_signals(const Session& session) {
        ::sigemptyset(&signals_);
        for (const int number : {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM}) ::sigaddset(&signals_, number);
        ::sigprocmask(SIG_BLOCK, &signals_, &before_);
        return session;
    }

    bool start(const std::vector<std::string>& command) {
        std::vector<char*> argv;
        for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ < 0) return console_.error("fork: {}", std::strerror(errno)), false;
        if (pid_ == 0) {
            if (has_terminal_) become_foreground(::getpid());
            for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTTOU}) ::signal(number, SIG_DFL);
            ::sigprocmask(SIG_SETMASK, &before_, nullptr);
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
        if (has_terminal_) become_foreground(pid_);  // both do: whoever comes first, it is done
        return true;
    }

    // A group of its own: what is typed concerns the command, not us.
    static void become_foreground(pid_t pid) {
        ::signal(SIGTTOU, SIG_IGN);
        ::setpgid(pid, pid);
        ::tcsetpgrp(STDIN_FILENO, pid);
    }
    void take_terminal() const {
        if (has_terminal_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
    }
    void signal_command(int number) const { ::kill(has_terminal_ ? -pid_ : pid_, number); }

    void read_signals() {
        signalfd_siginfo info{};
        while (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            switch (info.ssi_signo) {
                case SIGCHLD:
                    reap();
                    break;
                case SIGHUP:
                    over_ = end_.hung_up = true;
                    break;
                default:  // the allocation's end is told when the controller says so
                    if (!end_.revoked) release(session_, job_, 0);
            }
        }
    }

    void reap() {
        int status = 0;
        while (::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_) {
            if (WIFSTOPPED(status)) {  // ^Z: we stop with it, and go on with it
                take_terminal();
                ::kill(::getpid(), SIGSTOP);
                if (has_terminal_) ::tcsetpgrp(STDIN_FILENO, pid_);
                signal_command(SIGCONT);
                continue;
            }
            end_.status = status;
            over_ = true;
            return;
        }
    }

    void revoke(JobState state) {
        end_.revoked = true;
        if (state == JobState::timeout)
            console_.info("Job {} has exceeded its time limit and its allocation has been revoked.", job_);
        else
            console_.info("Job allocation {} has been revoked.", job_);
        if (kill_signal_)
            signal_command(*kill_signal_);
        else if (has_terminal_)
            signal_command(SIGHUP);
    }

    Session& session_;
    const Console& console_;
    std::uint32_t job_;
    std::optional<int> kill_signal_;
    sigset_t signals_{}, before_{};
    AllocationWatch watch_;
    int signal_fd_ = -1;
    bool has_terminal_ = false, over_ = false;
    pid_t pid_ = -1;
    CommandEnd end_;
};

}  // namespace

CommandEnd run_command(Session& session, const Console& console, std::uint32_t job,
                       const std::vector<std::string>& command, std::optional<int> kill_signal) {
    if (command.front().find('/') == std::string::npos &&
        ::access(find_program(command.front(), ".", true).c_str(), X_OK) != 0) {
        console.error("_fork_command: Unable to find command \"{}\"", command.front());
        return {.status = 1 << 8};
    }
    return CommandRun(session, console, job, kill_signal).run(command);
}

}  // namespace spur::cli::submit
