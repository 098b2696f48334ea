// The options of spur up and spur down, waiting until the nodes have joined, and following the log.
#include "cli/up/up.hpp"

#include "cli/common/cluster.hpp"
#include "cli/common/session.hpp"
#include "cli/up/local_cluster.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/node.hpp"

#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

namespace spur::cli {

namespace {

constexpr auto start_patience = std::chrono::seconds{20};
constexpr auto end_patience = std::chrono::seconds{5};

constexpr const char* up_help =
    "usage: spur up [--nodes N] [--gpus TYPE:COUNT] [--detach] [--port PORT] [--dir DIR]\n"
    "Start a whole cluster on this machine: a controller and N virtual nodes, no configuration, no root.\n\n"
    "  -n, --nodes N    how many virtual nodes (1 to 512; default 1); each has the whole machine, so that\n"
    "                   with several of them tasks are not bound to CPUs\n"
    "      --gpus TYPE:COUNT  give each node simulated GPUs, to try out placement: --gpus mi300x:8\n"
    "  -d, --detach     return once it is ready; stop it with `spur down`\n"
    "      --port PORT  where the controller listens on loopback (default 6817, or any free one)\n"
    "      --dir DIR    where state and logs are kept (default $SPUR_STATE_DIR, $XDG_STATE_HOME/spur or "
    "~/.local/state/spur)\n"
    "  -h, --help\n\n"
    "Without --detach it stays in the foreground; Ctrl-C stops the cluster. Its state is kept: the next `spur up` goes "
    "on where\n"
    "this one stopped. Commands find a cluster in the default directory by themselves, and one elsewhere by "
    "SPUR_STATE_DIR=DIR.\n";

constexpr const char* down_help =
    "usage: spur down [--dir DIR]\n"
    "Stop the cluster that `spur up` started. Jobs that are running are cancelled, no other starts in their place; "
    "waiting jobs\n"
    "are kept for the next `spur up`.\n";

struct Options {
    LocalPlan plan;
    bool detach{false};
    bool help{false};
};

std::string default_dir() { return std::filesystem::path{client_state_path()}.parent_path().string(); }

Result<Options> parse(Invocation& self, bool down) {
    static const option table[] = {{"nodes", required_argument, nullptr, 'n'},
                                   {"detach", no_argument, nullptr, 'd'},
                                   {"port", required_argument, nullptr, 'p'},
                                   {"dir", required_argument, nullptr, 'D'},
                                   {"gpus", required_argument, nullptr, 'g'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
    std::vector<char*> argv;
    for (auto& word : self.words) argv.push_back(word.data());
    const auto argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    Options options;
    options.plan.dir = default_dir();
    const auto number = [](const char* text, unsigned least, unsigned most, const char* what) -> Result<unsigned> {
        unsigned value{};
        const std::string_view given{text};
        const auto [rest, error] = std::from_chars(given.data(), given.data() + given.size(), value);
        if (error != std::errc{} || rest != given.data() + given.size() || value < least || value > most)
            return fail(ErrorCode::invalid, "{}={} is not a number from {} to {}", what, given, least, most);
        return value;
    };
    optind = 1;
    opterr = 0;
    for (int found = 0; (found = getopt_long(argc, argv.data(), down ? "h" : "n:dh", table, nullptr)) != -1;) {
        if (down && (found == 'n' || found == 'd' || found == 'p' || found == 'g')) found = '?';
        switch (found) {
            case 'n': {
                SPUR_TRY(options.plan.nodes, number(optarg, 1, 512, "--nodes"));
                break;
            }
            case 'p': {
                SPUR_TRY(const auto port, number(optarg, 1, 65535, "--port"));
                options.plan.port = static_cast<std::uint16_t>(port);
                break;
            }
            case 'g': {
                const std::string given{optarg};
                const auto colon = given.find(':');
                const auto type = given.substr(0, colon);
                const bool is_word = !type.empty() && std::ranges::all_of(type, [](unsigned char c) {
                    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
                });
                if (colon == std::string::npos || !is_word)
                    return fail(ErrorCode::invalid, "--gpus={} is not TYPE:COUNT, such as mi300x:8", given);
                SPUR_TRY(options.plan.gpus, number(given.c_str() + colon + 1, 1, 64, "--gpus"));
                options.plan.gpu_type = type;
                break;
            }
            case 'd':
                options.detach = true;
                break;
            case 'D':
                options.plan.dir = std::filesystem::absolute(optarg).string();
                break;
            case 'h':
                options.help = true;
                break;
            default:
                return fail(ErrorCode::invalid, "unknown option or missing value: {}; see {} --help", argv[optind - 1],
                            self.words[0]);
        }
    }
    if (optind < argc)
        return fail(ErrorCode::invalid, "unexpected argument {}; see {} --help", argv[optind], self.words[0]);
    if (options.plan.dir.empty())
        return fail(ErrorCode::invalid, "HOME is not set; say where to keep state with --dir");
    std::error_code error;
    options.plan.bin_dir = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
    return options;
}

// How many agents have joined since `since`. Their nodes need not be idle: one may be drained, or busy with what it
// was left with.
unsigned joined_nodes(Session& session, std::int64_t since) {
    const auto reply = session.call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{});
    if (!reply) return 0;
    return static_cast<unsigned>(std::ranges::count_if(reply->nodes(), [&](const v1::Node& node) {
        return node.start_time() >= since && !node.state().contains("NOT_RESPONDING");
    }));
}

Result<void> wait_until_ready(const LocalCluster& cluster, std::size_t wanted, std::int64_t since) {
    const auto until = std::chrono::steady_clock::now() + start_patience;
    while (std::chrono::steady_clock::now() < until) {
        if (const auto dead = cluster.find_dead(); !dead.empty())
            return fail(ErrorCode::internal, "{} ended while starting; its last words are in {}", dead,
                        cluster.log_path(dead));
        if (auto session = Session::open()) {
            v1::PingRequest ping;
            const auto reply = session->call<v1::PingReply>(
                "Ping", ping, {.timeout = std::chrono::seconds{1}, .idempotent = true, .metadata = {}});
            if (reply && reply->mode() == "leader" && (wanted == 0 || joined_nodes(*session, since) >= wanted))
                return {};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return fail(ErrorCode::unavailable, "the cluster did not become ready within {} s; see {}", start_patience.count(),
                cluster.dir() + "/log");
}

// Sessions of this process are with the cluster in `dir` from now on.
void follow(const std::string& dir) {
    ::setenv("SPUR_STATE_DIR", dir.c_str(), 1);
    ::unsetenv("SPUR_CONF");
    ::unsetenv("SPUR_CONTROLLER_ADDR");
}

v1::ListJobsRequest jobs_in(std::initializer_list<const char*> states) {
    v1::ListJobsRequest list;
    for (const char* state : states) list.add_states(state);
    return list;
}

// Cancels what runs, so that nothing of a cluster outlives it, and says how many that were. No waiting job may start in
// the place of one that ends: scheduling stops first, and what was on its way to a node at that moment is cancelled as
// soon as it shows. A job that ignores the polite signal is killed by its step daemon when KillWait is over, cluster or
// not: that is not waited for.
std::size_t end_jobs() {
    auto session = Session::open();
    if (!session) return 0;
    v1::ShutdownRequest no_more_jobs;
    no_more_jobs.set_only_scheduling(true);
    if (!session->call<v1::Ack>("Shutdown", no_more_jobs, Session::write_options())) return 0;
    v1::SignalJobsRequest cancel;
    cancel.add_states("RUNNING"), cancel.add_states("SUSPENDED");
    cancel.set_with_filters(true);
    std::size_t ended = 0;
    const auto until = std::chrono::steady_clock::now() + end_patience;
    while (std::chrono::steady_clock::now() < until) {
        const auto running = session->call<v1::ListJobsReply>("ListJobs", jobs_in({"RUNNING", "SUSPENDED"}));
        if (!running) break;
        if (!running->jobs().empty()) {
            if (!session->call<v1::JobActionReply>("SignalJobs", cancel, Session::write_options())) break;
            ended += static_cast<std::size_t>(running->jobs_size());
        }
        const auto left = session->call<v1::ListJobsReply>("ListJobs", jobs_in({"RUNNING", "SUSPENDED", "COMPLETING"}));
        if (!left || left->jobs().empty()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return ended;
}

void tell_ended(std::size_t jobs) {
    if (jobs > 0) std::printf("%zu running job%s cancelled.\n", jobs, jobs == 1 ? " was" : "s were");
}

Result<LocalCluster> start(const Options& options) {
    SPUR_TRY(auto cluster, LocalCluster::prepare(options.plan));
    // Commands of this user, and the waiting below, follow this file.
    std::error_code error;
    std::filesystem::copy_file(cluster.config_path(), cluster.dir() + "/client.conf",
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return fail(ErrorCode::internal, "cannot write {}/client.conf: {}", cluster.dir(), error.message());
    follow(cluster.dir());
    const auto since = std::time(nullptr);
    const auto all = [&]() -> Result<void> {
        SPUR_CHECK(cluster.start_controller());
        SPUR_CHECK(wait_until_ready(cluster, 0, since));
        SPUR_CHECK(cluster.start_history());
        SPUR_CHECK(cluster.start_agents());
        return wait_until_ready(cluster, options.plan.nodes, since);
    }();
    if (!all) {
        cluster.stop();
        return std::unexpected(all.error());
    }
    return cluster;
}

// What this machine lets jobs be held to is told once, before anybody relies on it.
void tell_unenforced() {
    auto session = Session::open();
    if (!session) return;
    const auto nodes = session->call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{});
    if (nodes) std::fputs(records::unenforced_note(nodes->nodes()).c_str(), stdout);
}

// As one word of a shell command.
std::string shell_word(const std::string& text) {
    const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) || std::string_view{"/._-+,@%"}.contains(static_cast<char>(c));
    });
    if (is_plain) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return word + "'";
}

// This program as the user can type it: by name where the shell finds it, else by its path.
std::string spur_command(const std::string& bin_dir) {
    const char* const path = std::getenv("PATH");
    for (const auto part : split(path == nullptr ? "" : path, ':')) {
        const auto found = std::filesystem::path{part} / "spur";
        if (::access(found.c_str(), X_OK) != 0) continue;
        std::error_code error;
        if (std::filesystem::equivalent(found, bin_dir + "/spur", error)) return "spur";
        break;  // another installation's
    }
    return shell_word(bin_dir + "/spur");
}

// What must come before a command, in the shell this was started from, so that it finds this cluster and no other.
// Empty: it does by itself. Asked before follow() changes the environment.
std::string way_to(const std::string& dir) {
    std::string unset;
    for (const auto* name : {"SPUR_CONF", "SPUR_CONTROLLER_ADDR"})
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
            unset += fmt::format("-u {} ", name);
    if (unset.empty() && dir == default_dir()) return {};
    return fmt::format("{}SPUR_STATE_DIR={} ", unset.empty() ? "" : "env " + unset, shell_word(dir));
}

void greet(const LocalCluster& cluster, const Options& options, const std::string& way) {
    std::printf("A cluster with %u node%s is running on this machine, port %u; state and logs in %s.\n",
                cluster.node_count(), cluster.node_count() == 1 ? "" : "s", cluster.port(), cluster.dir().c_str());
    tell_unenforced();
    if (::geteuid() == 0)
        std::printf("You are root, and so are your jobs: disable_root_jobs = false in %s.\n",
                    cluster.config_path().c_str());
    const auto spur = spur_command(options.plan.bin_dir);
    std::printf("Try:\n");
    for (const char* command : {"run hostname", "submit --wrap 'echo hello from $SLURM_JOB_ID'", "queue"})
        std::printf("  %s%s %s\n", way.c_str(), spur.c_str(), command);
    if (options.detach)
        std::printf("Stop it with: %s down%s\n", spur.c_str(),
                    way.empty() ? "" : (" --dir " + shell_word(cluster.dir())).c_str());
    else
        std::puts("Ctrl-C stops it.");
    std::fflush(stdout);
}

int wait_for_the_end(LocalCluster& cluster, const Console& console, const sigset_t& signals) {
    for (;;) {
        const timespec pause{1, 0};
        if (sigtimedwait(&signals, nullptr, &pause) > 0) {
            std::puts("\nStopping.");
            tell_ended(end_jobs());
            cluster.stop();
            return 0;
        }
        if (const auto dead = cluster.find_dead(); !dead.empty()) {
            console.error("{} has ended; stopping the rest. Its log is {}", dead, cluster.log_path(dead));
            cluster.stop();
            return 1;
        }
    }
}

}  // namespace

int run_up(Invocation& self) {
    const auto options = parse(self, false);
    if (!options) return self.console.error("{}", options.error().text), 2;
    if (options->help) return std::fputs(up_help, stdout), 0;
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
    if (!options->detach) sigprocmask(SIG_BLOCK, &signals, nullptr);
    const auto way = way_to(options->plan.dir);
    auto cluster = start(*options);
    if (!cluster) return self.console.error("{}", cluster.error().text), 1;
    greet(*cluster, *options, way);
    return options->detach ? 0 : wait_for_the_end(*cluster, self.console, signals);
}

int run_down(Invocation& self) {
    const auto options = parse(self, true);
    if (!options) return self.console.error("{}", options.error().text), 2;
    if (options->help) return std::fputs(down_help, stdout), 0;
    auto cluster = LocalCluster::find(options->plan.dir);
    if (!cluster) return self.console.error("{}", cluster.error().text), 1;
    follow(options->plan.dir);
    tell_ended(end_jobs());
    cluster->stop();
    std::printf("The cluster in %s is stopped; its state is kept.\n", options->plan.dir.c_str());
    return 0;
}

}  // namespace spur::cli
