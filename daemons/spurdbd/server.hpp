// spurdbd put together: the plugins, the database behind one of them, and the server in front.
#pragma once

#include <memory>

#include "core/model/config.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/spurdbd/database.hpp"
#include "daemons/spurdbd/keeper.hpp"
#include "daemons/spurdbd/service.hpp"

namespace spur::dbd {

// Which plugin, and with which database, [accounting] database_url means: a postgresql:// address, or the path of an
// SQLite file.
void choose_database(Config& config);

class Server {
public:
    Server(Config config, const std::string& state_dir);
    ~Server() { stop(); }

    // The database, and nothing is served: for commands.
    Result<void> open(bool may_migrate);
    Result<void> start(bool may_migrate);
    void stop();
    std::uint16_t port() const { return server_->port(); }
    std::string database() const { return database_->type(); }
    Database& store() { return *database_; }
    RollUp& roll_up() { return *roll_up_; }

    // What -t does: the plugins can be opened, and the database is one of ours.
    static Result<std::string> check(const Config& config, const std::string& state_dir);

private:
    Result<void> open_plugins();

    Config config_;
    host::StopSource stop_;
    host::PluginHost plugins_;
    host::Bound<host::AuthAxis> auth_;
    std::unique_ptr<Database> database_;
    std::unique_ptr<RollUp> roll_up_;
    std::unique_ptr<Keeper> keeper_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<wire::RpcServer> server_;
};

}  // namespace spur::dbd
