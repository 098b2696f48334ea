// Opening, serving and stopping.
#include "daemons/spurdbd/server.hpp"

#include <algorithm>

#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/isolate/process.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/common/log/throttle.hpp"
#include "daemons/common/wire/accounting_name.hpp"

namespace spur::dbd {
namespace {

host::HostOptions host_options(const Config& config, const std::string& state_dir) {
    host::HostOptions options;
    options.program = "spurdbd";
    options.facts = {{"cluster_name", config.cluster.cluster_name.str()},
                     {"state_dir", state_dir},
                     {"listen_addr", config.accounting.listen_addr}};
    options.isolate = isolate::isolator();
    options.crash_journal = host::crash_journal_in(state_dir);
    return options;
}

bool is_postgres(std::string_view url) { return url.starts_with("postgresql://") || url.starts_with("postgres://"); }

}  // namespace

void choose_database(Config& config) {
    const auto& url = config.accounting.database_url;
    if (!config.plugins.contains("accounting"))
        config.plugins["accounting"] = {is_postgres(url) ? "accounting/postgres" : "accounting/sqlite"};
    if (url.empty()) return;
    auto& options = config.plugin_options[config.plugins["accounting"].front()];
    if (std::ranges::find(options, "database", &ConfigOption::key) == options.end())
        options.push_back({"database", url, 0});
}

Server::Server(Config config, const std::string& state_dir)
    : config_{std::move(config)}, plugins_{host_options(config_, state_dir)} {}

Result<void> Server::open_plugins() {
    SPUR_TRY(auth_, plugins_.open<host::AuthAxis>(config_));
    SPUR_TRY(const auto accounting, plugins_.open<host::AccountingAxis>(config_));
    database_ = std::make_unique<Database>(accounting, stop_);
    return {};
}

Result<std::string> Server::check(const Config& config, const std::string& state_dir) {
    Server trial{config, state_dir};
    SPUR_CHECK(trial.open_plugins());
    SPUR_CHECK(trial.database_->check());
    return trial.database();
}

Result<void> Server::open(bool may_migrate) {
    SPUR_CHECK(open_plugins());
    SPUR_CHECK(database_->open(may_migrate));
    roll_up_ = std::make_unique<RollUp>(*database_);
    return roll_up_->load();
}

Result<void> Server::start(bool may_migrate) {
    SPUR_CHECK(open(may_migrate));
    const auto retention = Retention::of(config_.accounting);
    service_ = std::make_unique<Service>(*database_, *roll_up_, Access{config_}, retention);
    wire::ServerOptions options;
    SPUR_TRY(options.listen, Endpoint::parse(config_.accounting.listen_addr));
    SPUR_CHECK(auth::check_transport(auth_, options.listen, !config_.tls.certificate.empty()));
    options.authenticator = std::make_shared<auth::PluginAuthenticator>(auth_);
    options.name =
        wire::accounting_name;  // several clusters may share it: credentials are for the daemon, whoever's they are
    options.warn = [throttle = std::make_shared<log::Throttle>()](std::string_view text) { throttle->warning(text); };
    if (!config_.tls.certificate.empty())
        options.tls = wire::TlsOptions{
            .ca_file = config_.tls.ca, .certificate_file = config_.tls.certificate, .key_file = config_.tls.key};
    server_ = std::make_unique<wire::RpcServer>(std::move(options));
    service_->register_all(*server_);
    keeper_ = std::make_unique<Keeper>(*database_, *roll_up_, retention);
    return server_->start();
}

void Server::stop() {
    stop_.stop();
    if (server_) server_->drain(std::chrono::seconds{2});
    if (service_) service_->stop();
    keeper_.reset();
    server_.reset();
    service_.reset();
    roll_up_.reset();
    database_.reset();
    plugins_.stop();
}

}  // namespace spur::dbd
