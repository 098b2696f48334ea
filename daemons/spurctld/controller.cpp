// Opening, wiring and stopping the controller's parts, and reconfiguring them.
#include "daemons/spurctld/controller.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <future>

#include "core/machine/validate.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/config/config.hpp"
#include "daemons/common/isolate/process.hpp"
#include "daemons/common/log/batch.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/common/log/throttle.hpp"
#include "daemons/common/wire/accounting_name.hpp"
#include "daemons/common/wire/members.hpp"
#include "daemons/spurctld/engine/cluster_name.hpp"
#include "daemons/spurctld/engine/plugin_log.hpp"
#include "daemons/spurctld/settings/config_items.hpp"
#include "daemons/spurctld/settings/config_warnings.hpp"
#include "spur/v1/metrics.pb.h"
#include "spur/v1/peer.pb.h"

namespace spur::ctld {

namespace {

UnixSeconds wall_clock() { return static_cast<UnixSeconds>(::time(nullptr)); }

std::string host_name() {
    std::string name(256, '\0');
    ::gethostname(name.data(), name.size() - 1);
    name.resize(name.find('\0'));
    return name.substr(0, name.find('.'));
}

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
}

// Stands in for a directory that does not exist yet, and goes with what was put into it.
class TrialDirectory {
public:
    explicit TrialDirectory(std::string& path) {
        std::error_code ignored;
        if (path.empty() || std::filesystem::exists(path, ignored)) return;
        std::string pattern = std::filesystem::temp_directory_path(ignored) / "spurctld-trial-XXXXXX";
        if (mkdtemp(pattern.data()) != nullptr) made_ = path = pattern;
    }
    ~TrialDirectory() {
        std::error_code ignored;
        if (!made_.empty()) std::filesystem::remove_all(made_, ignored);
    }
    TrialDirectory(const TrialDirectory&) = delete;
    TrialDirectory& operator=(const TrialDirectory&) = delete;

private:
    std::string made_;
};

ConfigKeeper::Own own_part(const Config& config) {
    return {config.cluster, digest_of(config), config.path.empty() ? "the built-in configuration" : config.path};
}

SchedulerOptions scheduler_options(const SchedulerConfig& config) {
    SchedulerOptions options;
    options.interval = std::chrono::seconds{std::max(config.interval_s, 1U)};
    options.budget = std::chrono::milliseconds{static_cast<std::int64_t>(config.budget_s * 1000)};
    options.usage_interval = std::chrono::seconds{std::max(config.fairshare_interval_s, 1U)};
    return options;
}

const std::vector<const host::AxisInfo*>& own_axes() {
    static const std::vector<const host::AxisInfo*> axes{&host::StateAxis::info,    &host::AuthAxis::info,
                                                         &host::SchedAxis::info,    &host::SelectAxis::info,
                                                         &host::PriorityAxis::info, &host::JobSubmitAxis::info};
    return axes;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

std::string in_one_line(const std::string& text) {
    std::string line;
    for (const auto part : split(text, '\n')) line += (line.empty() ? "" : "; ") + std::string{part};
    return line;
}

// A plugin that is open twice, for plans and for questions, changes once.
void add_changes(const std::vector<host::Change>& changes, v1::ReconfigureReply& reply) {
    std::vector<host::Change> told;
    for (const auto& change : changes) {
        if (std::ranges::find(told, change) != told.end()) continue;
        told.push_back(change);
        if (change.what == "file changed")
            reply.add_warnings(
                fmt::format("the file of plugin {} has changed; restart spurctld to load it", change.to));
        else if (change.what == "restart needed")
            reply.add_warnings(fmt::format("{}: the change from {} to {} takes effect when spurctld is restarted",
                                           change.axis, change.from, change.to));
        else
            reply.add_changes(fmt::format("{}: {} -> {} ({})", change.axis, change.from.empty() ? "none" : change.from,
                                          change.to.empty() ? "none" : change.to, change.what));
    }
}

std::optional<wire::TlsOptions> tls_options(const TlsConfig& config) {
    if (config.certificate.empty()) return std::nullopt;
    return wire::TlsOptions{.ca_file = config.ca, .certificate_file = config.certificate, .key_file = config.key};
}

}  // namespace

// Says who leads. A new leader's clock goes on from where the state is, before anything is proposed.
class Controller::LeadershipLog final : public EngineObserver {
public:
    explicit LeadershipLog(Controller& controller) : controller_{controller} {}
    void on_applied(const Cluster&, const Events&, const planning::Changes&,
                    const std::shared_ptr<const planning::ReadModel>&, bool) override {}
    void on_leadership(const Cluster& cluster, const Leadership& now) override {
        log::info("{}", now.is_leader ? "this controller leads"
                                      : "this controller follows " +
                                            (now.leader.empty() ? std::string{"nobody yet"} : now.leader));
        controller_.server_->set_serving(controller_.engine_->is_current());
        if (now.is_leader) controller_.clock_.not_before(cluster.now());
        controller_.take_name(cluster);
    }

private:
    Controller& controller_;
};

host::HostOptions Controller::host_options(const Config& config) {
    host::HostOptions options;
    options.program = "spurctld";
    options.isolate = isolate::isolator();
    options.slow_call = std::chrono::seconds{10};
    options.facts = {{"cluster_name", config.cluster.cluster_name.str()},
                     {"state_dir", config.controller.state_dir},
                     {"listen_addr", config.controller.listen_addr},
                     {"controller.hosts", joined(config.controller.hosts)}};
    options.crash_journal = host::crash_journal_in(config.controller.state_dir);
    return options;
}

Controller::Controller(Config config, LoadConfig reload, std::function<void()> request_stop, bool may_rename)
    : config_{std::move(config)},
      reload_{std::move(reload)},
      request_stop_{std::move(request_stop)},
      may_rename_{may_rename},
      plugins_{host_options(config_)},
      authority_{config_.auth, users_},
      clock_{ClusterClock::machine(), [](const std::string& text) { log::warning("{}", text); }} {}

Controller::~Controller() { stop(); }

Result<std::vector<std::string>> Controller::check(const Config& config) {
    SPUR_CHECK(check_cluster_name(config.controller.state_dir, config.cluster.cluster_name.str(), false));
    // A state directory that the first start will make is not missed: the plugins get one for the trial.
    auto trial = config;
    const TrialDirectory directory{trial.controller.state_dir};
    host::PluginHost plugins{host_options(trial)};
    const auto opened = plugins.check(trial, own_axes());
    auto mistakes = opened ? std::string{} : opened.error().text;
    if (trial.controller.state_dir != config.controller.state_dir)  // a sentence names the place that was meant
        replace_all(mistakes, trial.controller.state_dir, config.controller.state_dir);
    for (const auto& sentence : host::PluginHost::stray_options(config, own_axes(), true))
        mistakes += (mistakes.empty() ? "" : "\n") + sentence;
    if (!mistakes.empty()) return fail(ErrorCode::invalid, "{}", mistakes);
    SPUR_TRY(const auto auth, plugins.open<host::AuthAxis>(trial));
    SPUR_TRY(const auto listen, Endpoint::parse(trial.controller.listen_addr));
    SPUR_CHECK(auth::check_transport(auth, listen, !trial.tls.certificate.empty()));
    auto warnings = warnings_about(config);
    const auto ask = Peers::by_wire(peer_options(trial, auth));
    for (const auto& host : config.controller.hosts)  // those that run can be asked
        if (const auto facts = ask(host); !facts && facts.error().code == ErrorCode::denied)
            warnings.push_back(Peers::distrust(host, facts.error()));
    return warnings;
}

// Plugins of other daemons need not be installed here, but may be mistyped all the same.
std::vector<std::string> Controller::warnings_about(const Config& config) {
    auto warnings = config::config_warnings(config);
    for (auto& sentence : host::PluginHost::stray_options(config, own_axes(), false))
        warnings.push_back(std::move(sentence));
    if (config.controller.hosts.size() > 1 && config.auth.plugin == "auth/local")
        warnings.push_back(
            "auth is local and there are several controllers: every controller and every node needs a copy of "
            "one and the same key file");
    return warnings;
}

Result<void> Controller::start() {
    for (const auto& warning : warnings_about(config_)) log::warning("{}", warning);
    for (const auto& sentence : host::PluginHost::stray_options(config_, own_axes(), true))
        log::warning("{}", sentence);
    SPUR_CHECK(open_plugins());
    return serve();
}

Result<void> Controller::open_plugins() {
    SPUR_TRY(auth_, plugins_.open<host::AuthAxis>(config_));
    SPUR_TRY(policies_.select, plugins_.open<host::SelectAxis>(config_));
    SPUR_TRY(job_submit_, plugins_.open_chain<host::JobSubmitAxis>(config_));
    SPUR_TRY(policies_.priority, plugins_.open<host::PriorityAxis>(config_));
    SPUR_TRY(policies_.sched, plugins_.open<host::SchedAxis>(config_));
    SPUR_TRY(const auto state, plugins_.open<host::StateAxis>(config_));
    engine_ = std::make_unique<Engine>(
        std::make_unique<PluginLog>(state), [this] { return clock_.now(); },
        [](const std::string& text) { log::warning("{}", text); });
    engine_->on_fatal([this](const std::string& why) { give_up({ErrorCode::internal, why}); });
    return {};
}

void Controller::give_up(const Error& error) {
    log::error("stopping: {}", error.text);
    {
        const std::lock_guard lock{mutex_};
        failure_ = error;
    }
    request_stop_();
}

// Is this the state of the cluster that is configured? A state that says nothing is new.
bool Controller::take_name(const Cluster& cluster) {
    std::string dir, name;
    {
        const std::lock_guard lock{mutex_};
        dir = config_.controller.state_dir;
        name = config_.cluster.cluster_name.str();
    }
    const auto kept = cluster.config().cluster_name.str();
    if (!kept.empty() && kept != name && !may_rename_) return give_up(name_mismatch(dir, kept, name)), false;
    if (const auto done = keep_cluster_name(dir, name); !done) log::warning("{}", done.error().text);
    return true;
}

Result<void> Controller::serve() {
    const auto warn = [](const std::string& text) { log::warning("{}", text); };
    auto service_hooks = hooks();
    step_keys_ = std::make_unique<StepKeys>(*engine_, config_.controller.state_dir, warn);
    step_keys_->set_lifetime(std::chrono::seconds{config_.agent.step_key_lifetime_s});
    SPUR_CHECK(step_keys_->open());
    service_hooks.sign_step = [this](std::string body) { return step_keys_->sign(std::move(body)); };
    agents_ = std::make_unique<Agents>(*engine_, users_, config_.agent, config_.cluster.cluster_name.str(), warn);
    watchers_ = std::make_unique<WatchHub>(*engine_, users_);
    scheduler_ = std::make_unique<Scheduler>(*engine_, policies_, scheduler_options(config_.scheduler), warn);
    leadership_log_ = std::make_unique<LeadershipLog>(*this);
    keeper_ = std::make_unique<ConfigKeeper>(
        *engine_, own_part(config_),
        ConfigKeeper::Hooks{.may_apply = [this](const Cluster& cluster) { return take_name(cluster); },
                            .reload = [this] { reload_after_change(); },
                            .log = warn});
    peers_ = std::make_unique<Peers>(*engine_, Peers::by_wire(peer_options(config_, auth_)), wall_clock, warn);
    background_ = std::make_unique<BackgroundWorker>();
    engine_->observe(*leadership_log_);
    engine_->observe(*step_keys_);  // before the agents: what it proposes comes before any of them registers
    audit_ =
        std::make_unique<Audit>([](const std::vector<std::string>& lines) { log::write_all(log::Level::info, lines); });
    engine_->observe(*audit_);
    engine_->observe(*agents_);
    engine_->observe(*watchers_);
    engine_->observe(*scheduler_);
    engine_->observe(*peers_);  // before the keeper: what it proposes may depend on the version
    engine_->observe(*keeper_);
    SPUR_CHECK(open_outbox());
    what_if_ = std::make_unique<WhatIf>([this] { return open_more_policies(); });
    gate_ = std::make_unique<ReadGate>(*engine_, leader_question(), config_.controller.hosts.size() < 2);
    engine_->observe(*gate_);
    service_ = std::make_unique<Service>(*engine_, *agents_, authority_, users_, *watchers_, *what_if_, *gate_,
                                         std::move(service_hooks));

    wire::ServerOptions options;
    SPUR_TRY(options.listen, Endpoint::parse(config_.controller.listen_addr));
    SPUR_CHECK(auth::check_transport(auth_, options.listen, !config_.tls.certificate.empty()));
    options.authenticator = std::make_shared<auth::PluginAuthenticator>(auth_);
    options.cluster = config_.cluster.cluster_name.str();
    options.name = wire::controller_name;
    options.warn = [throttle = std::make_shared<log::Throttle>()](std::string_view text) { throttle->warning(text); };
    options.tls = tls_options(config_.tls);
    server_ = std::make_unique<wire::RpcServer>(std::move(options));
    service_->register_all(*server_);
    server_->unary("/spur.v1.Metrics/Read", [this](const wire::Call& call) { read_metrics(call); });
    server_->set_serving(false);  // until the engine has read the log

    listen_to_plugins();
    SPUR_CHECK(engine_->start());
    SPUR_CHECK(server_->start());
    return {};
}

void Controller::read_metrics(const wire::Call& call) const {
    v1::MetricsReply reply;
    reply.set_text(host::openmetrics_text(plugins_.metrics()));
    call.reply_with(reply);
}

// What plugins say has changed, and what follows from it here.
void Controller::listen_to_plugins() {
    for (const auto what : {SPUR_CHANGED_PLAN, SPUR_CHANGED_PRIORITIES})
        plugins_.on_changed(what, [this](const host::Notice&) { scheduler_->wake(); });
    plugins_.on_changed(SPUR_CHANGED_KEYS, [this](const host::Notice& notice) {
        const auto why = fmt::format("{} says that its keys changed{}{}; open it again", notice.plugin,
                                     notice.reason.empty() ? "" : ": ", notice.reason);
        log::info("{}", why);
        agents_->close_all(why);
        watchers_->close_all(why);
    });
}

Result<void> Controller::failure() const {
    const std::lock_guard lock{mutex_};
    if (failure_) return std::unexpected(*failure_);
    return {};
}

void Controller::stop() {
    plugins_.stop_listening();
    if (server_) server_->drain(std::chrono::seconds{2});
    users_.stop();
    if (scheduler_) scheduler_->stop();
    if (watchers_) watchers_->stop();
    if (gate_) gate_->stop();
    if (service_) service_->stop();
    if (what_if_) what_if_->stop();
    if (peers_) peers_->stop();
    if (outbox_) outbox_->stop();
    if (background_) background_->stop();
    if (engine_) engine_->stop();
    if (audit_) audit_->stop();
    server_.reset();
    service_.reset();
    what_if_.reset();
    gate_.reset();
    scheduler_.reset();
    watchers_.reset();
    agents_.reset();
    step_keys_.reset();
    keeper_.reset();
    peers_.reset();
    outbox_.reset();
    leadership_log_.reset();
    plugins_.stop();  // the log may speak to the engine until it is destroyed
    engine_.reset();
}

// History goes to spurdbd where the configuration says that there is one.
Result<void> Controller::open_outbox() {
    if (!config_.cluster.policies.keep_outbox) return {};
    auto there = peer_options(config_, auth_);
    there.server = wire::accounting_name;
    there.cluster.clear();  // it may be shared by several
    SPUR_TRY(there.endpoints, Endpoint::parse_list(config_.accounting.host, accounting_port));
    const auto channel = std::make_shared<wire::Channel>(std::move(there));
    OutboxSender::Options options;
    options.store_flags = config_.accounting.store_flags;
    if (const auto listen = Endpoint::parse(config_.controller.listen_addr)) {
        options.control_host = listen->host;
        options.control_port = listen->port;
    }
    outbox_ = std::make_unique<OutboxSender>(
        *engine_,
        [channel](const v1::StoreHistoryRequest& batch) -> Result<v1::StoreHistoryReply> {
            auto reply = wire::call<v1::StoreHistoryReply>(*channel, "/spur.v1.Accounting/Store", batch,
                                                           {.timeout = std::chrono::seconds{70},
                                                            .unreachable_timeout = std::chrono::milliseconds{500},
                                                            .idempotent = true,
                                                            .metadata = {}});
            if (!reply) return std::unexpected(static_cast<const Error&>(reply.error()));
            return std::move(*reply);
        },
        std::filesystem::path{config_.controller.state_dir} / "history", std::move(options),
        [](const std::string& text) { log::warning("{}", text); });
    SPUR_CHECK(outbox_->open());
    engine_->observe(*outbox_);
    return {};
}

// For a channel to another controller.
wire::ChannelOptions Controller::peer_options(const Config& config, const host::Bound<host::AuthAxis>& auth) {
    wire::ChannelOptions options;
    options.tls = tls_options(config.tls);
    options.credentials = std::make_shared<auth::PluginCredentials>(auth);
    options.cluster = config.cluster.cluster_name.str();
    options.server = wire::controller_name;
    return options;
}

// [gate's thread]
ReadGate::AskLeader Controller::leader_question() {
    struct Asked {
        std::string leader, problem;
        std::optional<wire::Channel> channel;
    };
    return [options = peer_options(config_, auth_),
            asked = std::make_shared<Asked>()](const std::string& leader) -> Result<std::uint64_t> {
        if (!asked->channel || asked->leader != leader) {
            auto there = options;
            there.endpoints.resize(1);
            SPUR_TRY(there.endpoints.front(), wire::resolve({wire::controller_name, leader}));
            asked->channel.emplace(std::move(there));
            asked->leader = leader;
        }
        const auto reply =
            wire::call<v1::ReadPointReply>(*asked->channel, "/spur.v1.Peer/ReadPoint", v1::ReadPointRequest{},
                                           {.timeout = ReadGate::ask_limit,
                                            .unreachable_timeout = ReadGate::ask_limit,
                                            .idempotent = true,
                                            .metadata = {}});
        if (reply) {
            asked->problem.clear();
            return reply->version();
        }
        if (std::exchange(asked->problem, reply.error().text) != reply.error().text)
            log::warning("cannot ask the leader {} how far it is: {}{}", leader, reply.error().text,
                         reply.error().status == wire::Status::unauthenticated
                             ? "; have both controllers the same auth key?"
                             : "");
        return fail(ErrorCode::unavailable, "{}", reply.error().text);
    };
}

// A second set of instances for questions, which may be asked while the first set plans.
Result<planning::PolicyPlugins> Controller::open_more_policies() {
    Config config;
    {
        const std::lock_guard lock{mutex_};
        config = config_;
    }
    planning::PolicyPlugins more;
    SPUR_TRY(more.select, plugins_.open<host::SelectAxis>(config));
    SPUR_TRY(more.priority, plugins_.open<host::PriorityAxis>(config));
    SPUR_TRY(more.sched, plugins_.open<host::SchedAxis>(config));
    return more;
}

ServiceHooks Controller::hooks() {
    ServiceHooks hooks;
    hooks.reconfigure = [this](const std::string& by) { return reconfigure(by); };
    hooks.shut_down = [this] { request_stop_(); };
    hooks.stop_scheduling = [this] {
        scheduler_->pause();
        log::info("no more jobs are started: the cluster is about to stop");
    };
    hooks.plugin_stats = [this] { return plugin_stats(); };
    hooks.config_items = [this] { return config_items(); };
    hooks.diagnostics = [this](v1::DiagnosticsReply& reply, bool) {
        const auto stats = scheduler_->stats();
        auto& counters = *reply.mutable_counters();
        counters["schedule_cycles"] = static_cast<std::int64_t>(stats.cycles);
        counters["schedule_started"] = static_cast<std::int64_t>(stats.started);
        counters["schedule_last_us"] = static_cast<std::int64_t>(stats.last_us);
        counters["schedule_max_us"] = static_cast<std::int64_t>(stats.max_us);
        counters["schedule_total_us"] = static_cast<std::int64_t>(stats.total_us);
        counters["schedule_pending"] = static_cast<std::int64_t>(stats.last_pending);
        counters["schedule_overruns"] = static_cast<std::int64_t>(stats.overruns);
        if (!outbox_) return;
        const auto history = outbox_->stats();
        counters["history_waiting"] = static_cast<std::int64_t>(history.waiting);
        counters["history_spooled_batches"] = static_cast<std::int64_t>(history.spooled);
        counters["history_delivered"] = static_cast<std::int64_t>(history.delivered);
        counters["history_failures"] = static_cast<std::int64_t>(history.failures);
    };
    hooks.audit = [this](std::string line) { audit_->add(std::move(line)); };
    hooks.issue_token = [this](Uid uid, const std::string& user, std::chrono::seconds lifespan,
                               const std::string& scopes) {
        return auth::issue_token(auth_, {uid, user, lifespan, scopes, config_.cluster.cluster_name.str()});
    };
    hooks.priorities = [this]() -> const planning::PriorityReport& { return scheduler_->priorities(); };
    hooks.priority_option = [this](std::string_view key) { return priority_option(key); };
    hooks.log = [throttle = std::make_shared<log::Throttle>()](const std::string& text) { throttle->warning(text); };
    hooks.job_submit = job_submit_;
    hooks.hostname = host_name();
    hooks.boot_time = wall_clock();
    if (const auto listen = Endpoint::parse(config_.controller.listen_addr)) {
        hooks.listen_host = listen->host;
        hooks.listen_port = listen->port;
    }
    hooks.agents_show_certificates = !config_.tls.certificate.empty() && !config_.tls.ca.empty();
    return hooks;
}

namespace {

// What came of reading the file again is in the log, whoever asked for it.
Result<v1::ReconfigureReply> logged(const std::string& by, Result<v1::ReconfigureReply> reply) {
    if (!reply) {
        log::error("reconfigure by {} refused, the old configuration stays: {}", by, in_one_line(reply.error().text));
        return reply;
    }
    std::string changes;
    for (const auto& change : reply->changes()) changes += "; " + change;
    log::info("reconfigured by {}{}", by, changes);
    for (const auto& warning : reply->warnings()) log::warning("reconfigure: {}", warning);
    return reply;
}

}  // namespace

Result<v1::ReconfigureReply> Controller::reconfigure(const std::string& by) {
    const std::lock_guard one_at_a_time{reconfiguring_};
    if (!engine_->leadership().is_leader)  // the client asks the leader, and the others follow that one
        return fail(ErrorCode::unavailable, "this controller does not lead");
    return logged(by, take_new_config(true));
}

Result<v1::ReconfigureReply> Controller::reload(const std::string& by) {
    const std::lock_guard one_at_a_time{reconfiguring_};
    auto reply = logged(by, take_new_config(engine_->leadership().is_leader));
    if (reply) keeper_->compare();
    return reply;
}

// [engine thread] Another controller has brought a configuration into force: the file is likely to be here as well. It
// is not brought in from here, even if this controller leads by the time it has been read.
void Controller::reload_after_change() {
    background_->post([this] {
        const std::lock_guard one_at_a_time{reconfiguring_};
        static_cast<void>(logged("the leader", take_new_config(false)));
        keeper_->compare();
    });
}

// [reconfiguring_ held]
Result<v1::ReconfigureReply> Controller::take_new_config(bool into_force) {
    SPUR_TRY(auto fresh, reload_());
    if (fresh.cluster.cluster_name != config_.cluster.cluster_name)
        return fail(
            ErrorCode::invalid,
            "cluster_name is {} now and {} in {}; a running cluster cannot be renamed: stop it and start spurctld "
            "once with --rename-cluster",
            spur::quoted(config_.cluster.cluster_name.view()), spur::quoted(fresh.cluster.cluster_name.view()),
            fresh.path);
    return take(std::move(fresh), into_force);
}

// [reconfiguring_ held] All of it or nothing.
Result<v1::ReconfigureReply> Controller::take(Config fresh, bool into_force) {
    SPUR_TRY(const auto changes, plugins_.reconfigure(fresh));
    v1::ReconfigureReply reply;
    add_changes(changes, reply);
    for (auto& warning : warn_of_removals(*engine_->model(), fresh.cluster)) reply.add_warnings(std::move(warning));
    if (fresh.controller.listen_addr != config_.controller.listen_addr)
        reply.add_warnings("controller.listen_addr takes effect at the next start");
    if (fresh.controller.state_dir != config_.controller.state_dir)
        reply.add_warnings("controller.state_dir takes effect at the next start");
    if (into_force)
        if (const auto done = bring_into_force(fresh); !done) {
            if (const auto back = plugins_.reconfigure(config_); !back)
                log::error("the plugins could not be set back: {}", back.error().text);
            return std::unexpected(done.error());
        }
    keeper_->set(own_part(fresh));
    authority_.reconfigure(fresh.auth);
    agents_->reconfigure(fresh.agent);
    step_keys_->set_lifetime(std::chrono::seconds{fresh.agent.step_key_lifetime_s});
    scheduler_->reconfigure(scheduler_options(fresh.scheduler));
    const std::lock_guard lock{mutex_};
    config_ = std::move(fresh);
    return reply;
}

Result<void> Controller::bring_into_force(const Config& fresh) {
    std::promise<Result<void>> applied;
    engine_->post(
        [&] {
            engine_->propose(keeper_->command(engine_->cluster(), own_part(fresh)), [&](const Result<Events>& result) {
                applied.set_value(result ? Result<void>{} : std::unexpected(result.error()));
            });
        },
        [&](const Error& error) { applied.set_value(std::unexpected(error)); });
    return applied.get_future().get();
}

v1::PluginStatsReply Controller::plugin_stats() const {
    v1::PluginStatsReply reply;
    reply.set_daemon("spurctld");
    for (const auto& status : plugins_.list()) {
        auto& out = *reply.add_plugins();
        out.set_type(status.type);
        out.set_version(status.version);
        out.set_vendor(status.vendor);
        out.set_path(status.path);
        out.set_state(status.state);
        out.set_detail(status.detail);
        for (const auto& op : status.ops) {
            auto& stats = *out.add_ops();
            stats.set_op(op.op);
            stats.set_calls(op.calls);
            stats.set_total_ns(op.total_ns);
            stats.set_max_ns(op.max_ns);
            stats.set_failures(op.failures);
            stats.set_overruns(op.overruns);
            stats.set_running(op.running);
            stats.set_running_ns(op.running_ns);
        }
    }
    return reply;
}

std::string Controller::priority_option(std::string_view key) const {
    const auto type = policies_.priority.type();
    const std::lock_guard lock{mutex_};
    const auto section = config_.plugin_options.find(type);
    if (section == config_.plugin_options.end()) return {};
    const auto option = std::ranges::find(section->second, key, &ConfigOption::key);
    if (option == section->second.end()) return {};
    if (const auto* text = std::get_if<std::string>(&option->value)) return *text;
    if (const auto* list = std::get_if<std::vector<std::string>>(&option->value)) return joined(*list);
    return {};
}

std::vector<std::pair<std::string, std::string>> Controller::config_items() const {
    const auto plugins = plugins_.list();
    const std::lock_guard lock{mutex_};
    return describe_config(config_, plugins);
}

}  // namespace spur::ctld
