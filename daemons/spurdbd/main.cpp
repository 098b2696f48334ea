// spurdbd - accounting: takes the controllers' history into a database and answers questions about it.
#include <fmt/format.h>

#include "daemons/common/daemon/daemon.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurdbd/copy.hpp"
#include "daemons/spurdbd/server.hpp"

namespace {

using namespace spur;

void adjust(const daemon::DaemonOptions& options, Config& config) {
    auto& own = config.accounting;
    if (!options.listen.empty()) own.listen_addr = options.listen;
    if (options.has("database-url")) own.database_url = options.get("database-url");
    if (own.listen_addr.empty()) own.listen_addr = "127.0.0.1:6819";
    dbd::choose_database(config);
}

std::string state_dir(const daemon::DaemonOptions& options) {
    return options.state_dir.empty() ? "/var/lib/spur/dbd" : options.state_dir;
}

Result<void> check(const daemon::DaemonOptions& options, const Config& config) {
    SPUR_TRY(const auto database, dbd::Server::check(config, state_dir(options)));
    fmt::print("spurdbd: {} and its database behind {} are fine\n", config.path, database);
    return {};
}

// What is there already, instead of serving.
Result<void> take_over(daemon::Frame& frame, dbd::Server& server, const std::string& directory) {
    SPUR_CHECK(server.open(frame.options().has("migrate")));
    if (frame.options().has("import")) {
        const std::string path{frame.options().get("import")};
        SPUR_TRY(const auto rows, dbd::import_file(server, path, frame.config().cluster.cluster_name.str()));
        fmt::print("spurdbd: {} rows from {} are in the database\n", rows, path);
        return {};
    }
    auto other = frame.config();
    other.accounting.database_url = frame.options().get("copy-from");
    other.plugins.erase("accounting");
    std::erase_if(other.plugin_options, [](const auto& one) { return one.first.starts_with("accounting/"); });
    dbd::choose_database(other);
    dbd::Server source{other, directory};
    SPUR_CHECK(source.open(false));
    SPUR_TRY(const auto rows, dbd::copy_database(source.store(), server.store()));
    fmt::print("spurdbd: {} rows from {} are in the database\n", rows, other.accounting.database_url);
    return {};
}

Result<void> serve(daemon::Frame& frame) {
    const auto directory = state_dir(frame.options());
    SPUR_CHECK(frame.take_state_dir(directory));
    dbd::Server server{frame.config(), directory};
    if (frame.options().has("import") || frame.options().has("copy-from")) return take_over(frame, server, directory);
    SPUR_CHECK(server.start(frame.options().has("migrate")));
    log::info("serving history of {} on port {}", server.database(), server.port());
    SPUR_CHECK(frame.run_until_stopped([] { log::info("a changed configuration takes effect at the next start"); }));
    server.stop();
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    return daemon::run(
        {.name = "spurdbd",
         .summary = "accounting: takes the controllers' history into a database and answers questions about it",
         .options = {{"database-url", 0, "URL",
                      "where history is kept: postgresql://user@host/name, or the path of an SQLite file"},
                     {"copy-from", 0, "URL",
                      "take over what another database has, written as for --database-url, and end"},
                     {"import", 0, "FILE", "take over what sacct -P or sacctmgr of a Slurm wrote, and end"},
                     {"migrate", 0, "", "bring the schema of an older release up to date first; else that is refused"}},
         .adjust = adjust,
         .check = check,
         .serve = serve},
        argc, argv);
}
