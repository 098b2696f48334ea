// How the agent starts and serves, and its session with the controller.
#include "daemons/spurd/agent.hpp"

#include <sys/epoll.h>

#include <ctime>

#include "core/model/gres_kind.hpp"
#include "core/version.hpp"
#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/isolate/process.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/common/log/throttle.hpp"
#include "daemons/common/wire/members.hpp"
#include "daemons/spurd/children.hpp"
#include "daemons/spurd/strays.hpp"
#include "spur/v1/metrics.pb.h"

namespace spur::agent {

namespace {

host::HostOptions host_options(const Settings& settings, const Config& config) {
    host::HostOptions options;
    options.program = "spurd";
    options.isolate = isolate::isolator();
    options.slow_call = std::chrono::seconds{10};
    options.facts = {{"cluster_name", config.cluster.cluster_name.str()},
                     {"state_dir", settings.state_dir},
                     {"controller.state_dir", config.controller.state_dir},
                     {"node_name", settings.node},
                     {"listen_addr", settings.listen.text()},
                     {"controller.hosts", settings.controller_list}};
    options.crash_journal = host::crash_journal_in(settings.state_dir);
    return options;
}

// Without a configuration it is the controller that knows the cluster's name.
std::string known_cluster(const Config& config) {
    return config.path.empty() ? std::string{} : config.cluster.cluster_name.str();
}

// Where the devices sit in terms of this node's sockets and cores.
void describe_gpus(const Gpus& gpus, const Hardware& hardware, v1::Node& node) {
    for (std::uint32_t i = 0; i < gpus.devices().size(); ++i) {
        const auto& device = gpus.devices()[i];
        auto& place = *node.add_gpu_places();
        place.set_index(i);
        place.set_failed(!device.usable);
        const auto cores = cores_of_cpus(hardware, device.near_cpus);
        for (const auto core : cores) place.add_cores(core);
        if (!cores.empty())
            place.set_socket(cores.front() / std::max(hardware.cores_per_socket, 1U));
        else if (device.numa_node != UINT32_MAX)
            place.set_socket(device.numa_node);
    }
    for (const auto& link : gpus.links()) {
        auto& out = *node.add_gpu_links();
        out.set_from(link.from);
        out.set_to(link.to);
        out.set_kind(link.kind);
        out.set_weight(link.weight);
    }
}

}  // namespace

Agent::Agent(Settings settings, const Config& config)
    : settings_{std::move(settings)}, start_time_{std::time(nullptr)}, plugins_{host_options(settings_, config)} {
    setup_.hardware = settings_.hardware;
    setup_.hardware.core_cpus = settings_.core_cpus;
    setup_.binds_cpus = !settings_.core_cpus.empty();
    if (!setup_.binds_cpus)
        log::warning(
            "tasks are not bound to CPUs: this machine has fewer than node {}{} is configured with (spurd -t shows "
            "what is here)",
            settings_.node, settings_.is_virtual ? " and the others on it" : "");
    setup_.facts = {settings_.node, config.cluster.cluster_name.str(), settings_.controller_list, config.path};
    setup_.policy.set_kill_wait_s(config.cluster.policies.kill_wait_s);
    setup_.policy.set_prolog(config.agent.prolog);
    setup_.policy.set_epilog(config.agent.epilog);
    setup_.policy.set_task_prolog(config.agent.task_prolog);
    setup_.policy.set_task_epilog(config.agent.task_epilog);
    setup_.policy.set_reboot_program(config.agent.reboot_program);
    setup_.policy.set_sample_s(config.agent.sample_s);
    setup_.policy.set_over_memory_kill(config.agent.over_memory_kill);
    setup_.gpus.scan(plugins_, config);
    step_setup_.source = config.path;
    for (const auto& [key, value] : host_options(settings_, config).facts) step_setup_.facts.push_back({key, value});
    open_cgroup(config);
}

// What plugins say has changed, and what follows from it here. Called on a thread of the plugin host's.
void Agent::listen_to_plugins() {
    scanned_ = setup_.gpus;
    plugins_.on_changed(SPUR_CHANGED_DEVICES,
                        [this](const host::Notice& notice) { scan_again(notice.plugin, notice.reason); });
    if (setup_.gpus.plugins())
        gpu_worker_ = std::make_unique<GpuWorker>(
            *setup_.gpus.plugins(), [this](const std::string& plugin) { scan_again(plugin, "it was not watching"); });
    setup_.release_gpus = [this](GpuHeld held) {
        if (gpu_worker_) gpu_worker_->release(std::move(held));
    };
    plugins_.on_changed(SPUR_CHANGED_KEYS, [this](const host::Notice& notice) {
        loop_.post([this, notice] { link_->close(fmt::format("{} says that its keys changed", notice.plugin)); });
    });
}

// On a thread of the plugin host's or of a plugin that watches.
void Agent::scan_again(const std::string& plugin, const std::string& reason) {
    const std::lock_guard one_at_a_time{scanning_};
    if (!scanned_.rescan()) return;
    loop_.post([this, gpus = scanned_, plugin, reason] {
        log::info("{} found other gpus ({}): {} now; registering again", plugin, reason, gpus.devices().size());
        setup_.gpus = gpus;
        link_->close("the node's gpus changed");
    });
}

Agent::~Agent() {
    gpu_worker_.reset();
    plugins_.stop_listening();
    if (server_) server_->drain(std::chrono::milliseconds{0});
    loop_.cancel(heartbeat_timer_);
}

Result<void> Agent::open(const Config& config) {
    SPUR_TRY(store_, JobStore::open(settings_.state_dir));
    SPUR_TRY(setup_.cookie, load_cookie(settings_.state_dir));
    memory_.emplace(settings_.state_dir);
    SPUR_CHECK(open_auth(config));
    launcher_ = std::make_unique<Launcher>(loop_, launcher_options());
    SPUR_CHECK(launcher_->start());
    reports_ = std::make_unique<Reports>(loop_, [this](const v1::StepReport& report) {
        if (!welcomed_) return;
        v1::AgentMessage message;
        *message.mutable_report() = report;
        link_->send(message);
    });
    jobs_ = std::make_unique<NodeJobs>(
        loop_, setup_, *store_, *launcher_, *reports_,
        [this](const v1::JobLaunch& job, std::uint32_t step) { return kill_strays(job, step); });
    service_ = std::make_unique<StepService>(
        loop_, *jobs_,
        StepService::Facts{settings_.node, [this] { return memory_->keys(); }, [this] { return describe(); }});
    link_ = std::make_unique<ControllerLink>(
        loop_,
        wire::ChannelOptions{.endpoints = settings_.controllers,
                             .tls = tls_,
                             .credentials = credentials_,
                             .cluster = known_cluster(config),
                             .server = std::string{wire::controller_name}},
        ControllerLink::Events{.on_open = [this] { join(); },
                               .on_message = [this](const v1::ControllerMessage& message) { obey(message); },
                               .on_closed =
                                   [this](const std::string& why) {
                                       if (std::exchange(welcomed_, false))
                                           log::warning("lost the controller: {}", why);
                                   }});
    listen_to_plugins();
    jobs_->adopt();
    clear_leftovers();
    limit_node();

    wire::ServerOptions serving;
    serving.listen = settings_.listen;
    serving.tls = tls_;
    serving.authenticator = authenticator_;
    serving.cluster = known_cluster(config);
    serving.name = settings_.node;
    serving.warn = [throttle = std::make_shared<log::Throttle>()](std::string_view line) { throttle->warning(line); };
    server_ = std::make_unique<wire::RpcServer>(std::move(serving));
    service_->serve(*server_);
    server_->unary("/spur.v1.Metrics/Read", [this](const wire::Call& call) {
        v1::MetricsReply reply;
        reply.set_text(host::openmetrics_text(plugins_.metrics()));
        call.reply_with(reply);
    });
    SPUR_CHECK(server_->start());
    serve_addr_ = serve_address(settings_, server_->port(), setup_.hardware.hostname);
    return {};
}

Result<void> Agent::open_auth(const Config& config) {
    SPUR_TRY(const auto auth, plugins_.open<host::AuthAxis>(config));
    SPUR_CHECK(auth::check_transport(auth, settings_.listen, !config.tls.certificate.empty()));
    authenticator_ = std::make_shared<auth::PluginAuthenticator>(auth);
    credentials_ = std::make_shared<auth::PluginCredentials>(auth);
    if (!config.tls.certificate.empty())
        tls_ = wire::TlsOptions{
            .ca_file = config.tls.ca, .certificate_file = config.tls.certificate, .key_file = config.tls.key};
    return {};
}

LauncherOptions Agent::launcher_options() const {
    LauncherOptions options{settings_.stepd, {}};
    const auto pin = cgroup_.pin();
    if (!pin || pin.type() == "cgroup/none") return options;
    options.setup = step_setup_;
    options.setup.file = pin.instance().library().info.path;
    options.setup.type = pin.type();
    options.setup.needed = cgroup_abilities();
    return options;
}

Result<void> Agent::run(daemon::Frame& frame) {
    log::info("spurd {} for node {}: {} sockets, {} cores, {} threads, {} MiB, {} gpus; serving at {}", program_version,
              settings_.node, setup_.hardware.sockets, setup_.hardware.cores(), setup_.hardware.cpus(),
              setup_.hardware.memory_mib, setup_.gpus.devices().size(), serve_addr_);
    loop_.watch(frame.signal_fd(), EPOLLIN, [&](std::uint32_t) {
        if (!frame.has_to_stop()) return;
        log::info("stopping; {} running steps live on", jobs_->step_count());
        loop_.stop();
    });
    SPUR_CHECK(frame.ready());
    link_->start();
    loop_.run();
    loop_.forget(frame.signal_fd());
    return {};
}

// ---- the session ---------------------------------------------------------------------------------------------------

v1::Node Agent::describe_node() const {
    const auto& hardware = setup_.hardware;
    v1::Node node;
    node.set_name(settings_.node);
    node.set_hostname(hardware.hostname);
    node.set_addr(serve_addr_);
    node.set_cpus(hardware.cpus());
    node.set_boards(1);
    node.set_sockets(hardware.sockets);
    node.set_cores_per_socket(hardware.cores_per_socket);
    node.set_threads_per_core(hardware.threads_per_core);
    node.set_memory_mib(hardware.memory_mib);
    node.set_tmp_mib(hardware.tmp_mib);
    const auto vitals = read_vitals();
    node.set_load(vitals.load);
    node.set_free_memory_mib(vitals.free_memory_mib);
    for (const auto& [type, count] : setup_.gpus.counts()) {
        auto& gres = *node.add_gres();
        gres.set_name(std::string{gpu_gres});
        gres.set_type(type);
        gres.set_count(count);
    }
    describe_gpus(setup_.gpus, hardware, node);
    node.set_architecture(hardware.architecture);
    node.set_os(hardware.os);
    node.set_version(program_version);
    node.set_boot_time(hardware.boot_time);
    node.set_start_time(start_time_);
    node.set_boot_id(hardware.boot_id);
    node.set_enforced(enforced_limits());
    return node;
}

void Agent::join() {
    v1::AgentMessage message;
    auto& hello = *message.mutable_register_();
    *hello.mutable_node() = describe_node();
    hello.set_boot_id(setup_.hardware.boot_id);
    hello.set_serve_addr(serve_addr_);
    hello.set_version(program_version);
    hello.set_agent_id(memory_->agent_id());
    *hello.mutable_seen() = memory_->seen();
    hello.set_spool_id(store_->id());
    hello.set_unfit(setup_.unfit.empty() ? unkillable_ : setup_.unfit);
    for (auto& held : jobs_->held()) *hello.add_held() = std::move(held);
    link_->send(message);
}

void Agent::take_policy(const v1::AgentPolicy& policy) {
    setup_.policy = policy;
    if (!policy.cluster_name().empty()) setup_.facts.cluster = policy.cluster_name();
    setup_.facts.topology_address = policy.topology_address();
    setup_.facts.topology_pattern = policy.topology_pattern();
}

namespace {

// The state is a new one and had no id yet when this node registered: it registers again, so that both sides compare.
bool is_new_to(const v1::SeenHistory& known, const v1::SeenHistory& now) {
    return !known.history().empty() && !now.history().empty() && now.history() != known.history();
}
constexpr std::string_view founded_anew = "the cluster's state was founded anew";

}  // namespace

void Agent::take_welcome(const v1::Welcome& welcome) {
    if (welcome.standing() == v1::SAME_HISTORY && is_new_to(memory_->seen(), welcome.now()))
        return link_->close(std::string{founded_anew});
    link_->welcomed();
    welcomed_ = true;
    refusal_.clear();
    memory_->join(welcome.now(), welcome.keys());
    take_policy(welcome.policy());
    if (welcome.heartbeat_s() != 0) heartbeat_ = std::chrono::seconds{welcome.heartbeat_s()};
    log::info("joined cluster {} as node {}", setup_.facts.cluster, settings_.node);
    if (welcome.standing() != v1::SAME_HISTORY)
        log::warning(
            "the controller's state is not the one this node knew: {}; what runs here and is not in it is ended",
            welcome.standing() == v1::OLDER_STATE ? "an older copy of it was put back" : "it was founded anew");
    if (welcome.standing() == v1::OTHER_HISTORY) jobs_->forget_gone();
    jobs_->drop(welcome.unknown());
    reports_->send_all();
    beat();
}

void Agent::take_keys(const v1::StepKeys& keys) {
    if (is_new_to(memory_->seen(), keys.now())) return link_->close(std::string{founded_anew});
    memory_->join(keys.now(), keys);
}

void Agent::beat() {
    loop_.cancel(heartbeat_timer_);
    heartbeat_timer_ = loop_.after(heartbeat_, [this] { beat(); });
    if (!welcomed_) return;
    const auto vitals = read_vitals();
    v1::AgentMessage message;
    message.mutable_heartbeat()->set_load(vitals.load);
    message.mutable_heartbeat()->set_free_memory_mib(vitals.free_memory_mib);
    message.mutable_heartbeat()->set_now(std::time(nullptr));
    link_->send(message);
}

void Agent::answer(std::uint64_t sequence, const Result<void>& result) {
    if (result) return;
    log::debug("{}", result.error().text);
    v1::AgentMessage message;
    message.mutable_result()->set_sequence(sequence);
    message.mutable_result()->set_error(result.error().text);
    link_->send(message);
}

// How much of the controller's state this node has seen is written down when it matters: when a job begins, and when
// the controller has heard of an end; once for all messages that have come together.
void Agent::note_progress(const v1::ControllerMessage& message) {
    if (!message.has_launch() && !message.has_start() && !message.has_ack()) return;
    const auto job = message.has_launch()  ? message.launch().job().job_id()
                     : message.has_start() ? message.start().job().job_id()
                                           : 0;
    if (!memory_->see(message.version(), job) || std::exchange(storing_progress_, true)) return;
    loop_.post([this] {
        storing_progress_ = false;
        memory_->store_seen();
    });
}

void Agent::obey(const v1::ControllerMessage& message) {
    using Order = v1::ControllerMessage;
    note_progress(message);
    switch (message.body_case()) {
        case Order::kWelcome:
            return take_welcome(message.welcome());
        case Order::kRefused:
            if (refusal_ != message.refused().why()) {
                refusal_ = message.refused().why();
                log::error("the controller refused this node: {}", refusal_);
            }
            return link_->close(message.refused().why());
        case Order::kLaunch:
            return jobs_->launch(message.launch());
        case Order::kStart:
            return jobs_->start(message.start());
        case Order::kSignal:
            return answer(message.sequence(), jobs_->signal(message.signal()));
        case Order::kEnd:
            return jobs_->end(message.end());
        case Order::kSuspend:
            return answer(message.sequence(), jobs_->suspend(message.suspend()));
        case Order::kLimits:
            return jobs_->set_limit(message.limits());
        case Order::kAck:
            return reports_->acknowledge(message.ack().report_id());
        case Order::kPing:
            return beat();
        case Order::kKeys:
            return take_keys(message.keys());
        case Order::kReconfigure:
            return take_policy(message.reconfigure().policy());
        case Order::kReboot:
            return reboot();
        default:
            return;  // a newer controller may ask for more than we understand
    }
}

// The controller asks again whenever this node registers without having booted; one program at a time is enough. It
// ends well before the machine does, or never.
void Agent::reboot() {
    if (std::exchange(is_rebooting_, true)) return;
    const auto& program = setup_.policy.reboot_program();
    const auto ended = [this](const std::string& error) {
        is_rebooting_ = false;
        if (error.empty()) return;
        log::error("this node does not reboot: {}", error);
        v1::AgentMessage message;
        message.mutable_reboot_failed()->set_error(error);
        link_->send(message);
    };
    if (program.empty()) return ended("no [agent] reboot_program is configured");
    log::warning("rebooting: {}", program);
    const auto pid = start_script(program, {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                            fmt::format("SLURMD_NODENAME={}", settings_.node)});
    if (!pid) return ended(pid.error().text);
    watch_child(loop_, *pid, [program, ended](int status) {
        ended(status == 0 ? std::string{} : fmt::format("{} {}", program, describe_status(status)));
    });
}

std::string Agent::describe() const {
    const auto& hardware = setup_.hardware;
    auto text = fmt::format(
        "NodeName={} CPUs={} Boards=1 SocketsPerBoard={} CoresPerSocket={} ThreadsPerCore={} RealMemory={} "
        "TmpDisk={}\n",
        settings_.node, hardware.cpus(), hardware.sockets, hardware.cores_per_socket, hardware.threads_per_core,
        hardware.memory_mib, hardware.tmp_mib);
    for (const auto& [type, count] : setup_.gpus.counts()) text += fmt::format("Gres=gpu:{}:{}\n", type, count);
    text += fmt::format("Controllers={}\nStateDir={}\nCgroup={}\nBootId={}\n", settings_.controller_list,
                        settings_.state_dir, cgroup_ ? cgroup_.type() : "none", hardware.boot_id);
    if (jobs_)
        text += fmt::format("Jobs={}\nSteps={}\nUnacknowledgedReports={}\nSession={}\n", jobs_->job_count(),
                            jobs_->step_count(), reports_->waiting(), welcomed_ ? "joined" : "none");
    return text;
}

}  // namespace spur::agent
