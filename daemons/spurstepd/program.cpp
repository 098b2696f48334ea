// What happens between fork and exec, in order.
#include "daemons/spurstepd/program.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/slurm/phase.hpp"

namespace spur::step {

namespace {

constexpr unsigned cpu_count = 8192, bits = 8 * sizeof(unsigned long);

// To the stderr of the program that is about to start.
void complain(const std::string& text) {
    const auto line = "slurmstepd: error: " + text + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

[[noreturn]] void give_up(const std::string& what) {
    const int error = errno;
    complain(what + ": " + std::strerror(error));
    _exit(error == 0 ? 1 : error);
}

using CpuMask = std::array<unsigned long, cpu_count / bits>;

CpuMask mask_of(const std::string& cpu_list) {
    CpuMask mask{};
    const char* at = cpu_list.c_str();
    while (*at != '\0') {
        char* end{};
        const auto first = std::strtoul(at, &end, 10);
        auto last = first;
        if (*end == '-') last = std::strtoul(end + 1, &end, 10);
        for (auto cpu = first; cpu <= last && cpu < cpu_count; ++cpu) mask[cpu / bits] |= 1UL << (cpu % bits);
        if (*end != ',') break;
        at = end + 1;
    }
    return mask;
}

std::string print(const CpuMask& mask) {
    std::string digits;
    for (std::size_t i = mask.size() * bits / 4; i-- > 0;) {
        const auto digit = mask[i * 4 / bits] >> (i * 4 % bits) & 0xf;
        if (digit != 0 || !digits.empty()) digits += "0123456789ABCDEF"[digit];
    }
    return "0x" + (digits.empty() ? "0" : digits);
}

void bind_to(const std::string& cpu_list, const std::string& label) {
    const auto mask = mask_of(cpu_list);
    // A node may claim more CPUs than this machine has: then the task is simply not bound.
    const bool bound = syscall(SYS_sched_setaffinity, 0, sizeof mask, mask.data()) >= 0;
    if (label.empty()) return;
    const auto line = "cpu-bind=MASK - " + label + " [" + std::to_string(getpid()) + "]: mask " + print(mask) +
                      (bound ? " set" : " set FAILED") + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

// Called without root's rights, and within the limits of this daemon: nobody's hard limit is raised.
void apply(const ProcessLimit& limit) {
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    rlimit now{};
    if (getrlimit(resource, &now) != 0) return;
    const auto wanted = [](std::uint64_t value) {
        return value == UINT64_MAX ? RLIM_INFINITY : static_cast<rlim_t>(value);
    };
    rlimit next{wanted(limit.soft), std::min(wanted(limit.hard), now.rlim_max)};
    next.rlim_cur = std::min(next.rlim_cur, next.rlim_max);
    setrlimit(resource, &next);
}

void become_user(const LaunchSpec& spec) {
    if (geteuid() == 0) {
        const std::vector<gid_t> groups{spec.groups.begin(), spec.groups.end()};
        if (setgroups(groups.size(), groups.data()) != 0) give_up("setgroups");
        if (setresgid(spec.gid, spec.gid, spec.gid) != 0) give_up("setgid");
        if (setresuid(spec.uid, spec.uid, spec.uid) != 0) give_up("setuid");
    }
    if (getuid() != spec.uid) {
        errno = EPERM;
        give_up("cannot run as uid " + std::to_string(spec.uid));
    }
}

// spurd and its step daemons are protected from the out-of-memory killer and may have a higher priority. What they
// start has neither.
void be_ordinary() {
    if (getpriority(PRIO_PROCESS, 0) != 0) setpriority(PRIO_PROCESS, 0, 0);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const auto written = ::write(fd, "0", 1);
    close(fd);
}

void reset_signals() {
    for (const int number :
         {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2})
        std::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

void place_stdio(const Program& program) {
    // Above 2 first, so that none is overwritten before it has been used.
    const int in = fcntl(program.in, F_DUPFD_CLOEXEC, 3), out = fcntl(program.out, F_DUPFD_CLOEXEC, 3),
              err = fcntl(program.err, F_DUPFD_CLOEXEC, 3);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
}

// Nothing of the daemon's stays open in what the user runs, whatever was opened without close-on-exec.
void keep_only_stdio() {
    if (close_range(STDERR_FILENO + 1, ~0U, 0) == 0) return;
    std::vector<int> open_now;  // before Linux 5.9
    if (DIR* const dir = opendir("/proc/self/fd")) {
        while (const auto* entry = readdir(dir))
            if (const int fd = std::atoi(entry->d_name); fd > STDERR_FILENO) open_now.push_back(fd);
        closedir(dir);
    }
    for (const int fd : open_now) close(fd);
}

void go_to(const std::string& directory) {
    if (chdir(directory.c_str()) == 0) return;
    complain("couldn't chdir to `" + directory + "': " + std::strerror(errno) + ": going to /tmp instead");
    if (chdir("/tmp") != 0) give_up("couldn't chdir to /tmp either");
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

// execve() with a search through PATH; returns only on failure, with errno of the most telling try.
void execute(const std::vector<std::string>& argv, const Environment& environment) {
    const auto variables = environment.variables();
    const auto argument_list = pointers(argv), variable_list = pointers(variables);
    const auto& name = argv.front();
    if (name.find('/') != std::string::npos) {
        execve(name.c_str(), argument_list.data(), variable_list.data());
        return;
    }
    int error = ENOENT;
    std::string_view path = environment.find("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
    while (true) {
        const auto end = path.find(':');
        const auto directory = path.substr(0, end);
        const auto file = (directory.empty() ? std::string{"."} : std::string{directory}) + "/" + name;
        execve(file.c_str(), argument_list.data(), variable_list.data());
        if (errno == EACCES || errno == ENOEXEC || errno == E2BIG) error = errno;
        if (end == std::string_view::npos) break;
        path.remove_prefix(end + 1);
    }
    errno = error;
}

// A script whose #! names nothing fails with ENOENT although it exists; say which of the two is missing.
std::string missing_interpreter(const std::string& file) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    char buffer[256]{};
    const auto count = fd < 0 ? -1 : read(fd, buffer, sizeof buffer - 1);
    if (fd >= 0) close(fd);
    std::string_view text{buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    if (!text.starts_with("#!")) return {};
    text = text.substr(2, text.find('\n') - 2);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return std::string{text.substr(0, text.find_first_of(" \t\r"))};
}

[[noreturn]] void exec_or_complain(const std::vector<std::string>& argv, const Environment& environment) {
    execute(argv, environment);
    const int error = errno;
    const auto interpreter = error == ENOENT ? missing_interpreter(argv.front()) : std::string{};
    if (interpreter.empty())
        complain("execve(): " + argv.front() + ": " + std::strerror(error));
    else
        complain("execve(): bad interpreter(" + interpreter + "): " + std::strerror(error));
    _exit(error);
}

// Runs a task prolog in the task's own process, its output caught. Should it fail, there is no task: it ends with the
// prolog's exit code.
void run_prolog(const std::string& script, const char* name, Environment& environment) {
    int ends[2];
    if (script.empty() || pipe2(ends, O_CLOEXEC) != 0) return;
    const auto child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        auto own = environment;
        own.set("SLURM_SCRIPT_CONTEXT", "prolog_task");
        exec_or_complain({script}, own);
    }
    close(ends[1]);
    std::string output;
    char buffer[4096];
    for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR);)
        if (count > 0) output.append(buffer, static_cast<std::size_t>(count));
    close(ends[0]);
    int status{};
    waitpid(child, &status, 0);
    if (status != 0) {
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        complain(std::string{name} + " failed status=" + std::to_string(code));
        _exit(code);
    }
    const auto printed = apply_prolog_output(output, environment);
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, printed.data(), printed.size());
}

// How a login begins. The user is looked up here, in the child, because the directory service may take its time.
void begin_login(Program& program, std::string& directory) {
    const auto* const user = getpwuid(getuid());
    if (user == nullptr) {
        complain("uid " + std::to_string(getuid()) + " is not in the user database");
        _exit(1);
    }
    program.argv.insert(program.argv.begin(), user->pw_shell[0] != '\0' ? user->pw_shell : "/bin/sh");
    for (const auto& [key, value] : {std::pair{"HOME", user->pw_dir},
                                     {"USER", user->pw_name},
                                     {"LOGNAME", user->pw_name},
                                     {"SHELL", user->pw_shell}})
        program.environment.set(key, value);
    program.environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    directory = user->pw_dir;
}

// A process between fork and exec.
struct Child {
    Program program;
    const LaunchSpec& spec;
    const Containment& containment;
    bool is_inside;  // born there
};

void lead_processes(Child& child) {
    if (child.program.terminal)
        setsid();
    else
        setpgid(0, 0);
}

void enter_containment(Child& child) {
    const bool entered = child.is_inside || child.containment.enter(child.program.task);
    place_stdio(child.program);
    keep_only_stdio();
    if (entered) return;
    errno = EACCES;
    give_up("cannot enter the step's control group");
}

void take_terminal(Child& child) {
    if (child.program.terminal) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
}

void bind(Child& child) {
    if (!child.program.cpu_list.empty()) bind_to(child.program.cpu_list, child.program.bind_label);
}

void limit(Child& child) {
    for (const auto& one : child.spec.rlimits) apply(one);
}

void go_to_work(Child& child) {
    umask(static_cast<mode_t>(child.spec.umask));
    auto directory = child.spec.work_dir.empty() ? "/" : child.spec.work_dir;
    if (child.program.login) begin_login(child.program, directory);
    go_to(directory);
}

void run_prologs(Child& child) {
    auto& program = child.program;
    program.environment.set("SLURM_TASK_PID", std::to_string(getpid()));
    run_prolog(program.prolog, "TaskProlog", program.environment);
    run_prolog(program.user_prolog, "--task-prolog", program.environment);
}

// What hangs on the phases of a task's own process; those of its step are in step_daemon.cpp. A row that fails says so
// on stderr and ends the process.
constexpr Hook<void (*)(Child&)> hooks[]{
    {Phase::task_init_privileged, lead_processes},
    {Phase::task_init_privileged, enter_containment},
    {Phase::task_init_privileged, [](Child&) { be_ordinary(); }},
    {Phase::task_init_privileged, take_terminal},
    {Phase::task_init_privileged, bind},
    {Phase::task_init, limit},
    {Phase::task_init, [](Child&) { reset_signals(); }},
    {Phase::task_init, go_to_work},
    {Phase::task_init, run_prologs},
};
static_assert(is_in_order(hooks));

[[noreturn]] void become(Child child) {
    run_phase(hooks, Phase::task_init_privileged, child);
    become_user(child.spec);
    run_phase(hooks, Phase::task_init, child);
    exec_or_complain(child.program.argv, child.program.environment);
}

}  // namespace

Result<pid_t> start(const Program& program, const LaunchSpec& spec, const Containment& containment) {
    const auto [pid, is_inside] = containment.fork_for(program.task);
    if (pid < 0) return fail(ErrorCode::unavailable, "fork: {}", std::strerror(errno));
    if (pid == 0) become({program, spec, containment, is_inside});
    if (!program.terminal) setpgid(pid, pid);  // parent and child both do it, whichever comes first
    return pid;
}

}  // namespace spur::step
