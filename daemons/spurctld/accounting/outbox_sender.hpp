// Sends the accounting outbox to spurdbd: at least once, in order, in batches, on a thread of its own. Nobody waits for
// it: the engine's thread only hands new entries over.
//
// What spurdbd has acknowledged is taken out of the replicated state (OutboxDelivered). What it does not take for so
// long that `limit` entries wait goes into files on this controller's disk, and out of the state; the files are sent
// before anything else, also by a controller that leads no more: spurdbd tells repeats and gaps apart by their numbers.
//
// What a held entry costs: about 1 kB of the controllers' memory (a copy of the job's record; request, script and
// environment are shared with the job), and the same on disk.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/model/outbox.hpp"
#include "daemons/spurctld/accounting/spool.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::ctld {

class OutboxSender final : public EngineObserver {
public:
    // [the sender's thread, waits] To spurdbd.
    using Send = std::function<Result<v1::StoreHistoryReply>(const v1::StoreHistoryRequest& batch)>;
    using Log = std::function<void(std::string)>;
    struct Options {
        std::size_t limit{100'000};
        std::size_t batch{2000};  // entries
        std::chrono::milliseconds first_pause{250}, longest_pause{15'000};
        std::chrono::milliseconds gather{20};  // what comes within this time goes together
        std::uint32_t store_flags{};           // store_flag
        std::string control_host;              // where this controller is, for the mirror
        std::uint16_t control_port{};
    };
    OutboxSender(Engine& engine, Send send, std::filesystem::path spool, Options options, Log log);
    ~OutboxSender() override { stop(); }
    Result<void> open();  // before the engine starts
    void stop();

    void on_applied(const Cluster& cluster, const Events&, const planning::Changes&,
                    const std::shared_ptr<const planning::ReadModel>&, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

    struct Stats {
        std::uint64_t waiting{}, spooled{}, delivered{}, failures{};  // entries, files, entries, calls
    };
    Stats stats() const;

private:
    void loop(const std::stop_token& stop);
    bool send_spooled();
    bool send_waiting();
    bool spill();
    void take_new(const Cluster& cluster);
    std::deque<OutboxEntry> first_waiting(std::size_t most) const;
    v1::StoreHistoryRequest batch_of(const std::deque<OutboxEntry>& entries) const;
    void done_with(const std::deque<OutboxEntry>& entries);
    void tell_problem(const Error& error);
    void warn_early(std::size_t waiting);

    Engine& engine_;
    const Send send_;
    const Options options_;
    const Log log_;
    Spool spool_;  // its thread's

    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<OutboxEntry> waiting_;
    std::uint64_t seen_{};  // the highest sequence handed over
    bool leads_{false};

    std::string problem_;  // its thread's: what was said last
    std::size_t warned_at_{};
    std::atomic<std::uint64_t> delivered_{}, failures_{}, spooled_{};
    std::jthread thread_;
};

}  // namespace spur::ctld
