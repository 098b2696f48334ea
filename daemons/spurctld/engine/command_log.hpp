// What the engine asks of a state plugin, as a C++ interface: entries in, committed entries out, in order.
// PluginLog (plugin_log.hpp) is the real one; tests use a fake.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::ctld {

enum class LogRole : std::uint8_t { follower, candidate, leader };

// Called from the log's own thread, one call at a time.
class LogListener {
public:
    virtual ~LogListener() = default;
    virtual void on_committed(std::uint64_t index, std::string_view entry) = 0;
    // nullopt-like: code ok means committed (and reported before).
    enum class Fate : std::uint8_t { committed, unknown, not_leader, failed };
    virtual void on_outcome(std::uint64_t ticket, Fate fate, std::string why) = 0;
    virtual Result<void> on_restore(std::uint64_t index, std::string snapshot) = 0;
    virtual void on_role(LogRole role, std::uint64_t term, std::string leader) = 0;
    virtual void on_snapshot_wanted() = 0;
    virtual void on_failed(std::string why) = 0;
};

struct LogMember {
    std::uint64_t id{};
    std::string address;
    LogRole role{LogRole::follower};
    bool voter{true};
};

struct LogStatus {
    LogRole role{LogRole::follower};
    std::uint64_t term{}, last_index{}, committed_index{}, snapshot_index{}, log_bytes{}, fsyncs{}, entries{};
    std::string leader, self;
};

class CommandLog {
public:
    virtual ~CommandLog() = default;
    virtual Result<void> open(LogListener& listener) = 0;
    virtual void stop() {}  // open() and snapshot() that are under way give up
    // All or none, in this order. ErrorCode::unavailable: not the leader. On success one on_outcome follows.
    virtual Result<void> propose(const std::vector<std::string>& entries, std::uint64_t ticket) = 0;
    // A committed outcome means: after this call this was the leader, and it had reported all that was committed
    // before.
    virtual Result<void> barrier(std::uint64_t ticket) = 0;
    // [any thread but the log's] Durable on return.
    virtual Result<void> snapshot(std::uint64_t index, const std::vector<std::string>& chunks) = 0;
    virtual Result<LogStatus> status() = 0;
    virtual Result<std::vector<LogMember>> members() = 0;
    virtual Result<void> add_member(std::string_view address, std::uint64_t ticket) = 0;
    virtual Result<void> remove_member(std::string_view address, std::uint64_t ticket) = 0;
    virtual Result<void> transfer(std::string_view address, std::uint64_t ticket) = 0;
};

}  // namespace spur::ctld
