// The threads behind "spur.executor/1". Plugins share a few and take turns; what may wait has threads of its own. Each
// instance has its own queues, its own counts, and an end: after drain() none of its tasks runs any more.
#pragma once

#include <spur/plugin/executor.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "daemons/common/host/stats.hpp"

namespace spur::host {

class Executor {
public:
    explicit Executor(unsigned threads = 4);
    ~Executor();  // forgets what waits, waits a while for what runs
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    static constexpr std::size_t most_waiting = SPUR_EXECUTOR_MOST_WAITING;
    static constexpr std::size_t most_blocking = SPUR_EXECUTOR_MOST_BLOCKING;

    // One instance's share. `plugin` names it in crash reports and lives for ever.
    class Client;
    std::shared_ptr<Client> add_client(const char* plugin);

    // With the contracts of executor.h. `drop` may be left out.
    spur_status post(const std::shared_ptr<Client>& client, spur_task run, spur_task drop, void* argument);
    spur_status post_blocking(const std::shared_ptr<Client>& client, spur_blocking_task run, spur_task drop,
                              void* argument);
    spur_status post_after(const std::shared_ptr<Client>& client, std::int64_t delay_ns, spur_task run, spur_task drop,
                           void* argument, std::uint64_t* id);
    spur_status post_every(const std::shared_ptr<Client>& client, std::int64_t period_ns, spur_task run, spur_task drop,
                           void* argument, std::uint64_t* id);
    spur_status watch_fd(const std::shared_ptr<Client>& client, int fd, std::uint32_t events, spur_watcher run,
                         spur_task drop, void* argument, std::uint64_t* id);
    bool cancel(const std::shared_ptr<Client>& client, std::uint64_t id);

    // Take no more, stop what waits inside of a task, drop what has not begun. False if something of it still runs
    // after `patience`.
    bool drain(const std::shared_ptr<Client>& client, std::chrono::milliseconds patience);
    OpStats stats(const std::shared_ptr<Client>& client) const;

private:
    struct Work;
    struct Shared;
    std::shared_ptr<Shared> shared_;  // outlives this object where a task never returns
};

}  // namespace spur::host
