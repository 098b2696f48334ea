// The thread pool behind "spur.executor/1". Plugins share the threads; each instance has its own queue length, its own
// counts, and an end: after drain() none of its tasks runs any more.
#pragma once

#include <spur/plugin/executor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "daemons/common/host/stats.hpp"

namespace spur::host {

class Executor {
public:
    explicit Executor(unsigned threads = 2);
    ~Executor();  // drops what waits, waits a while for what runs
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    static constexpr std::size_t most_waiting = 1'000;

    // One instance's share. `plugin` names it in crash reports and lives for ever.
    class Client;
    std::shared_ptr<Client> add_client(const char* plugin);

    spur_status post(const std::shared_ptr<Client>& client, spur_task task, void* argument);
    spur_status post_after(const std::shared_ptr<Client>& client, std::int64_t delay_ns, spur_task task, void* argument,
                           std::uint64_t* timer);
    bool cancel(const std::shared_ptr<Client>& client, std::uint64_t timer);

    // Take no more tasks, drop its timers, run what it had posted. False if something of it still runs after
    // `patience`.
    bool drain(const std::shared_ptr<Client>& client, std::chrono::milliseconds patience);
    OpStats stats(const std::shared_ptr<Client>& client) const;

private:
    struct Shared;
    void start_threads();
    std::shared_ptr<Shared> shared_;  // outlives this object where a task never returns
};

}  // namespace spur::host
