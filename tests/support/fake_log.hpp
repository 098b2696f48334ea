// A command log in memory that does what the test says: commits at once or when told, refuses, loses the lead, tells of
// entries that others wrote.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemons/spurctld/engine/command_log.hpp"

namespace spur::testing {

class FakeLog final : public ctld::CommandLog {
public:
    using Fate = ctld::LogListener::Fate;

    // ---- before the engine starts
    std::string first_snapshot;              // restored by open()
    std::vector<std::string> first_entries;  // reported by open()
    bool leads{true};                        // from open() on
    std::vector<ctld::LogMember> group{{.id = 1, .address = self, .role = ctld::LogRole::leader}};
    static constexpr const char* self = "127.0.0.1:6817";

    // ---- what happens to proposals
    void hold();                              // they wait for release()
    void release();                           // those that wait are committed, in order
    void lose(Fate fate);                     // those that wait meet this fate
    void say_committed();                     // of those that wait, before it is true
    void refuse(std::optional<Error> error);  // propose() itself says so; nothing: it takes them again
    void set_largest(std::size_t bytes);      // of a proposal, as a real log has it
    std::vector<std::vector<std::string>> proposals() const;
    std::vector<std::string> entries() const;  // committed so far

    // ---- what others do
    void append(std::string entry);  // committed, written by another controller
    void repeat(const std::string& entry, std::uint64_t index) { listener_->on_committed(index, entry); }
    void become(ctld::LogRole role, std::uint64_t term = 1, std::string leader = self);
    Result<void> restore(std::uint64_t index, std::string snapshot) { return listener_->on_restore(index, snapshot); }
    void want_snapshot() { listener_->on_snapshot_wanted(); }
    void fail_for_good(std::string why) { listener_->on_failed(std::move(why)); }
    std::vector<std::pair<std::uint64_t, std::string>> snapshots() const;  // that were stored

    Result<void> open(ctld::LogListener& listener) override;
    Result<void> propose(const std::vector<std::string>& entries, std::uint64_t ticket) override;
    Result<void> barrier(std::uint64_t ticket) override;
    Result<void> snapshot(std::uint64_t index, const std::vector<std::string>& chunks) override;
    Result<ctld::LogStatus> status() override {
        ctld::LogStatus status;
        status.self = self;
        return status;
    }
    Result<std::vector<ctld::LogMember>> members() override { return group; }
    Result<void> add_member(std::string_view, std::uint64_t) override { return no(); }
    Result<void> remove_member(std::string_view, std::uint64_t) override { return no(); }
    Result<void> transfer(std::string_view, std::uint64_t) override { return no(); }

private:
    struct Proposal {
        std::uint64_t ticket;
        std::vector<std::string> entries;
    };
    static Result<void> no() { return fail(ErrorCode::unavailable, "not in this test"); }
    void commit(const std::vector<std::string>& entries);

    mutable std::recursive_mutex mutex_;  // the listener only queues, so it may be told under the lock
    ctld::LogListener* listener_{nullptr};
    std::uint64_t index_{0};
    bool holds_{false};
    std::optional<Error> refusal_;
    std::size_t largest_{SIZE_MAX};
    std::vector<Proposal> waiting_;
    std::vector<std::vector<std::string>> proposals_;
    std::vector<std::string> entries_;
    std::vector<std::pair<std::uint64_t, std::string>> snapshots_;
};

}  // namespace spur::testing
