// What spurdbd serves: every method of spur.v1.Accounting. The caller is who the credential says, and nothing else.
#pragma once

#include <functional>

#include "daemons/common/wire/server.hpp"
#include "daemons/common/work/worker_pool.hpp"
#include "daemons/spurdbd/access.hpp"
#include "daemons/spurdbd/database.hpp"
#include "daemons/spurdbd/retention.hpp"
#include "daemons/spurdbd/roll_up.hpp"

namespace spur::dbd {

class Service {
public:
    Service(Database& database, RollUp& roll_up, Access access, Retention retention);
    void register_all(wire::RpcServer& server);
    void stop();  // nobody is answered any more

private:
    void store(const wire::Call& call);
    void list_history(const wire::Call& call);
    void list_rows(const wire::Call& call);
    void sum_usage(const wire::Call& call);
    void sum_jobs(const wire::Call& call);
    void archive(const wire::Call& call);
    void about(const wire::Call& call);

    Database& database_;
    RollUp& roll_up_;
    const Access access_;
    const std::int64_t boot_time_;
    const Retention retention_;
    work::WorkerPool writers_, readers_;  // a database that hangs for one kind of call does not keep the other waiting
};

}  // namespace spur::dbd
