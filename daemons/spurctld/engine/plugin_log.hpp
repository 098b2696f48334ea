// The command log behind a state plugin.
#pragma once

#include <memory>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/stop.hpp"
#include "daemons/spurctld/engine/command_log.hpp"

namespace spur::ctld {

class PluginLog final : public CommandLog {
public:
    explicit PluginLog(host::Bound<host::StateAxis> state);
    ~PluginLog() override;

    Result<void> open(LogListener& listener) override;
    void stop() override;
    Result<void> propose(const std::vector<std::string>& entries, std::uint64_t ticket) override;
    Result<void> barrier(std::uint64_t ticket) override;
    Result<void> snapshot(std::uint64_t index, const std::vector<std::string>& chunks) override;
    Result<LogStatus> status() override;
    Result<std::vector<LogMember>> members() override;
    Result<void> add_member(std::string_view address, std::uint64_t ticket) override;
    Result<void> remove_member(std::string_view address, std::uint64_t ticket) override;
    Result<void> transfer(std::string_view address, std::uint64_t ticket) override;

private:
    struct ListenerTable;  // the C listener; outlives the plugin instance
    host::Bound<host::StateAxis> state_;
    std::unique_ptr<ListenerTable> listener_table_;
    host::StopSource stop_;
};

}  // namespace spur::ctld
