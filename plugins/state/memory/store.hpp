// A log in memory with a thread that commits, and nothing else: no disk, no peers.
//
// Stores have names. Instances of one name share what is in it, one after the other, so a test can close and reopen
// without leaving the process; the nameless store belongs to its instance alone.
#pragma once

#include <spur/plugin/state.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace spur::memory {

// What outlives an instance.
struct Store {
    std::mutex mutex;
    bool is_open = false;
    std::uint64_t term = 0;
    std::uint64_t last_index = 0;
    std::uint64_t snapshot_index = 0;
    std::optional<std::string> snapshot;
    struct Entry {
        std::uint64_t index, term;
        std::string body;
    };
    std::deque<Entry> entries;  // behind the snapshot
    std::uint64_t bytes = 0;    // of them

    static std::shared_ptr<Store> named(const std::string& name);
};

struct Settings {
    std::string store;
    std::chrono::microseconds latency{0};
    std::uint64_t snapshot_threshold = 20000;
    std::string self;
};

class Log {
public:
    explicit Log(Settings settings);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // The operations of spur_state_ops; each returns a status and sets `why` when it is negative.
    spur_status open(const spur_state_listener* listener, std::string& why);
    spur_status propose(const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket, std::string& why);
    spur_status barrier(std::uint64_t ticket, std::string& why) { return enqueue({ticket, {}}, why); }
    spur_status snapshot(std::uint64_t index, const spur_source* source, std::string& why);
    spur_state_status status() const;
    const std::string& self() const { return settings_.self; }

private:
    struct Proposal {
        std::uint64_t ticket = 0;
        std::vector<std::string> bodies;
    };

    spur_status enqueue(Proposal proposal, std::string& why);
    spur_status replay(std::string& why);
    void work();
    void commit(std::vector<Proposal> batch);
    void outcome(std::uint64_t ticket, spur_status status, const char* text);

    const Settings settings_;
    std::shared_ptr<Store> store_;
    const spur_state_listener* listener_ = nullptr;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Proposal> queue_;
    bool stopping_ = false;
    std::uint64_t batches_ = 0;  // under the store's mutex, as the rest of the status
    std::uint64_t committed_ = 0;
    std::uint64_t wanted_at_ = 0;
};

}  // namespace spur::memory
