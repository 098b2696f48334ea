#include "daemons/spurstepd/program.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace spur::step {

namespace {

constexpr unsigned cpu_count = 8192, bits = 8 * sizeof(unsigned long);
constexpr std::chrono::seconds login_patience{120};

// On the stderr of the program that is about to be.
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

void apply(const ResourceLimit& limit) {
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    rlimit now{};
    if (getrlimit(resource, &now) != 0) return;
    const auto wanted = [](std::uint64_t value) {
        return value == UINT64_MAX ? RLIM_INFINITY : static_cast<rlim_t>(value);
    };
    rlimit next{wanted(limit.soft), wanted(limit.hard)};
    if (setrlimit(resource, &next) == 0) return;
    // Only root may raise the hard limit; the soft one goes as far as it can.
    next.rlim_max = std::min(next.rlim_max, now.rlim_max);
    next.rlim_cur = std::min(next.rlim_cur, next.rlim_max);
    setrlimit(resource, &next);
}

void become_user(const StepSpec& spec) {
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

[[noreturn]] void become(const Program& program, const StepSpec& spec, const Containment& containment) {
    if (program.terminal)
        setsid();
    else
        setpgid(0, 0);
    containment.enter();
    place_stdio(program);
    if (program.terminal) ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    for (const auto& limit : spec.rlimits) apply(limit);
    if (!program.cpu_list.empty()) bind_to(program.cpu_list, program.bind_label);
    become_user(spec);
    reset_signals();
    umask(static_cast<mode_t>(spec.umask));
    go_to(spec.work_dir.empty() ? "/" : spec.work_dir);
    auto environment = program.environment;
    environment.set("SLURM_TASK_PID", std::to_string(getpid()));
    run_prolog(program.prolog, "TaskProlog", environment);
    run_prolog(program.user_prolog, "--task-prolog", environment);
    exec_or_complain(program.argv, environment);
}

}  // namespace

Result<pid_t> start(const Program& program, const StepSpec& spec, const Containment& containment) {
    const auto pid = fork();
    if (pid < 0) return fail(ErrorCode::unavailable, "fork: {}", std::strerror(errno));
    if (pid == 0) become(program, spec, containment);
    if (!program.terminal) setpgid(pid, pid);  // both sides do it: whoever comes first, it is done
    return pid;
}

// ---- a login shell's environment -----------------------------------------------------------------------------------

Result<std::vector<std::string>> login_environment(const StepSpec& spec, const Containment& containment) {
    const auto* const user = getpwuid(spec.uid);
    if (user == nullptr) return fail(ErrorCode::not_found, "uid {} is not in the user database", spec.uid);
    const std::string mark = "spur-environment-follows";
    Program shell;
    shell.argv = {user->pw_shell[0] != '\0' ? user->pw_shell : "/bin/sh", "-l", "-c",
                  "printf '" + mark + "\\0'; exec env -0"};
    for (const auto& [key, value] : {std::pair{"HOME", user->pw_dir},
                                     {"USER", user->pw_name},
                                     {"LOGNAME", user->pw_name},
                                     {"SHELL", user->pw_shell}})
        shell.environment.set(key, value);
    shell.environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");

    int ends[2];
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::unavailable, "pipe: {}", std::strerror(errno));
    shell.in = shell.err = null;
    shell.out = ends[1];
    auto home = spec;
    home.work_dir = user->pw_dir;
    const auto pid = start(shell, home, containment);
    close(ends[1]);
    close(null);
    std::string output;
    const auto deadline = std::chrono::steady_clock::now() + login_patience;
    while (pid) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd wait{ends[0], POLLIN, 0};
        char buffer[4096];
        if (left.count() <= 0 || poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
        const auto count = read(ends[0], buffer, sizeof buffer);
        if (count <= 0) break;
        output.append(buffer, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (!pid) return std::unexpected(pid.error());
    kill(-*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);

    const auto begin = output.find(mark + '\0');
    if (begin == std::string::npos)
        return fail(ErrorCode::unavailable, "{}'s login shell did not get as far as printing its environment",
                    user->pw_name);
    std::vector<std::string> variables;
    for (auto at = begin + mark.size() + 1; at < output.size();) {
        const auto end = std::min(output.find('\0', at), output.size());
        variables.push_back(output.substr(at, end - at));
        at = end + 1;
    }
    return variables;
}

// ---- the user's rights ---------------------------------------------------------------------------------------------

AsUser::AsUser(const StepSpec& spec) : umask_{umask(static_cast<mode_t>(spec.umask))} {
    if (geteuid() != 0 || spec.uid == 0) return;
    groups_.resize(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
    groups_.resize(static_cast<std::size_t>(std::max(getgroups(static_cast<int>(groups_.size()), groups_.data()), 0)));
    const std::vector<gid_t> groups{spec.groups.begin(), spec.groups.end()};
    setgroups(groups.size(), groups.data());
    setfsgid(spec.gid);
    setfsuid(spec.uid);
    switched_ = true;
}

AsUser::~AsUser() {
    if (switched_) {
        setfsuid(geteuid());
        setfsgid(getegid());
        setgroups(groups_.size(), groups_.data());
    }
    umask(umask_);
}

}  // namespace spur::step
