// salloc: allocate nodes, and run a command or a shell with them.
#include "cli/submit/salloc.hpp"

#include "cli/common/session.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/request.hpp"
#include "cli/submit/script_file.hpp"

#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace spur::cli {
namespace {

using namespace submit;

std::vector<std::string> shell() {
    const char* name = std::getenv("SHELL");
    if (name == nullptr || *name == '\0')
        if (const auto* user = ::getpwuid(::getuid())) name = user->pw_shell;
    return {name && *name ? name : "/bin/sh", "-i"};
}

// The command as a child, in the foreground of our terminal if it is interactive. Signals are its business while it
// runs; only SIGTERM is passed on and SIGHUP ends us.
class Child {
public:
    explicit Child(const std::vector<std::string>& command) {
        std::vector<char*> argv;
        for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
    }
    pid_t pid() const { return pid_; }

    int wait() const {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
            if (hung_up) return 0;
        }
        return status;
    }

    static inline volatile sig_atomic_t hung_up = 0;
    static inline volatile pid_t forward_to = 0;

private:
    pid_t pid_ = -1;
};

void on_signal(int number) {
    if (number == SIGHUP) Child::hung_up = 1;
    if (number == SIGTERM && Child::forward_to > 0) ::kill(Child::forward_to, SIGTERM);
}

void handle_signals() {
    struct sigaction act {};
    act.sa_handler = on_signal;
    ::sigemptyset(&act.sa_mask);
    for (const int number : {SIGHUP, SIGTERM}) ::sigaction(number, &act, nullptr);
    for (const int number : {SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(number, SIG_IGN);
}

void default_signals() {
    for (const int number : {SIGHUP, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(number, SIG_DFL);
}

int run_command(const Console& console, const std::vector<std::string>& command) {
    if (command.front().find('/') == std::string::npos &&
        ::access(find_program(command.front(), ".", true).c_str(), X_OK) != 0) {
        console.error("_fork_command: Unable to find command \"{}\"", command.front());
        return 1 << 8;
    }
    sigset_t none;
    ::sigemptyset(&none);
    default_signals();
    const Child child(command);
    Child::forward_to = child.pid();
    handle_signals();
    if (child.pid() < 0) {
        console.error("fork: {}", std::strerror(errno));
        return 1 << 8;
    }
    return child.wait();
}

// The job's components in order; just the job if they cannot be asked for.
std::vector<v1::Job> components_of(Session& session, const v1::Job& job) {
    v1::ListJobsRequest request;
    request.add_ids(fmt::format("{}", job.id()));
    const auto reply = session.call<v1::ListJobsReply>("ListJobs", request);
    if (!reply || reply->jobs().empty()) return {job};
    std::vector<v1::Job> jobs(reply->jobs().begin(), reply->jobs().end());
    std::ranges::sort(jobs, {}, &v1::Job::het_offset);
    return jobs;
}

}  // namespace

int run_salloc(Invocation& self) {
    auto split = split_command_line(salloc, self.words);
    if (split.outcome.end != ParseEnd::go_on) return leave(self.console, salloc, split.outcome);
    auto read = read_components(salloc, split.line, {}, true);
    if (read.outcome.end != ParseEnd::go_on) return leave(self.console, salloc, read.outcome);
    auto& options = read.components.front();
    if (options.quiet) self.console.quiet();

    const auto submitter = Submitter::here(self.words);
    AllocationRequest request{{}, salloc, options.quiet, options.immediate_s, "Job submit/allocate failed"};
    for (std::size_t i = 0; i < read.components.size(); ++i) {
        auto& component = read.components[i];
        static_cast<void>(complete(salloc, component, submitter));
        component.spec.set_kind(v1::JobSpec::ALLOCATION);
        component.spec.set_het_offset(static_cast<std::uint32_t>(i));
        if (component.spec.name().empty()) component.spec.set_name("interactive");
        *request.submit.add_components() = component.spec;
    }
    request.submit.set_request_id(new_request_id());

    auto session = Session::open(self.controller);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("Job submit/allocate failed: {}", session.error().text);
        return error_exit_code(1);
    }
    const auto job = allocate(*session, self.console, request);
    if (!job) return job.error();
    self.console.info("Granted job allocation {}", job->id());
    if (options.bell && !options.no_bell && ::isatty(STDOUT_FILENO)) fmt::print(stderr, "\a");
    if (options.no_shell) return 0;

    const auto ping = session->call<v1::PingReply>("Ping", v1::PingRequest{});
    const auto cluster = ping ? ping->cluster() : std::string{};
    auto variables = allocation_variables(*job, options, cluster, submitter.directory, submitter.host);
    if (read.components.size() > 1)
        variables = component_variables(components_of(*session, *job), read.components, cluster, submitter.directory,
                                        submitter.host);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    if (!options.chdir.empty() && ::chdir(options.chdir.c_str()) != 0)
        self.console.error("chdir({}): {}", options.chdir, std::strerror(errno));

    const int status = run_command(self.console, split.line.command.empty() ? shell() : split.line.command);
    self.console.info("Relinquishing job allocation {}", job->id());
    release(*session, job->id(), static_cast<std::uint32_t>(status));
    if (read.components.size() > 1) self.console.info("Job allocation {} has been revoked.", job->id());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace spur::cli
