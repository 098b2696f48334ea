// Writing the configuration of a local cluster, and starting and stopping its processes.
#include "cli/up/local_cluster.hpp"

#include "core/text/endpoint.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

extern char** environ;

namespace spur::cli {

namespace {

namespace fs = std::filesystem;

// The port, if nobody has it; 0 asks for any free one.
std::uint16_t free_port(std::uint16_t wanted) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(wanted);
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    socklen_t length = sizeof address;
    std::uint16_t port = 0;
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0)
        port = ntohs(address.sin_port);
    ::close(fd);
    return port;
}

// Is this process still the daemon we started? Pids are used again. Its command line tells: a program that was built
// anew meanwhile has another file.
bool is_alive(const Process& process) {
    std::ifstream file{fmt::format("/proc/{}/cmdline", process.pid)};
    std::string program;
    std::getline(file, program, '\0');
    if (!program.empty()) return fs::path{program}.filename() == process.program;
    // It may be in the middle of its start: it has a program already, but no words yet.
    std::error_code error;
    return !fs::read_symlink(fmt::format("/proc/{}/exe", process.pid), error).empty();
}

// Until it has let go of everything, its locks too: /proc forgets a program's name before that.
void wait_for_end(const Process& process, std::chrono::milliseconds patience) {
    const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
    if (handle < 0) return;  // long gone
    pollfd wait{handle, POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(patience.count()));
    ::close(handle);
    ::waitpid(process.pid, nullptr, WNOHANG);  // a child of ours leaves no zombie behind
}

// Made-up devices, all linked to each other, for trying out placement without any.
std::string gpu_text(const LocalPlan& plan) {
    if (plan.gpus == 0) return {};
    return fmt::format(
        "[plugins]\n"
        "gpu = [\"gpu/sim\"]\n\n"
        "[plugin.\"gpu/sim\"]\n"
        "devices = [\"{}:{}\"]\n"
        "links = [\"0-{}:xgmi:100\"]\n\n",
        plan.gpu_type, plan.gpus, plan.gpus - 1);
}

// Elsewhere root runs no jobs; on a machine of one's own it is whoever typed `spur up`.
std::string root_text() {
    if (::geteuid() != 0) return {};
    return "[jobs]\n"
           "disable_root_jobs = false\n\n";
}

std::string config_text(const LocalPlan& plan, const std::string& dir, std::uint16_t port, std::uint16_t history_port) {
    struct sysinfo machine {};
    ::sysinfo(&machine);
    const auto cpus = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
    const auto memory_mib = static_cast<std::uint64_t>(machine.totalram) * machine.mem_unit >> 20;
    return fmt::format(
        "# Written by `spur up`; made anew each time it starts.\n"
        "cluster_name = \"local\"\n\n"
        "[controller]\n"
        "listen_addr = \"{}:{}\"\n"
        "state_dir = \"{}/ctld\"\n\n"
        "[accounting]\n"
        "plugin = \"accounting/sqlite\"\n"
        "host = \"127.0.0.1:{}\"\n"
        "listen_addr = \"127.0.0.1:{}\"\n\n"
        "[plugin.\"auth/local\"]\n"
        "key_file = \"{}/ctld/auth.key\"\n\n"
        "{}{}"
        "# Every virtual node has the whole machine.\n"
        "[[nodes]]\n"
        "names = \"node{}\"\n"
        "cpus = {}\n"
        "memory_mb = {}\n"
        "{}\n"
        "[[partitions]]\n"
        "name = \"main\"\n"
        "nodes = \"ALL\"\n"
        "default = true\n",
        plan.listen, port, dir, history_port, history_port, dir, root_text(), gpu_text(plan),
        plan.nodes == 1 ? std::string{"1"} : fmt::format("[1-{}]", plan.nodes), cpus, memory_mib,
        plan.gpus == 0 ? std::string{} : fmt::format("gres = [\"gpu:{}:{}\"]\n", plan.gpu_type, plan.gpus));
}

Result<void> write_file(const std::string& path, const std::string& text) {
    const auto temporary = path + ".new";
    {
        std::ofstream file{temporary, std::ios::trunc};
        file << text;
        if (!file.flush()) return fail(ErrorCode::internal, "cannot write {}: {}", temporary, std::strerror(errno));
    }
    ::chmod(temporary.c_str(), 0644);
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) return fail(ErrorCode::internal, "cannot write {}: {}", path, error.message());
    return {};
}

// What is in it decides which programs run as this user, and what they believe: nobody else may have a hand in it.
Result<void> check_own(const std::string& dir) {
    struct stat info {};
    if (::stat(dir.c_str(), &info) != 0) {
        if (errno == ENOENT) return {};
        return fail(ErrorCode::denied, "cannot look at {}: {}", dir, std::strerror(errno));
    }
    if (!S_ISDIR(info.st_mode))
        return fail(ErrorCode::invalid, "{} is not a directory; choose another place with --dir", dir);
    if (info.st_uid != ::geteuid())
        return fail(ErrorCode::denied,
                    "{} belongs to uid {} and you are uid {}; choose a directory of your own with --dir", dir,
                    info.st_uid, ::geteuid());
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(ErrorCode::denied,
                    "others may write to {} (mode {:04o}); run chmod go-w {}, or choose another directory with --dir",
                    dir, info.st_mode & 07777U, dir);
    return {};
}

constexpr const char* folders[] = {"", "/ctld", "/dbd", "/log"};

Result<void> make_folders(const std::string& dir) {
    std::error_code error;
    for (const auto* part : folders) {
        const auto path = dir + part;
        SPUR_CHECK(check_own(path));
        const bool made = fs::create_directories(path, error);
        if (error) return fail(ErrorCode::internal, "cannot make {}: {}", path, error.message());
        if (made) ::chmod(path.c_str(), 0755);  // whatever the umask allows the group
    }
    for (const auto* own : {"/ctld", "/dbd"}) fs::permissions(dir + own, fs::perms::owner_all, error);
    return {};
}

}  // namespace

Result<LocalCluster> LocalCluster::prepare(const LocalPlan& plan) {
    SPUR_CHECK(check_own(plan.dir));
    if (const auto running = find(plan.dir))
        return fail(
            ErrorCode::conflict,
            "a cluster is already running in {}; stop it with `spur down --dir {}`, or choose another directory "
            "with --dir",
            plan.dir, plan.dir);
    SPUR_CHECK(make_folders(plan.dir));
    LocalCluster cluster;
    cluster.dir_ = plan.dir;
    cluster.bin_dir_ = plan.bin_dir;
    cluster.nodes_ = plan.nodes;
    cluster.port_ = free_port(plan.port != 0 ? plan.port : 6817);
    if (cluster.port_ == 0 && plan.port != 0)
        return fail(ErrorCode::conflict, "port {} is taken; choose another with --port", plan.port);
    if (cluster.port_ == 0) cluster.port_ = free_port(0);
    const auto history_port = free_port(0);  // whoever asks for history finds it in the configuration
    for (const auto* program : {"spurctld", "spurd", "spurstepd", "spurdbd"})
        if (::access((plan.bin_dir + "/" + program).c_str(), X_OK) != 0)
            return fail(ErrorCode::not_found, "{} is not beside this command in {}; is Spur installed whole?", program,
                        plan.bin_dir);
    SPUR_CHECK(write_file(cluster.config_path(), config_text(plan, plan.dir, cluster.port_, history_port)));
    return cluster;
}

Result<LocalCluster> LocalCluster::find(const std::string& dir) {
    SPUR_CHECK(check_own(dir));
    LocalCluster cluster;
    cluster.dir_ = dir;
    std::ifstream file{cluster.pid_path()};
    for (Process process; file >> process.pid >> process.program;)
        if (is_alive(process)) cluster.processes_.push_back(process);
    if (cluster.processes_.empty()) return fail(ErrorCode::not_found, "no cluster is running in {}", dir);
    return cluster;
}

Result<void> LocalCluster::spawn(const std::string& program, const std::string& log_name,
                                 std::vector<std::string> arguments) {
    const auto path = bin_dir_ + "/" + program;
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log_path(log_name).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);  // Ctrl-C is for us; we stop them in order
    Process process{0, program};
    const int failed = ::posix_spawn(&process.pid, path.c_str(), &files, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) return fail(ErrorCode::internal, "cannot start {}: {}", path, std::strerror(failed));
    processes_.push_back(process);
    return record();
}

Result<void> LocalCluster::record() const {
    std::string text;
    for (const auto& process : processes_) text += fmt::format("{} {}\n", process.pid, process.program);
    return write_file(pid_path(), text);
}

Result<void> LocalCluster::start_controller() { return spawn("spurctld", "spurctld", {"-D", "-f", config_path()}); }

Result<void> LocalCluster::start_history() {
    return spawn("spurdbd", "spurdbd", {"-D", "-f", config_path(), "--migrate", "--state-dir", dir_ + "/dbd"});
}

Result<void> LocalCluster::start_agents() {
    for (unsigned i = 1; i <= nodes_; ++i) {
        const auto name = fmt::format("node{}", i);
        SPUR_CHECK(spawn("spurd", name,
                         {"-D", "-f", config_path(), "-N", name, "--virtual", "--state-dir", dir_ + "/" + name,
                          "--listen", "127.0.0.1:0", "--controller", fmt::format("127.0.0.1:{}", port_)}));
    }
    return {};
}

std::string LocalCluster::find_dead() const {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        ::waitpid(processes_[i].pid, nullptr, WNOHANG);
        if (!is_alive(processes_[i])) return i < 2 ? processes_[i].program : fmt::format("node{}", i - 1);
    }
    return {};
}

void LocalCluster::stop() {
    for (const char* program : {"spurd", "spurctld", "spurdbd"}) {
        for (const auto& process : processes_)
            if (process.program == program && is_alive(process)) ::kill(process.pid, SIGTERM);
        for (const auto& process : processes_) {
            if (process.program != program) continue;
            wait_for_end(process, std::chrono::seconds{5});
            if (is_alive(process)) ::kill(process.pid, SIGKILL), wait_for_end(process, std::chrono::seconds{2});
        }
    }
    ::unlink(pid_path().c_str());
    ::unlink((dir_ + "/client.conf").c_str());
    processes_.clear();
}

}  // namespace spur::cli
