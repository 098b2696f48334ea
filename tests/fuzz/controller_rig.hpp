// A controller without sockets, disks or plugins: the engine, the agents' sessions and every method of the service as
// spurctld puts them together, on a log that keeps what was committed in memory. Each input begins with the same
// cluster.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemons/common/planning/mirror.hpp"
#include "daemons/common/wire/server_state.hpp"
#include "daemons/spurctld/service/service.hpp"

namespace spur::fuzz {

// Commits at once, and remembers.
class KeptLog final : public ctld::CommandLog {
public:
    explicit KeptLog(std::string beginning) : beginning_{std::move(beginning)} {}

    Result<void> open(ctld::LogListener& listener) override;
    Result<void> propose(const std::vector<std::string>& entries, std::uint64_t ticket) override;
    Result<void> barrier(std::uint64_t ticket) override;
    Result<void> snapshot(std::uint64_t, const std::vector<std::string>&) override { return {}; }
    Result<ctld::LogStatus> status() override { return ctld::LogStatus{.role = ctld::LogRole::leader}; }
    Result<std::vector<ctld::LogMember>> members() override;
    Result<void> add_member(std::string_view address, std::uint64_t ticket) override;
    Result<void> remove_member(std::string_view address, std::uint64_t ticket) override;
    Result<void> transfer(std::string_view address, std::uint64_t ticket) override;

    // [engine thread]
    void begin_again();
    // The state that another controller has after the same entries.
    std::string replayed() const;

private:
    std::string beginning_;
    ctld::LogListener* listener_{nullptr};
    std::uint64_t index_{0};
    std::vector<std::string> entries_;
};

class ControllerRig {
public:
    ControllerRig();
    ~ControllerRig();

    // `number` chooses a method, by the number of its name (see method_number) where there is one; odd ones are sent by
    // an ordinary user. Streams stay open until the end of the input.
    void send(std::uint32_t number, const std::string& message);
    // Ends the input: the replica and the mirror of the ABI's records agree with what happened.
    void finish();

private:
    using Method = wire::Service::Method;
    void call(const std::string& name, const Method& method, std::uint32_t uid, const std::string& message);
    void stream(const std::string& name, const Method& method, std::uint32_t uid, const std::string& message);
    void settle();
    void drop_answers();

    std::shared_ptr<wire::Inbox> inbox_;
    std::shared_ptr<wire::Peer> peer_;
    KeptLog* log_;
    ctld::Engine engine_;
    ctld::Users users_;
    ctld::Agents agents_;
    ctld::Authority authority_;
    ctld::WatchHub watchers_;
    ctld::WhatIf what_if_;
    ctld::ReadGate gate_;
    planning::PriorityReport priorities_;
    ctld::Service service_;
    std::map<std::uint32_t, std::pair<std::string, Method>> methods_;  // by the number of the name
    std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<wire::SessionState>> sessions_;
};

// Where a method is in an input: it stays there when others come and go. Even; the odd number above it is the user's.
std::uint32_t method_number(std::string_view name);

}  // namespace spur::fuzz
