#include "tests/support/fake_log.hpp"

namespace spur::testing {

using ctld::LogRole;

Result<void> FakeLog::open(ctld::LogListener& listener) {
    const std::lock_guard lock{mutex_};
    listener_ = &listener;
    if (!first_snapshot.empty()) SPUR_CHECK(listener.on_restore(++index_, first_snapshot));
    commit(first_entries);
    if (leads)
        become(LogRole::leader);
    else
        become(LogRole::follower, 1, "127.0.0.1:6818");
    return {};
}

void FakeLog::commit(const std::vector<std::string>& entries) {
    for (const auto& entry : entries) {
        entries_.push_back(entry);
        listener_->on_committed(++index_, entry);
    }
}

Result<void> FakeLog::propose(const std::vector<std::string>& entries, std::uint64_t ticket) {
    const std::lock_guard lock{mutex_};
    if (refusal_) return std::unexpected(*refusal_);
    std::size_t bytes = 0;
    for (const auto& entry : entries) bytes += 4 + entry.size();
    if (bytes > largest_) return fail(ErrorCode::invalid, "a proposal may hold up to {} bytes", largest_);
    proposals_.push_back(entries);
    waiting_.push_back({ticket, entries});
    if (!holds_) release();
    return {};
}

void FakeLog::release() {
    const std::lock_guard lock{mutex_};
    holds_ = false;
    for (const auto& [ticket, entries] : std::exchange(waiting_, {})) {
        commit(entries);
        listener_->on_outcome(ticket, Fate::committed, {});
    }
}

void FakeLog::lose(Fate fate) {
    const std::lock_guard lock{mutex_};
    for (const auto& proposal : std::exchange(waiting_, {})) listener_->on_outcome(proposal.ticket, fate, {});
}

void FakeLog::say_committed() {
    const std::lock_guard lock{mutex_};
    for (const auto& proposal : waiting_) listener_->on_outcome(proposal.ticket, Fate::committed, {});
}

void FakeLog::hold() {
    const std::lock_guard lock{mutex_};
    holds_ = true;
}

void FakeLog::refuse(std::optional<Error> error) {
    const std::lock_guard lock{mutex_};
    refusal_ = std::move(error);
}

void FakeLog::set_largest(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    largest_ = bytes;
}

std::vector<std::vector<std::string>> FakeLog::proposals() const {
    const std::lock_guard lock{mutex_};
    return proposals_;
}

std::vector<std::string> FakeLog::entries() const {
    const std::lock_guard lock{mutex_};
    return entries_;
}

std::vector<std::pair<std::uint64_t, std::string>> FakeLog::snapshots() const {
    const std::lock_guard lock{mutex_};
    return snapshots_;
}

void FakeLog::append(std::string entry) {
    const std::lock_guard lock{mutex_};
    commit({std::move(entry)});
}

void FakeLog::become(LogRole role, std::uint64_t term, std::string leader) {
    listener_->on_role(role, term, std::move(leader));
}

Result<void> FakeLog::barrier(std::uint64_t ticket) {
    listener_->on_outcome(ticket, Fate::committed, {});
    return {};
}

Result<void> FakeLog::snapshot(std::uint64_t index, const std::vector<std::string>& chunks) {
    std::string whole;
    for (const auto& chunk : chunks) whole += chunk;
    const std::lock_guard lock{mutex_};
    snapshots_.emplace_back(index, std::move(whole));
    return {};
}

}  // namespace spur::testing
