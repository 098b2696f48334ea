// Calls of the state plugin, and its answers as the engine's log events.
#include "daemons/spurctld/engine/plugin_log.hpp"

#include <spur/plugin/plugin.hpp>

#include <cstring>

namespace spur::ctld {

namespace {

LogRole role_of(std::uint32_t role) {
    if (role == SPUR_STATE_LEADER) return LogRole::leader;
    return role == SPUR_STATE_CANDIDATE ? LogRole::candidate : LogRole::follower;
}

Result<void> as_result(const Result<spur_status>& answer) {
    if (!answer) return std::unexpected(answer.error());
    if (*answer == SPUR_STATE_NOT_LEADER) return fail(ErrorCode::unavailable, "this controller does not lead");
    return {};
}

// The chunks of a snapshot, one after the other.
struct ChunkReader {
    const std::vector<std::string>& chunks;
    std::size_t chunk{0}, offset{0};

    static spur_status read(const spur_source* source, void* buffer, std::uint64_t capacity, std::uint64_t* length) {
        auto& self = *static_cast<ChunkReader*>(source->context);
        while (self.chunk < self.chunks.size() && self.offset == self.chunks[self.chunk].size())
            ++self.chunk, self.offset = 0;
        *length = 0;
        if (self.chunk == self.chunks.size()) return SPUR_OK;
        const auto& text = self.chunks[self.chunk];
        *length = std::min<std::uint64_t>(capacity, text.size() - self.offset);
        std::memcpy(buffer, text.data() + self.offset, *length);
        self.offset += *length;
        return SPUR_OK;
    }
};

}  // namespace

struct PluginLog::ListenerTable {
    spur_state_listener table{};
    LogListener* listener{nullptr};

    static LogListener& of(const spur_state_listener* table) {
        return *static_cast<ListenerTable*>(table->context)->listener;
    }

    ListenerTable() {
        table.size = sizeof(table);
        table.context = this;
        table.committed = [](const spur_state_listener* t, const spur_state_entry* entries, std::uint32_t count) {
            for (std::uint32_t i = 0; i < count; ++i)
                of(t).on_committed(entries[i].index,
                                   {static_cast<const char*>(entries[i].body.data), entries[i].body.length});
        };
        table.outcome = [](const spur_state_listener* t, std::uint64_t ticket, spur_status status,
                           const spur_error* err) {
            using Fate = LogListener::Fate;
            const auto fate = status == SPUR_OK                 ? Fate::committed
                              : status == SPUR_STATE_NOT_LEADER ? Fate::not_leader
                              : status == SPUR_STATE_UNKNOWN    ? Fate::unknown
                                                                : Fate::failed;
            of(t).on_outcome(ticket, fate, err != nullptr ? err->text : "");
        };
        table.restore = [](const spur_state_listener* t, std::uint64_t index, const spur_source* source,
                           spur_error* err) -> spur_status {
            std::string snapshot;
            std::string buffer(1U << 20, '\0');
            for (;;) {
                std::uint64_t length = 0;
                if (const auto status = source->read(source, buffer.data(), buffer.size(), &length); status != SPUR_OK)
                    return status;
                if (length == 0) break;
                snapshot.append(buffer, 0, length);
            }
            const auto restored = of(t).on_restore(index, std::move(snapshot));
            return restored ? SPUR_OK : plugin::fail(err, SPUR_E_CORRUPT, restored.error().text);
        };
        table.role = [](const spur_state_listener* t, std::uint32_t role, std::uint64_t term, spur_str leader) {
            of(t).on_role(role_of(role), term, std::string{plugin::view(leader)});
        };
        table.snapshot_wanted = [](const spur_state_listener* t) { of(t).on_snapshot_wanted(); };
        table.failed = [](const spur_state_listener* t, const spur_error* err) {
            of(t).on_failed(err != nullptr ? err->text : "");
        };
    }
};

PluginLog::PluginLog(host::Bound<host::StateAxis> state)
    : state_{state}, listener_table_{std::make_unique<ListenerTable>()} {}
PluginLog::~PluginLog() = default;

Result<void> PluginLog::open(LogListener& listener) {
    listener_table_->listener = &listener;
    const host::StopWhen stop{host::is_stop_signal_pending};  // the loop that reads signals does not run yet
    return as_result(state_.call(&spur_state_ops::open, &listener_table_->table, stop.get()));
}

void PluginLog::stop() { stop_.stop(); }

Result<void> PluginLog::propose(const std::vector<std::string>& entries, std::uint64_t ticket) {
    std::vector<spur_state_entry> records;
    records.reserve(entries.size());
    for (const auto& entry : entries) records.push_back({{entry.data(), entry.size()}, 0, 0});
    return as_result(
        state_.call(&spur_state_ops::propose, records.data(), static_cast<std::uint32_t>(records.size()), ticket));
}

Result<void> PluginLog::barrier(std::uint64_t ticket) {
    return as_result(state_.call(&spur_state_ops::barrier, ticket));
}

Result<void> PluginLog::snapshot(std::uint64_t index, const std::vector<std::string>& chunks) {
    ChunkReader reader{chunks};
    const spur_source source{sizeof(spur_source), 0, &reader, &ChunkReader::read};
    const auto stored = state_.call(&spur_state_ops::snapshot, index, &source, stop_.get());
    stop_.report_if_late(state_.type(), "snapshot");
    return as_result(stored);
}

Result<LogStatus> PluginLog::status() {
    spur_state_status raw{};
    raw.size = sizeof(raw);
    SPUR_CHECK(as_result(state_.call(&spur_state_ops::status, &raw)));
    return LogStatus{.role = role_of(raw.role),
                     .term = raw.term,
                     .last_index = raw.last_index,
                     .committed_index = raw.committed_index,
                     .snapshot_index = raw.snapshot_index,
                     .log_bytes = raw.log_bytes,
                     .fsyncs = raw.fsyncs,
                     .entries = raw.entries,
                     .leader = raw.leader,
                     .self = raw.self};
}

Result<std::vector<LogMember>> PluginLog::members() {
    std::vector<LogMember> members;
    const auto each = [](void* context, const spur_state_member* member) {
        static_cast<std::vector<LogMember>*>(context)->push_back(
            {member->id, std::string{plugin::view(member->address)}, role_of(member->role), member->voter != 0});
    };
    SPUR_CHECK(as_result(state_.call(&spur_state_ops::members, static_cast<void*>(&members), +each)));
    return members;
}

Result<void> PluginLog::add_member(std::string_view address, std::uint64_t ticket) {
    return as_result(state_.call(&spur_state_ops::add_member, plugin::str(address), ticket));
}
Result<void> PluginLog::remove_member(std::string_view address, std::uint64_t ticket) {
    return as_result(state_.call(&spur_state_ops::remove_member, plugin::str(address), ticket));
}
Result<void> PluginLog::transfer(std::string_view address, std::uint64_t ticket) {
    return as_result(state_.call(&spur_state_ops::transfer, plugin::str(address), ticket));
}

}  // namespace spur::ctld
